"""Stopping in good order: a signal waits for the step and the checkpoint it interrupts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from regard.errors import StateError

__all__ = ["Asked", "Elsewhere", "Stopped", "interruptible", "listening", "mortal", "why"]

SLOW = 3.0  # seconds after which somebody who asked to stop is told what is waited for
SIGNALS = (signal.SIGINT, signal.SIGTERM)
COMPILERS = ("torch._dynamo.convert_frame", "torch._inductor.compile_fx")

Handler = Callable[[int, FrameType | None], object] | signal.Handlers


class Stopped(StateError):  # noqa: N818 - as StopIteration: it need not be an error
    """A training that ended before its end, with its last checkpoint whole.

    Args:
        message: why, and how to go on.
        code: what the command exits with.

    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Elsewhere(Stopped):
    """Of several processes another one stopped, and says why; this one has nothing to say."""


class Asked:
    """Whether somebody asked to stop: the number of the signal, or 0."""

    signal: int = 0


def why(number: int) -> str:
    """What a signal did to a training, in a word or three.

    >>> why(signal.SIGINT), why(signal.SIGTERM)
    ('interrupted', 'told to stop')
    """
    return "interrupted" if number == signal.SIGINT else "told to stop"


@contextmanager
def interruptible() -> Iterator[Asked]:
    """Let SIGTERM end what is being done as Ctrl-C does, by a KeyboardInterrupt.

    The signal is also noted: what is imported meanwhile may swallow the exception.
    """
    asked = Asked()

    def interrupt(number: int, _frame: FrameType | None) -> None:
        asked.signal = asked.signal or number
        raise KeyboardInterrupt

    with _handling(interrupt):
        yield asked


@contextmanager
def mortal() -> Iterator[None]:
    """Let signals end the process at once, even if it waits inside a library for another one."""
    with _handling(signal.SIG_DFL):
        yield


@contextmanager
def listening(slow: Callable[[], None] = lambda: None) -> Iterator[Asked]:
    """Note SIGINT and SIGTERM instead of dying of them.

    A second SIGINT is not waited for, nor is a compiler, which may take minutes: they end in a
    KeyboardInterrupt.

    Args:
        slow: called, in another thread, when somebody who asked to stop has waited for seconds.

    """
    asked = Asked()
    timers: list[threading.Timer] = []

    def note(number: int, frame: FrameType | None) -> None:
        again = asked.signal and number == signal.SIGINT
        asked.signal = asked.signal or number
        if again or _is_compiling(frame):
            raise KeyboardInterrupt
        if not timers:
            timers.append(threading.Timer(SLOW, slow))
            timers[0].daemon = True
            timers[0].start()

    with _handling(note):
        try:
            yield asked
        finally:
            for timer in timers:
                timer.cancel()


def _is_compiling(frame: FrameType | None) -> bool:
    """Whether torch.compile is at work: known by who has called whom."""
    while frame is not None:
        if frame.f_globals.get("__name__") in COMPILERS:
            return True
        frame = frame.f_back
    return False


@contextmanager
def _handling(handler: Handler) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # signals are not for it
        yield
        return
    before = {number: signal.signal(number, handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, was in before.items():
            signal.signal(number, was)

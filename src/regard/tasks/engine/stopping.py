"""Stopping in good order: a signal waits for the step and the checkpoint it interrupts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from regard.errors import StateError

__all__ = ["Asked", "Stopped", "listening"]


class Stopped(StateError):  # noqa: N818 - as StopIteration: it need not be an error
    """A training that ended before its end, with its last checkpoint whole.

    Args:
        message: why, and how to go on.
        code: what the command exits with.

    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Asked:
    """Whether somebody asked to stop: the number of the signal, or 0."""

    signal: int = 0


@contextmanager
def listening() -> Iterator[Asked]:
    """Note SIGINT and SIGTERM instead of dying of them; a second SIGINT is not waited for."""
    asked = Asked()
    if threading.current_thread() is not threading.main_thread():  # signals are not for it
        yield asked
        return

    def note(number: int, _frame: FrameType | None) -> None:
        if asked.signal and number == signal.SIGINT:
            raise KeyboardInterrupt
        asked.signal = asked.signal or number

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

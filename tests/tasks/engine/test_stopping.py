"""Signals that wait for the step to end, or end it."""

import os
import signal
import threading

import pytest

from regard.errors import RegardError
from regard.tasks.engine import stopping
from regard.tasks.engine.stopping import Elsewhere, Stopped, interruptible, listening, mortal

BOTH = [signal.SIGINT, signal.SIGTERM]


@pytest.mark.parametrize("number", BOTH)
def test_a_signal_is_noted_and_nothing_dies(number):
    before = signal.getsignal(number)
    with listening() as asked:
        assert asked.signal == 0
        os.kill(os.getpid(), number)
        assert asked.signal == number
    assert signal.getsignal(number) is before


def test_a_second_interrupt_is_not_waited_for():
    with pytest.raises(KeyboardInterrupt), listening() as asked:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert asked.signal == signal.SIGTERM
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", BOTH)
@pytest.mark.parametrize("name", ["torch._dynamo.convert_frame", "torch._inductor.compile_fx"])
def test_a_compiler_is_not_waited_for(number, name):
    inside = {"__name__": name, "kill": lambda: os.kill(os.getpid(), number)}
    with listening() as asked:
        with pytest.raises(KeyboardInterrupt):
            exec("kill()", inside)  # as if torch had called
        assert asked.signal == number


def test_the_compilers_have_these_names():
    convert = pytest.importorskip("torch._dynamo.convert_frame")
    fx = pytest.importorskip("torch._inductor.compile_fx")
    assert (convert.__name__, fx.__name__) == stopping.COMPILERS


def test_who_waits_long_is_told(monkeypatch):
    monkeypatch.setattr(stopping, "SLOW", 0.01)
    told = threading.Event()
    with listening(told.set):
        os.kill(os.getpid(), signal.SIGTERM)
        assert told.wait(10)


def test_who_does_not_is_not():
    told = threading.Event()
    with listening(told.set):
        os.kill(os.getpid(), signal.SIGTERM)
        (timer,) = (x for x in threading.enumerate() if isinstance(x, threading.Timer))
    timer.join(10)
    assert not told.is_set()


@pytest.mark.parametrize("number", BOTH)
def test_before_there_is_something_to_keep_a_signal_interrupts(number):
    before = signal.getsignal(number)
    with interruptible() as asked:
        assert asked.signal == 0
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        assert asked.signal == number  # whoever swallows the exception
    assert signal.getsignal(number) is before


def test_or_ends_the_process():
    with mortal():
        assert [signal.getsignal(number) for number in BOTH] == [signal.SIG_DFL] * 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("context", [listening, interruptible, mortal])
def test_another_thread_leaves_signals_alone(context):
    found = []

    def run():
        with context():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


@pytest.mark.parametrize("kind", [Stopped, Elsewhere])
def test_a_stop_says_why_and_how_it_exits(kind):
    stopped = kind("enough", 143)
    assert isinstance(stopped, RegardError)
    assert isinstance(stopped, Stopped)
    assert (str(stopped), stopped.code) == ("enough", 143)

"""Signals that wait for the step to end."""

import os
import signal
import threading

import pytest

from regard.errors import RegardError
from regard.tasks.engine.stopping import Stopped, listening


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
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


def test_another_thread_leaves_signals_alone():
    found = []

    def run():
        with listening() as asked:
            found.append(asked.signal)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [0]


def test_a_stop_says_why_and_how_it_exits():
    stopped = Stopped("enough", 143)
    assert isinstance(stopped, RegardError)
    assert (str(stopped), stopped.code) == ("enough", 143)

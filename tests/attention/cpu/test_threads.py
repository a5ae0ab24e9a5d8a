import os
import threading

import pytest
import torch

from regard import Gaussian, attend
from regard.attention.cpu import threads
from regard.testing import qkv


@pytest.fixture
def four_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("units", [1, 3, 4, 5, 100])
def test_every_unit_is_done_exactly_once(four_threads, units):
    done = []

    def run(first, step):
        done.extend(range(first, units, step))

    threads.share(run, units)
    assert sorted(done) == list(range(units))


def test_no_more_threads_than_units(four_threads):
    seen = []
    threads.share(lambda first, step: seen.append((first, step)), 2)
    assert sorted(seen) == [(0, 2), (1, 2)]


def test_an_error_in_a_thread_reaches_the_caller(four_threads):
    def run(first, step):
        if first == 2:
            raise ValueError("in a thread")

    with pytest.raises(ValueError, match="in a thread"):
        threads.share(run, 4)


def test_many_callers_at_once_get_their_own_results():
    cases = [qkv(n=60, m=300, d=16, v=8, seed=s) for s in range(8)]
    wanted = [attend(*x, score=Gaussian(), impl="cpu") for x in cases]
    failed = []

    def work(i):
        for _ in range(20):
            if not torch.equal(attend(*cases[i], score=Gaussian(), impl="cpu"), wanted[i]):
                failed.append(i)

    callers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert failed == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # forking with threads: the point
def test_a_forked_child_can_go_on(four_threads):
    q, k, v = qkv(n=60, m=300, d=16, v=8)
    wanted = attend(q, k, v, score=Gaussian(), impl="cpu")
    child = os.fork()
    if child == 0:
        torch.set_num_threads(2)
        right = torch.equal(attend(q, k, v, score=Gaussian(), impl="cpu"), wanted)
        os._exit(0 if right else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0

"""What every test runs under."""

from __future__ import annotations

import signal
import sys

import numpy as np
import pytest
import torch

from regard.attention.cpu import launch

# a shell's background job has Ctrl-C ignored, and so would every process the tests start
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--shard", metavar="I/N", help="run every Nth test, from the Ith; from 0")


def pytest_collection_modifyitems(config, items):
    """Leave out the other shards' tests: N processes, one a shard, run all of them."""
    if shard := config.getoption("--shard"):
        which, count = map(int, shard.split("/"))
        mine = items[which::count]
        config.hook.pytest_deselected(items=[x for i, x in enumerate(items) if i % count != which])
        items[:] = mine


@pytest.fixture(autouse=True)
def poisoned_memory(monkeypatch):
    """Fresh memory holds NaN: a kernel that leaves an output unwritten fails loudly."""
    real = torch.empty

    def poisoned(*size, **options):
        x = real(*size, **options)
        if x.is_floating_point():
            with torch.no_grad():
                x.fill_(torch.nan)
        return x

    monkeypatch.setattr(torch, "empty", poisoned)
    # not np.empty itself, which numba compiles by name
    monkeypatch.setattr(launch, "fresh", lambda shape, real: np.full(shape, np.nan, real))


@pytest.fixture(autouse=True)
def launches_say_what_is_fused(monkeypatch):
    """Every kernel of ours says that it counts on fused products and sums: see ``fusion.py``."""
    jit = sys.modules.get("triton.runtime.jit")
    if jit is None:
        return
    real = jit.KernelInterface.__getitem__

    def launched(kernel, grid):
        launch = real(kernel, grid)

        def checked(*args, **options):
            ours = kernel.fn.__module__.startswith(("benchmarks", "regard"))
            if ours and options.get("enable_fp_fusion") is not True:
                pytest.fail(f"{kernel.fn.__name__} does not say whether it is fused")
            return launch(*args, **options)

        return checked

    monkeypatch.setattr(jit.KernelInterface, "__getitem__", launched)


@pytest.fixture
def one_thread():
    """For training small networks: handing work to threads takes longer than the work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)

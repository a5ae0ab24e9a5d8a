"""What every test of the GPU's kernels runs under: poisoned memory, and a quick interpreter."""

from __future__ import annotations

from types import FunctionType

import pytest
import torch

INTERPRETED = not torch.cuda.is_available()
# the interpreter is numpy, which warns where hardware is silent
NOISE = "ignore:.*encountered:RuntimeWarning"


def pytest_collection_modifyitems(items):
    for item in items:
        if "attention/triton" in item.nodeid:
            item.add_marker(pytest.mark.filterwarnings(NOISE))


@pytest.fixture
def device():
    """Where tensors live: the very same tests run on a GPU."""
    return "cpu" if INTERPRETED else "cuda"


PULLING = ("BI", "BJ", "KI", "KJ")
REAL = []


@pytest.fixture
def launch():
    module = pytest.importorskip("regard.attention.triton.launch", exc_type=ImportError)
    if not REAL:
        REAL.extend(getattr(module, name) for name in PULLING)
    return module


def poison(*size, **options):
    """Memory as bad as fresh memory can be."""
    x = torch.zeros(*size, **options)
    return x.fill_(torch.nan if x.is_floating_point() else -99)


@pytest.fixture(autouse=True)
def poisoned_gpu_memory(launch, monkeypatch):
    """What a kernel must write whole holds NaN before."""
    monkeypatch.setattr(launch, "fresh", poison)


@pytest.fixture(autouse=True)
def quick(launch, monkeypatch):
    """The interpreter at several times its speed.

    For each call of a helper it goes through all of triton.language, to replace what the kernel's
    launch has replaced already. And what it pays for is the number of tiles, not their size.
    """
    if not INTERPRETED:
        return
    import triton.language as tl
    from triton.runtime import interpreter

    real = interpreter._patch_lang
    both = FunctionType((lambda: None).__code__, {"tl": tl, "core": tl.core})

    def once(fn):
        return real(both) if tl.core.is_builtin(tl.load) else interpreter._LangPatchScope()

    monkeypatch.setattr(interpreter, "_patch_lang", once)
    for name in PULLING:
        monkeypatch.setattr(launch, name, 16)


@pytest.fixture
def real_tiles(launch, monkeypatch):
    """All tiles as on a GPU."""
    for name, size in zip(PULLING, REAL, strict=True):
        monkeypatch.setattr(launch, name, size)


@pytest.fixture
def small_tiles(launch, monkeypatch):
    """Tiles of 16 x 32, so that a small call has many; on a GPU the tiles stay what they are."""
    if not INTERPRETED:
        return

    def narrow(call, **options):
        few = call.q.shape[2] <= launch.FEATURES
        return {"BM": 16, "BN": 32, "KEYS_FIRST": few, "num_warps": 1, "num_stages": 1}

    monkeypatch.setattr(
        launch, "_tiles", lambda kernel, call, **options: launch.Tiles(16, 32, 1, 1)
    )
    monkeypatch.setattr(launch, "_tile", narrow)


@pytest.fixture
def kernels_for_parameters(launch, monkeypatch):
    """Small calls get their parameters' gradients by the definition; here the kernels do it."""
    monkeypatch.setattr(launch, "SMALL", -1)

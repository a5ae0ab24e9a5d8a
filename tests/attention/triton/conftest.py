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


PULLING = ("BI", "BJ", "KI", "KJ", "PI", "PJ", "GROUP", "BLOCK")
QUICK = (16, 16, 16, 16, 8, 32, 32, 32)
REAL = []


@pytest.fixture
def triton():
    """The package: its modules are where a test changes a size or a function."""
    package = pytest.importorskip("regard.attention.triton", exc_type=ImportError)
    if not REAL:
        REAL.extend(getattr(package.panels, name) for name in PULLING)
    return package


def poison(*size, **options):
    """Memory as bad as fresh memory can be."""
    x = torch.zeros(*size, **options)
    return x.fill_(torch.nan if x.is_floating_point() else -99)


@pytest.fixture(autouse=True)
def poisoned_gpu_memory(triton, monkeypatch):
    """What a kernel must write whole holds NaN before."""
    monkeypatch.setattr(triton.memory, "fresh", poison)


@pytest.fixture(autouse=True)
def quick(triton, monkeypatch):
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
    for name, size in zip(PULLING, QUICK, strict=True):
        monkeypatch.setattr(triton.panels, name, size)


@pytest.fixture
def real_tiles(triton, monkeypatch):
    """All tiles as on a GPU."""
    for name, size in zip(PULLING, REAL, strict=True):
        monkeypatch.setattr(triton.panels, name, size)


@pytest.fixture
def small_tiles(triton, monkeypatch):
    """Tiles of 16 x 32, so that a small call has many; on a GPU the tiles stay what they are."""
    if not INTERPRETED:
        return

    def narrow(call, **options):
        few = call.q.shape[2] <= triton.operands.FEATURES
        return {"BM": 16, "BN": 32, "KEYS_FIRST": few, "num_warps": 1, "num_stages": 1}

    monkeypatch.setattr(
        triton.dot, "_tiles", lambda kernel, call, **options: triton.dot.Tiles(16, 32, 1, 1)
    )
    monkeypatch.setattr(triton.operands, "score_tile", narrow)


@pytest.fixture
def small_sweeps(triton, monkeypatch):
    """Sizes at which a small call goes through the passes that see scores once."""
    sizes = {"BUSY": 4, "FEWEST": 1, "UNITS": 4}
    sizes |= {"SWEEP_ROWS": 16, "SWEEP_KEYS": 16, "SKIM_KEYS": 16}
    for name, size in sizes.items():
        monkeypatch.setattr(triton.inspection, name, size)


@pytest.fixture(params=["few", "some"])
def pairs(request, triton, monkeypatch):
    """Few, whose scores are of float64, and the same pairs as if they were not few.

    The budgets that a gradient may take: the second way the largest of a few errors is luck.
    """
    if request.param == "few":
        return 1.0
    monkeypatch.setattr(triton.operands, "FEW", -1)
    return 2.0


@pytest.fixture
def many_pairs(triton, monkeypatch):
    """As if there were too many pairs for scores in float64, and for sums with care."""
    monkeypatch.setattr(triton.operands, "FEW", -1)
    monkeypatch.setattr(triton.operands, "CAREFUL", -1)


@pytest.fixture
def kernels_for_parameters(triton, monkeypatch):
    """Small calls get their parameters' gradients by the definition; here the kernels do it."""
    monkeypatch.setattr(triton.small, "SMALL", -1)

"""That a slip in the loops would be noticed."""

from pathlib import Path

import pytest
import torch

from regard.attention.cpu import build
from regard.testing import qkv
from tests.cases import MASKS, SCORES, Case

# One line changed in the loops, as a slip would: every one must be caught by `Case.agree`.
MUTANTS = {
    "a dropped rescale": ("acc[r, c] *= decay", "acc[r, c] *= 1.0"),
    "a span one too long": ("if hi[i] < j0 + b:", "if hi[i] + 1 < j0 + b:"),
    "a lost factor": ("slope[j] *= REAL(scale)", "slope[j] *= ONE"),
    "a row's keys": ("dkt[slot, tile], gt, a, b", "dkt[slot, tile], gt, a, b - 1"),
    "the bias of a neighbour": ("first - i + n - 1 :", "first - i + n :"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_slip_in_the_loops_is_caught(name, monkeypatch):
    right, wrong = MUTANTS[name]
    real = build._drivers(64, 64)
    text = Path(real.__file__).read_text()
    assert right in text, "the line has changed: change the mutant with it"
    mutant = build._loaded(text.replace(right, wrong), "mutant")
    q, k, v = qkv(2, 2, n=40, m=140, d=4, v=3, dtype=torch.float64)
    score, mask = SCORES["distances"](4, 2), MASKS["both"](2, 40, 140)
    cases = [
        Case(q, k, v, score, mask),
        Case(3 * q, 3 * k, v, SCORES["dot"](4, 2), MASKS["lengths"](2, 40, 140)),
    ]
    for case in cases:
        case.agree("cpu", torch.float32)
    monkeypatch.setattr(build, "_drivers", lambda bits, fine: mutant)
    build.kernels.cache_clear()
    try:
        with pytest.raises(AssertionError):
            for case in cases:
                case.agree("cpu", torch.float32)
    finally:
        build.kernels.cache_clear()

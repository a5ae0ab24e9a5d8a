"""The comparison must be able to say no."""

import pytest
import torch

from regard.testing import assert_within_budget, budget_used, qkv

EXACT = torch.linspace(1, 2, 50, dtype=torch.float64)
SAME = EXACT.float()


def test_accepts_the_reference_itself():
    assert_within_budget(SAME, SAME, EXACT, "same")


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda x: x * (1 + 1e-5), "spoiled: off by 2.00e-05"),
        (lambda x: x[:-1], r"spoiled: shape \[49\], not \[50\]"),
        (lambda x: x.double(), "spoiled: dtype torch.float64, not torch.float32"),
        (lambda x: x.masked_fill(x > 1.99, torch.nan), "spoiled: 1 values not finite"),
        (lambda x: x.roll(1), "spoiled: off by 1.00e"),
        (lambda x: torch.cat((x[:-1], x[-1:] + 1e-6)), "spoiled: off by"),
    ],
)
def test_rejects(spoil, complaint):
    with pytest.raises(AssertionError, match=complaint):
        assert_within_budget(spoil(SAME), SAME, EXACT, "spoiled")


def test_the_budget_is_twice_the_error_of_the_same_dtype_and_one_rounding():
    exact = torch.zeros(1, dtype=torch.float64)
    same = torch.tensor([1e-3])
    assert budget_used(torch.tensor([2e-3]), same, exact) == pytest.approx(1.0)
    assert budget_used(torch.tensor([4e-3]), same, exact) == pytest.approx(2.0)
    assert budget_used(torch.tensor([1e-12]), torch.zeros(1), exact) > 1000
    assert budget_used(torch.zeros(0), torch.zeros(0), torch.zeros(0).double()) == 0


def test_inputs_are_the_same_for_the_same_seed_in_every_dtype():
    wide, narrow = (qkv(2, n=3, m=4, d=5, v=6, dtype=t) for t in (torch.float64, torch.float32))
    assert all(torch.equal(a.float(), b) for a, b in zip(wide, narrow, strict=True))
    assert not torch.equal(wide[0], qkv(2, n=3, m=4, d=5, v=6, dtype=torch.float64, seed=1)[0])

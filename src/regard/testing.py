"""For tests of kernels, ours and a user's own: inputs, and the one way two results are compared."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["assert_within_budget", "budget_used", "qkv"]


def qkv(
    *batch: int,
    n: int,
    m: int,
    d: int,
    v: int,
    dtype: torch.dtype = torch.float32,
    seed: int = 0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Normal queries, keys and values, the same for the same seed.

    >>> [list(x.shape) for x in qkv(2, n=3, m=4, d=5, v=6)]
    [[2, 3, 5], [2, 4, 5], [2, 4, 6]]
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*batch, *shape, generator=generator, dtype=torch.float64).to(dtype)

    return normal(n, d), normal(m, d), normal(m, v)


def budget_used(got: Tensor, same: Tensor, exact: Tensor) -> float:
    """How much of its error budget a result has used; above 1 it is too wrong.

    The budget is twice the largest error of ``same``, the reference run in got's own dtype, plus
    one rounding of the largest number; both errors against ``exact``, the reference in float64,
    which for numbers of order one is itself off by a few roundings: they are no error of ours.
    """
    if not got.numel():
        return 0.0
    wrong = (got.double() - exact).abs().max().item()
    allowed = 2 * (same.double() - exact).abs().max().item()
    allowed += torch.finfo(got.dtype).eps * exact.abs().max().item()
    allowed += 4 * torch.finfo(torch.float64).eps
    return float(wrong / allowed)


def assert_within_budget(got: Tensor, same: Tensor, exact: Tensor, what: str) -> None:
    """Got may be at most twice as wrong as ``same``, the reference run in got's own dtype.

    ``exact`` is the reference in float64. The budget comes from the data: no tolerance to tune.
    """
    assert got.shape == exact.shape, f"{what}: shape {list(got.shape)}, not {list(exact.shape)}"
    assert got.dtype == same.dtype, f"{what}: dtype {got.dtype}, not {same.dtype}"
    assert torch.isfinite(got).all(), f"{what}: {(~torch.isfinite(got)).sum()} values not finite"
    used = budget_used(got, same, exact)
    wrong = (got.double() - exact).abs().max().item() if got.numel() else 0.0
    assert used <= 1, f"{what}: off by {wrong:.2e}, {used:.2f} times what is allowed"

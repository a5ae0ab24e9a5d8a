"""A masked key is absent: whatever it holds, no bit of the result may change.

0 * NaN is NaN, so a weight of zero does not keep garbage out of a matrix product, forward or
backward. Here rows that are not finite are set to zero before any arithmetic, and queries that
really see such a row are marked: their output becomes NaN, everyone else's does not change.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import NamedTuple

import torch
from torch import Tensor

from regard.attention.call import Call

__all__ = ["Cleaned", "all_finite", "anyone", "clean_call", "clean_rows"]


class Cleaned(NamedTuple):
    """Finite q, k, v, and the queries whose output must be NaN all the same."""

    q: Tensor
    k: Tensor
    v: Tensor
    poisoned: Tensor | None  # [*b, n]

    def spoil(self, out: Tensor) -> Tensor:
        """Give the poisoned queries their NaN."""
        if self.poisoned is None:
            return out
        return out + torch.where(self.poisoned, torch.nan, 0.0).to(out.dtype).unsqueeze(-1)


def all_finite(*tensors: Tensor) -> bool:
    """Whether every number is finite; NaN and inf survive being the least or the largest."""
    return all(not x.numel() or _finite_ends(x.detach()) for x in tensors)


def _finite_ends(x: Tensor) -> bool:
    if x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64):
        array = x.numpy()  # two passes in numpy keep torch's threads out of the kernels' way
        return bool(isfinite(array.min()) and isfinite(array.max()))
    return all(bool(end.isfinite()) for end in torch.aminmax(x))


def clean_rows(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Cleaned:
    """Clean under a mask written out, [*b, n, m]; differentiable and without a branch on data."""
    seeing, seen = allowed.any(-1), allowed.any(-2)
    bad_q = ~q.isfinite().all(-1)
    bad_k = ~(k.isfinite().all(-1) & v.isfinite().all(-1))
    poisoned = (allowed & bad_k.unsqueeze(-2)).any(-1) | (bad_q & seeing)
    return Cleaned(*_zeroed(q, k, v, bad_q | ~seeing, bad_k | ~seen), poisoned)


def _zeroed(
    q: Tensor, k: Tensor, v: Tensor, bad_q: Tensor, bad_k: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    bad_q, bad_k = bad_q.unsqueeze(-1), bad_k.unsqueeze(-1)
    return torch.where(bad_q, 0, q), torch.where(bad_k, 0, k), torch.where(bad_k, 0, v)


def clean_call(call: Call) -> Cleaned:
    """Clean under spans, in O(n + m) memory unless the mask itself is dense.

    What nobody sees, and who sees nothing, is set to zero even if it is finite: kernels look at the
    range of the numbers to choose their arithmetic, and garbage must not choose it for them.
    """
    q, k, v = call.q, call.k, call.v
    if call.lo is not None and call.hi is not None:
        seen, seeing = anyone(call)
        q, k, v = _zero(q, ~seeing), _zero(k, ~seen), _zero(v, ~seen)
    if all_finite(q, k, v):
        return Cleaned(q, k, v, None)
    bad_q = ~q.isfinite().all(-1)
    bad_k = ~(k.isfinite().all(-1) & v.isfinite().all(-1))
    return Cleaned(_zero(q, bad_q), _zero(k, bad_k), _zero(v, bad_k), bad_q | _sees(call, bad_k))


def anyone(call: Call) -> tuple[Tensor, Tensor]:
    """Which keys anyone sees [B, m], and which queries see any [B, n]."""
    assert call.lo is not None
    rows = call.lo.shape[0]
    if call.dense is None:
        seen, seeing = _counts(replace(call, q=call.q[:rows], k=call.k[:rows]))
    else:
        rows = max(rows, call.dense.shape[0])  # each divides the batch, and one the other
        allowed = replace(call, q=call.q[:rows], k=call.k[:rows]).allowed()
        seen, seeing = allowed.sum(1), allowed.sum(2)
    times = call.q.shape[0] // max(rows, 1)
    return seen.repeat_interleave(times, 0) > 0, seeing.repeat_interleave(times, 0) > 0


def _counts(call: Call) -> tuple[Tensor, Tensor]:
    """How many queries see each key, and how many keys each query sees, from spans alone."""
    lo, hi = call.bounds()
    hi = torch.maximum(lo, hi)
    seeing = hi - lo
    steps = torch.zeros(lo.shape[0], call.m + 1, dtype=torch.int64, device=lo.device)
    ones = torch.ones_like(lo)
    seen = steps.scatter_add(1, lo, ones).scatter_add(1, hi, -ones).cumsum(1)[:, :-1]
    if call.not_self:
        common = min(call.n, call.m)
        here = torch.arange(common, device=lo.device)
        inside = ((lo[:, :common] <= here) & (here < hi[:, :common])).long()
        seen, seeing = seen.clone(), seeing.clone()
        seen[:, :common] -= inside
        seeing[:, :common] -= inside
    return seen, seeing


def _sees(call: Call, bad: Tensor) -> Tensor:
    """Which queries see any of the keys marked in ``bad`` [B, m]."""
    if call.dense is not None:
        return (call.allowed() & bad.unsqueeze(1)).any(-1)
    lo, hi = call.bounds()
    hi = torch.maximum(lo, hi)
    before = torch.nn.functional.pad(bad.long().cumsum(-1), (1, 0))  # bad keys before each position
    count = before.gather(-1, hi) - before.gather(-1, lo)
    if call.not_self:
        common = min(call.n, call.m)
        here = torch.arange(common, device=lo.device)
        inside = (lo[:, :common] <= here) & (here < hi[:, :common]) & bad[:, :common]
        count[:, :common] -= inside.long()
    return count > 0


def _zero(x: Tensor, rows: Tensor) -> Tensor:
    """X [B, r, f] with some rows [B, r] set to zero."""
    if not bool(rows.any()):
        return x
    if x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64):
        array = x.detach().numpy().copy()  # numpy: see _finite_ends
        array[rows.numpy()] = 0
        return torch.from_numpy(array)
    return x.masked_fill(rows.unsqueeze(-1), 0)

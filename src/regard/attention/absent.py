"""A masked key is absent: whatever it holds, no bit of the result may change.

0 * NaN is NaN, so a weight of zero does not keep garbage out of a matrix product, forward or
backward. Here rows that are not finite are set to zero before any arithmetic, and queries that
really see such a row are marked: their output becomes NaN, everyone else's does not change.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import torch
from torch import Tensor

from regard.attention.call import Call

__all__ = ["Cleaned", "all_finite", "clean_call", "clean_rows"]


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
    bad_q = ~q.isfinite().all(-1)
    bad_k = ~(k.isfinite().all(-1) & v.isfinite().all(-1))
    poisoned = (allowed & bad_k.unsqueeze(-2)).any(-1) | (bad_q & allowed.any(-1))
    return Cleaned(*_zeroed(q, k, v, bad_q, bad_k), poisoned)


def _zeroed(
    q: Tensor, k: Tensor, v: Tensor, bad_q: Tensor, bad_k: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    bad_q, bad_k = bad_q.unsqueeze(-1), bad_k.unsqueeze(-1)
    return torch.where(bad_q, 0, q), torch.where(bad_k, 0, k), torch.where(bad_k, 0, v)


def clean_call(call: Call) -> Cleaned:
    """Clean under spans, in O(n + m) memory unless the mask itself is dense."""
    q, k, v = call.q, call.k, call.v
    if all_finite(q, k, v):
        return Cleaned(q, k, v, None)
    if call.dense is not None:
        return clean_rows(q, k, v, call.allowed())
    bad_q = ~q.isfinite().all(-1)
    bad_k = ~(k.isfinite().all(-1) & v.isfinite().all(-1))
    lo, hi = call.bounds()
    hi = torch.maximum(lo, hi)
    before = torch.nn.functional.pad(bad_k.cumsum(-1), (1, 0))  # bad keys before each position
    bad_seen = before.gather(-1, hi) - before.gather(-1, lo)
    seen = hi - lo
    if call.not_self:
        here = torch.arange(call.n, device=q.device)
        inside = (lo <= here) & (here < hi)
        own = torch.zeros_like(bad_q)
        common = min(call.n, call.m)
        own[:, :common] = bad_k[:, :common]
        bad_seen = bad_seen - (inside & own).long()
        seen = seen - inside.long()
    poisoned = (bad_seen > 0) | (bad_q & (seen > 0))
    return Cleaned(*_zeroed(q, k, v, bad_q, bad_k), poisoned)

"""The GPU's kernels as an implementation: a call goes to the kind of kernels its formula needs.

Nothing in this folder looks at numbers from Python, so nothing waits for the GPU.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regard.attention.call import Call
from regard.attention.triton import dot, sums
from regard.attention.triton.panels import Panels

__all__ = ["backward", "forward", "normalisers"]


def forward(call: Call) -> tuple[Tensor, Tensor]:
    """The output, and the logarithm of each row's normaliser in float64."""
    batch, n = call.q.shape[:2]
    m, f = call.v.shape[1:]
    if not batch or not n or not m:
        lse = torch.full((batch, n), -torch.inf, dtype=torch.float64, device=call.q.device)
        return call.q.new_zeros(batch, n, f), lse
    if not f:
        return call.q.new_zeros(batch, n, 0), normalisers(call)
    return _pass(call, values=True)


def normalisers(call: Call) -> Tensor:
    """The logarithms of the rows' normalisers, [B, n] in float64: a pass without values."""
    return _pass(call, values=False)[1]


def _pass(call: Call, *, values: bool) -> tuple[Tensor, Tensor]:
    forward = dot.forward if call.phi in dot.LINEAR else sums.forward
    return forward(call, values=values)


def backward(
    call: Call, out: Tensor, lse: Tensor, dout: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of q, k, v, p0, p1 and the table, each in its own dtype."""
    batch, n = call.q.shape[:2]
    learned = (call.p0, call.p1, call.table)
    if not batch or not n or not call.m or not call.v.shape[2]:
        zeros = [None if x is None else torch.zeros_like(x) for x in learned]
        return (*(torch.zeros_like(x) for x in (call.q, call.k, call.v)), *zeros)  # type: ignore[return-value]
    if call.phi in dot.LINEAR:
        return dot.backward(call, out, lse, dout)
    return Panels(call, lse, dout).gradients()

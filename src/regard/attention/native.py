"""torch's own fused attention, where it means the same as the definition.

It takes the plain dot product with no mask, a causal one, or one length a sequence. Lengths are not
given to it as a mask but by leaving the padding out: it would otherwise multiply the padding's
garbage by zero, and do the work as well. It has no second derivative: ``ops`` supplies it.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from regard.attention.absent import clean_call
from regard.attention.call import Call

__all__ = ["backward", "forward"]

_flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
_flash_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default


def _pieces(call: Call) -> Iterator[tuple[slice, int]]:
    """Batch entries that share a number of keys, and that number."""
    batch = call.q.shape[0]
    if call.pattern != "lengths" or call.hi is None:
        yield slice(0, batch), call.m
        return
    heads = batch // max(call.hi.shape[0], 1)
    for b, length in enumerate(call.hi[:, 0].tolist()):
        yield slice(b * heads, (b + 1) * heads), length


def forward(call: Call) -> tuple[Tensor, Tensor]:
    """The output, and the logarithm of each row's normaliser."""
    out = call.v.new_zeros(*call.q.shape[:2], call.v.shape[-1])
    lse = call.q.new_full(call.q.shape[:2], -torch.inf)
    if not out.numel() or not call.m:
        return out, lse
    causal = call.pattern == "causal"
    fine = clean_call(call) if causal else None  # nothing is hidden from anyone otherwise
    q, k, v = (fine.q, fine.k, fine.v) if fine else (call.q, call.k, call.v)
    for part, m in _pieces(call):
        if m:
            got = _flash(
                q[part][None], k[part, :m][None], v[part, :m][None], 0.0, causal, scale=call.scale
            )
            out[part], lse[part] = got[0][0], got[1][0]
    return (fine.spoil(out) if fine else out), lse


def backward(
    call: Call, out: Tensor, lse: Tensor, dout: Tensor
) -> tuple[Tensor, Tensor, Tensor, None, None, None]:
    """The gradients of q, k and v; nothing else learns in a plain dot product."""
    dq, dk, dv = (torch.zeros_like(x) for x in (call.q, call.k, call.v))
    if not out.numel() or not call.m:
        return dq, dk, dv, None, None, None
    causal = call.pattern == "causal"
    fine = clean_call(call) if causal else None
    q, k, v = (fine.q, fine.k, fine.v) if fine else (call.q, call.k, call.v)
    for part, m in _pieces(call):
        if m:
            got = _flash_backward(
                dout[part][None],
                q[part][None],
                k[part, :m][None],
                v[part, :m][None],
                out[part][None],
                lse[part][None].to(q.dtype),
                0.0,
                causal,
                scale=call.scale,
            )
            dq[part], dk[part, :m], dv[part, :m] = (x[0] for x in got)
    return dq, dk, dv, None, None, None

"""torch's own fused attention, where it means the same as the definition.

It takes the plain dot product with no mask, a causal one, or one length a sequence. Lengths are not
given to it as a mask but by leaving the padding out: it would otherwise multiply the padding's
garbage by zero, and do the work as well. It has no second derivative: ``ops`` supplies it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from regard.attention.absent import Cleaned, all_finite, clean_call
from regard.attention.call import Call

__all__ = ["backward", "forward"]

_flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
_flash_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default


def _pieces(call: Call) -> Iterator[tuple[slice, int]]:
    """Batch entries that share a number of keys, and that number."""
    batch = call.q.shape[0]
    if not batch or not call.n:
        return
    if call.pattern != "lengths" or call.hi is None:
        yield slice(0, batch), call.m
        return
    heads = batch // max(call.hi.shape[0], 1)
    for b, length in enumerate(call.hi[:, 0].tolist()):
        yield slice(b * heads, (b + 1) * heads), length


def forward(call: Call) -> tuple[Tensor, Tensor]:
    """The output, and the logarithm of each row's normaliser."""
    out, lse = _forward(call)
    if all_finite(out):
        return out, lse
    # NaN from a key that was not to be seen, or scores beyond float32: once more, with care
    fine = clean_call(call)
    out, lse = _forward(_careful(call, fine))
    return fine.spoil(out.to(call.q.dtype)), lse


def backward(
    call: Call, out: Tensor, lse: Tensor, dout: Tensor
) -> tuple[Tensor, Tensor, Tensor, None, None, None]:
    """The gradients of q, k and v; nothing else learns in a plain dot product."""
    grads = _backward(call, out, lse, dout)
    if not all_finite(*grads):
        fine = clean_call(call)
        if fine.poisoned is not None:
            out = out.masked_fill(fine.poisoned.unsqueeze(-1), 0)
        careful = _careful(call, fine)
        found = _backward(careful, out.double(), lse, dout.double())
        grads = [x.to(call.q.dtype) for x in found]
    dq, dk, dv = grads
    return dq, dk, dv, None, None, None


def _careful(call: Call, fine: Cleaned) -> Call:
    return replace(call, q=fine.q.double(), k=fine.k.double(), v=fine.v.double())


def _forward(call: Call) -> tuple[Tensor, Tensor]:
    causal = call.pattern == "causal"
    if call.pattern != "lengths" and call.q.numel() and call.m:
        out, lse, *_ = _flash(
            call.q[None], call.k[None], call.v[None], 0.0, causal, scale=call.scale
        )
        return out[0], lse[0]
    out = call.v.new_zeros(*call.q.shape[:2], call.v.shape[-1])
    lse = call.q.new_full(call.q.shape[:2], -torch.inf)
    for part, m in _pieces(call):
        if m:
            q, k, v = call.q[part][None], call.k[part, :m][None], call.v[part, :m][None]
            got = _flash(q, k, v, 0.0, causal, scale=call.scale)
            out[part], lse[part] = got[0][0], got[1][0]
    return out, lse


def _backward(call: Call, out: Tensor, lse: Tensor, dout: Tensor) -> list[Tensor]:
    dq, dk, dv = (x.new_zeros(x.shape) for x in (call.q, call.k, call.v))
    for part, m in _pieces(call):
        if m:
            q, k, v = call.q[part][None], call.k[part, :m][None], call.v[part, :m][None]
            average = (out[part][None], lse[part][None].to(q.dtype))
            causal = call.pattern == "causal"
            got = _flash_backward(
                dout[part][None], q, k, v, *average, 0.0, causal, scale=call.scale
            )
            dq[part], dk[part, :m], dv[part, :m] = (x[0] for x in got)
    return [dq, dk, dv]

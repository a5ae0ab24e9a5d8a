"""torch's own fused attention, where it means the same as the definition.

It takes the plain dot product with no mask, a causal one, or one length a sequence. Lengths are not
given to it as a mask but by leaving the padding out: it would otherwise multiply the padding's
garbage by zero, and do the work as well. It has no second derivative: ``ops`` supplies it.

A single query a sequence, as in a decoder's step, is two products over the whole batch: starting a
kernel for each sequence would take longer than its work.

It remembers its normalisers in float32 and adds up over many queries in float32, so its gradients
can be several times as wrong as the budget allows. Taking the queries a few at a time mends the
second; because of the first, ``choose`` leaves calls that want gradients to the CPU kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from regard.attention.absent import all_finite, clean_call
from regard.attention.call import Call

__all__ = ["backward", "forward"]

SMALL = 1 << 20  # pair-features up to which a call is computed in float64: a millisecond
MANY = 256  # keys whose weighted sum float32 may hold
FEW = 128  # queries whose contributions to a key are added up in float32

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
    single = call.n == 1 and 0 < call.m <= MANY and call.pattern in ("full", "lengths")
    if single:
        out, lse = _one_query(call)
    else:
        out, lse = _forward(call if _large(call) else _doubled(call))
    out = out.to(call.q.dtype)
    if all_finite(out):
        return out, lse
    # NaN from a key that was not to be seen, or scores beyond float32: once more, with care
    fine = clean_call(call)
    call = replace(call, q=fine.q, k=fine.k, v=fine.v)
    if single:  # the same arithmetic, so that what is not seen changes no bit
        out, lse = _one_query(call)
    if not single or not all_finite(out):
        out, lse = _forward(_doubled(call))
    return fine.spoil(out.to(call.q.dtype)), lse


def _large(call: Call) -> bool:
    return call.q.shape[0] * call.n * call.m * (call.q.shape[2] + call.v.shape[2]) > SMALL


def _doubled(call: Call) -> Call:
    return replace(call, q=call.q.double(), k=call.k.double(), v=call.v.double())


def backward(
    call: Call, out: Tensor, lse: Tensor, dout: Tensor
) -> tuple[Tensor, Tensor, Tensor, None, None, None]:
    """The gradients of q, k and v; nothing else learns in a plain dot product."""
    wide = call if _large(call) else _doubled(call)
    grads = _backward(wide, out.to(wide.q.dtype), lse, dout.to(wide.q.dtype))
    if not all_finite(*grads):
        fine = clean_call(call)
        if fine.poisoned is not None:
            out = out.masked_fill(fine.poisoned.unsqueeze(-1), 0)
        wide = _doubled(replace(call, q=fine.q, k=fine.k, v=fine.v))
        grads = _backward(wide, out.double(), lse, dout.double())
    dq, dk, dv = (x.to(call.q.dtype) for x in grads)
    return dq, dk, dv, None, None, None


def _forward(call: Call) -> tuple[Tensor, Tensor]:
    causal = call.pattern == "causal"
    if call.pattern != "lengths" and call.q.numel() and call.m:
        out, lse, *_ = _flash(
            call.q[None], call.k[None], call.v[None], 0.0, causal, scale=call.scale
        )
        return out[0].contiguous(), lse[0].contiguous()
    out = call.v.new_zeros(*call.q.shape[:2], call.v.shape[-1])
    lse = call.q.new_full(call.q.shape[:2], -torch.inf)
    for part, m in _pieces(call):
        if m:
            q, k, v = call.q[part][None], call.k[part, :m][None], call.v[part, :m][None]
            got = _flash(q, k, v, 0.0, causal, scale=call.scale)
            out[part], lse[part] = got[0][0], got[1][0]
    return out, lse


def _one_query(call: Call) -> tuple[Tensor, Tensor]:
    s = torch.bmm(call.q, call.k.transpose(1, 2)).mul_(call.scale)  # [B, 1, m]
    top = s.amax(-1, keepdim=True)
    if call.pattern == "lengths" and call.hi is not None:
        absent = torch.arange(call.m) >= call.hi.unsqueeze(1)  # [M, 1, m]
        s.view(absent.shape[0], -1, call.m).masked_fill_(absent, -torch.inf)
        top = s.amax(-1, keepdim=True)
        # who sees nothing: no -inf - -inf. Scores that overflowed keep theirs, which is noticed
        top.view(absent.shape[0], -1, 1).masked_fill_(call.hi.unsqueeze(1) == 0, 0.0)
    e = s.sub_(top).exp_()
    total = e.sum(-1, keepdim=True)
    lse = (top + total.log()).squeeze(-1)
    return torch.bmm(e.div_(total.clamp_min_(1)), call.v), lse  # the largest is 1, if there is any


def _backward(call: Call, out: Tensor, lse: Tensor, dout: Tensor) -> list[Tensor]:
    dq, dk, dv = (torch.zeros(x.shape, dtype=torch.float64) for x in (call.q, call.k, call.v))
    for part, m in _pieces(call):
        for start in range(0, call.n, FEW):
            rows = slice(start, min(start + FEW, call.n))
            for cols, causal in _rectangles(call, rows, m):
                dy, q, y, z = (x[part, rows][None] for x in (dout, call.q, out, lse.to(out.dtype)))
                k, v = call.k[part, cols][None], call.v[part, cols][None]
                got = _flash_backward(dy, q, k, v, y, z, 0.0, causal, scale=call.scale)
                dq[part, rows] += got[0][0]
                dk[part, cols] += got[1][0]
                dv[part, cols] += got[2][0]
    return [dq, dk, dv]


def _rectangles(call: Call, rows: slice, m: int) -> Iterator[tuple[slice, bool]]:
    """The keys some rows see, in pieces that are seen by all of them or causally."""
    if call.pattern != "causal":
        if m:
            yield slice(0, m), False
        return
    if rows.start:
        yield slice(0, rows.start), False
    yield rows, True

"""NVIDIA's own fused attention, as torch carries it: the plain dot product in half precision.

It builds a plan for every new shape, which takes longer than thousands of calls of it would save:
on sequences of changing lengths that makes it several times as slow as anything else. So ``choose``
hands a call over only if its lengths are large and round, shapes of which a program has few. Under
a mask it would multiply hidden garbage by zero, so a call with a mask is never handed over.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regard.attention.call import Call

__all__ = ["backward", "forward"]

_forward = torch.ops.aten._scaled_dot_product_cudnn_attention.default
_backward = torch.ops.aten._scaled_dot_product_cudnn_attention_backward.default


def forward(call: Call) -> tuple[Tensor, Tensor]:
    """The output, and the logarithm of each row's normaliser."""
    q, k, v = (x.unsqueeze(0) for x in (call.q, call.k, call.v))  # batch entries are heads of one
    out, lse, *_ = _forward(q, k, v, None, True, 0.0, False, False, scale=call.scale)  # noqa: FBT003
    return out[0].contiguous(), lse.reshape(call.q.shape[:2])


def backward(
    call: Call, out: Tensor, lse: Tensor, dout: Tensor
) -> tuple[Tensor, Tensor, Tensor, None, None, None]:
    """The gradients of q, k and v; nothing else learns in a plain dot product."""
    q, k, v, y, dy = (x.unsqueeze(0) for x in (call.q, call.k, call.v, out, dout))
    none = torch.zeros((), dtype=torch.int64, device=q.device)  # of dropout's generator
    norm = lse.float().reshape(1, *call.q.shape[:2], 1)
    grads = _backward(
        *(dy.contiguous(), q, k, v, y.contiguous(), norm, none, none, None, None, None),
        *(call.n, call.m, 0.0, False),
        scale=call.scale,
    )
    dq, dk, dv = (x[0].contiguous() for x in grads)
    return dq, dk, dv, None, None, None

"""The forward pass of a sum over features on the GPU; ``panels`` has the backward."""

from __future__ import annotations

import torch
import triton
from torch import Tensor

from regard.attention.call import Call
from regard.attention.triton import beside as shared
from regard.attention.triton import memory, operands
from regard.attention.triton.beside import beside_of, power_of_two
from regard.attention.triton.operands import operands_of

__all__ = ["forward"]


def forward(call: Call, *, values: bool, entropy: bool = False) -> tuple[Tensor, Tensor]:
    """The output (or the entropies, or nothing) and the rows' normalisers."""
    beside, on = beside_of(call), operands_of(call, rows=False)
    batch, n = call.q.shape[:2]
    m, f = call.v.shape[1:]
    v = call.v.detach().float()
    mode = 1 if values else 2 if entropy else 0
    width = f if mode == 1 else 1
    out = memory.fresh(batch, n, width, dtype=torch.float32, device=v.device)
    lse = memory.fresh(batch, n, dtype=torch.float64, device=v.device)
    tile = operands.score_tile(call)
    programs = batch * triton.cdiv(n, tile["BM"])
    room = programs * tile["BM"] * tile["BN"] if mode == 1 and f > 1 else 0
    scratch = memory.fresh(room, dtype=torch.float32, device=v.device)
    on.kernels.forward[(programs,)](
        *(on.q, on.k, v, on.p0, on.p1, on.kind, beside.table, beside.lo, beside.hi, beside.dense),
        *(beside.seed, out, lse, scratch, *v.stride(), *beside.dense_strides),
        *(n, m, *on.wide, on.h, f),
        *(beside.per_mask, beside.per_dense, beside.tables, on.heads, call.scale),
        *(beside.least, beside.keep_scale),
        **beside.flags,
        **tile,
        DV=1 if width == 1 else power_of_two(f),
        LONG=m > shared.LONG,
        MODE=mode,
        ADDITIVE=on.score_kind,
    )
    return out, lse

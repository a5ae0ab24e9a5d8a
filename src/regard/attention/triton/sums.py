"""The forward pass of a sum over features on the GPU; ``panels`` has the backward."""

from __future__ import annotations

import torch
import triton
from torch import Tensor

from regard.attention.call import Call
from regard.attention.triton import beside as shared
from regard.attention.triton import memory, operands
from regard.attention.triton.beside import Beside, beside_of, power_of_two
from regard.attention.triton.fusion import FUSED
from regard.attention.triton.operands import Operands, operands_of

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
    if on.fours:
        _launch_fours(call, beside, on, v, out, lse, mode)
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
        SUM=on.score_kind,
        **FUSED,
    )
    return out, lse


def _launch_fours(
    call: Call, beside: Beside, on: Operands, v: Tensor, out: Tensor, lse: Tensor, mode: int
) -> None:
    """The entries that the matrix units can have, on whose kind the other kernel turns back."""
    from regard.attention.triton import fours  # noqa: PLC0415 - not every Triton has its language

    batch, n = call.q.shape[:2]
    m, f = call.v.shape[1:]
    fours.forward[(batch * triton.cdiv(n, fours.ROWS.value),)](
        *(on.q, on.k, v, on.p0, on.kind, beside.table, beside.lo, beside.hi, beside.dense),
        *(beside.seed, out, lse, *v.stride(), *beside.dense_strides),
        *(n, m, *on.wide, on.h, f),
        *(beside.per_mask, beside.per_dense, beside.tables, on.heads, call.scale),
        *(beside.least, beside.keep_scale),
        **beside.flags,
        LONG=m > shared.LONG,
        MODE=mode,
        CHUNKS=triton.cdiv(f, fours.COLUMNS.value) if mode == 1 else 1,
        **fours.LAUNCH,
        **FUSED,
    )

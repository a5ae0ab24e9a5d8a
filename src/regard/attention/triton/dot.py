"""The dot product on the GPU: which of ``matrix``'s kernels run, and in which tiles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
import triton
from torch import Tensor
from torch.nn.functional import pad

from regard.attention import gpu
from regard.attention.call import Call
from regard.attention.triton import beside as shared
from regard.attention.triton import hopper, matrix, memory
from regard.attention.triton.beside import (
    COLUMNS,
    EXACT,
    LOG2E,
    Beside,
    beside_of,
    for_parameter,
    power_of_two,
)
from regard.attention.triton.fusion import FUSED
from regard.attention.triton.panels import table_gradient
from regard.scores.dot import SCALED_DOT

__all__ = ["LINEAR", "Tiles", "backward", "forward", "positive", "scaled", "widened"]

LINEAR = ("q * k", SCALED_DOT)  # the formulas that are dot products
FEW = 1 << 16  # pairs of an entry, up to which weights and slopes of half precision are of float32
LOOKED_AT = 2048  # rows of a mask, at a time
SHORT = 32  # queries and keys, up to which one small tile has them all: sentences, not documents
FEWEST = 2  # columns of q, k and v: see ``widened``
# What goes with a compiled kernel: see ``_twice``. Triton keeps them as long; interpreted: nothing.
_SECOND: dict[Any, Any] = {}
# No tile is copied ahead the second time. Where keys are wanted in registers, too, Triton (3.6, and
# 3.9 the same way) would copy later ones over them while a product reads them still.
UNHURRIED = {"num_stages": 1}
COUNTS = tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 3)  # constants, in a launch


@dataclass(frozen=True)
class Tiles:
    """Sizes of tiles and the threads that work on one."""

    bm: int
    bn: int
    warps: int
    stages: int

    def smaller(self, widest: int) -> Tiles:
        """For a GPU with little shared memory: one stage, half the sides for the widest rows."""
        by = 2 if widest > 256 else 1  # noqa: PLR2004
        return Tiles(max(self.bm // by, 16), max(self.bn // by, 16), self.warps, 1)


# ``matrix`` does again what ``pipelined`` has noted, block by block: in blocks of the same size
PIPELINED = Tiles(hopper.QUERIES, hopper.KEYS, hopper.WARPS, 1)


def _tiles(kernel: str, call: Call, *, fine: bool = False) -> Tiles:
    """What was fastest on an H200, or what fits: see README.md. Fine: weights are of float32."""
    widest = max(power_of_two(call.q.shape[2]), power_of_two(call.v.shape[2]))
    found = _fastest(kernel, call, fine=fine)
    return found.smaller(widest) if gpu.is_little(call.q.device) else found


def _fastest(kernel: str, call: Call, *, fine: bool) -> Tiles:
    widest = max(power_of_two(call.q.shape[2]), power_of_two(call.v.shape[2]))
    longest = max(call.n, call.m)
    if longest <= SHORT and widest <= 128:  # noqa: PLR2004
        side = 16 if longest <= 16 else 32  # noqa: PLR2004
        return Tiles(side, side, side // 16 if widest <= 64 else 4, 1)  # noqa: PLR2004
    half = call.q.element_size() == 2 and not fine  # noqa: PLR2004 - bytes
    if not half:
        side = 64 if widest <= 64 else 32 if widest <= 128 else 16  # noqa: PLR2004
        if kernel == "to_keys":
            side = max(side // 2, 16)  # no smaller product exists
        return Tiles(side, side, 4, 2 if widest <= 256 else 1)  # noqa: PLR2004
    if widest <= 64:  # noqa: PLR2004
        if kernel == "to_keys":
            return Tiles(32, 128 if call.m > 64 else 64, 4, 3)  # noqa: PLR2004
        return Tiles(128 if call.n > 64 else 64, 64, 4, 3)  # noqa: PLR2004
    if widest <= 128:  # noqa: PLR2004
        return Tiles(128, 64, 8, 3) if kernel == "forward" else Tiles(64, 64, 4, 2)
    return Tiles(64, 32, 4, 2) if kernel == "forward" else Tiles(32, 32, 4, 1)


def scaled(call: Call) -> tuple[Tensor, Tensor | None]:
    """q, multiplied by the scale that learns if there is one; and that scale beside q."""
    if call.p0 is None:
        return call.q, None
    p0 = call.p0.detach().repeat(call.q.shape[0] // call.p0.shape[0], 1).unsqueeze(1)
    return (call.q.double() * p0).to(call.q.dtype), p0


def _narrow(call: Call, *, values: bool = True) -> bool:
    return min(call.q.shape[2], call.v.shape[2] if values else FEWEST) < FEWEST


def _columned(x: Tensor) -> Tensor:
    """The same, with zeros for the columns it lacks."""
    return x if x.shape[-1] >= FEWEST else pad(x, (0, FEWEST - x.shape[-1]))


def widened(call: Call, *, values: bool = True) -> Call:
    """The same call with two columns at least; without values, of queries and keys alone.

    None at all are nowhere in memory, and a GPU minds even an address it is told not to read. If
    there is one, rows lie as close as columns, and Triton 3.6 mixes them up.
    """
    p0, p1 = (None if p is None else _columned(p) for p in (call.p0, call.p1))
    q, k, v = _columned(call.q), _columned(call.k), _columned(call.v) if values else call.v
    return replace(call, q=q, k=k, v=v, p0=p0, p1=p1)


def _constants(call: Call, t: Tiles) -> dict[str, Any]:
    h, f = call.q.shape[2], call.v.shape[2]
    return {
        "BM": t.bm,
        "BN": t.bn,
        "D": power_of_two(h, COLUMNS),
        "DV": power_of_two(f, COLUMNS),
        "EVEN": power_of_two(h, COLUMNS) == h and power_of_two(f, COLUMNS) == f,
        "NEGATIVE": call.scale < 0,
        "PRECISION": "tf32" if call.precision == "tf32" else EXACT,
        "num_warps": t.warps,
        "num_stages": t.stages,
        **FUSED,
    }


def positive(call: Call) -> float:
    """The size of the scale, which the kernels take apart from its sign."""
    return max(abs(call.scale), 1e-37)  # at a scale of 0 a hidden score would be -inf * 0


def _twice(
    kernel: Any,  # noqa: ANN401
    programs: int,
    given: tuple[Tensor, ...],
    *rest: Any,  # noqa: ANN401
    first: hopper.First | None = None,
    **flags: Any,  # noqa: ANN401
) -> None:
    """Launch a kernel, and again for what was not finite: see ``matrix``.

    The first time it may be one of ``pipelined`` that does the same.

    To find the compiled kernel that fits forty arguments takes Triton longer than to launch it. The
    second time they are the same, so it is the one that went with the first before.
    """
    grid = (programs, 1, 1)
    notes = memory.fresh(programs, dtype=torch.int32, device=given[0].device)
    args = (*given, notes, *rest)
    launched = first(notes) if first else kernel[grid](*args, CAREFUL=False, **flags)
    second = _SECOND.get(launched)
    if second is not None:  # its constants are compiled into it, but it counts them
        second[grid](*args, *(None,) * (len(kernel.arg_names) - len(args)))
        return
    second = kernel[grid](*args, CAREFUL=True, **(flags | UNHURRIED))
    if COUNTS:
        _SECOND[launched] = second


def _blocks(count: int, size: int) -> int:
    return -(-count // size)  # triton.cdiv is for kernels, and slow outside


def forward(call: Call, *, values: bool) -> tuple[Tensor, Tensor]:
    """The output and the rows' normalisers; without values, the second alone."""
    if _narrow(call, values=values):
        out, lse = forward(widened(call, values=values), values=values)
        return out[..., : call.v.shape[2]].contiguous(), lse
    pipelined = values and _is_pipelined(call)
    call = hopper.laid_out(call) if pipelined else call
    beside = beside_of(call)
    t = PIPELINED if pipelined else _tiles("forward", call)
    q, _ = scaled(call)
    batch, n, h = q.shape
    m, f = call.v.shape[1:]
    out = memory.fresh(batch, n, f if values else 0, dtype=q.dtype, device=q.device)
    lse = memory.fresh(batch, n, dtype=torch.float64, device=q.device)
    long = q.dtype == torch.float32 and m > shared.LONG
    _twice(
        matrix.forward,
        batch * _blocks(n, t.bm),
        (
            *(q, call.k, call.v, beside.table, beside.lo, beside.hi, beside.dense),
            beside.seed,
            out,
            lse,
        ),
        *(*q.stride(), *call.k.stride(), *call.v.stride(), *beside.dense_strides),
        *(n, m, h, f, beside.per_mask, beside.per_dense, beside.tables),
        *(positive(call) * LOG2E, beside.least, beside.keep_scale),
        **beside.flags,
        **_constants(call, t),
        LONG=long,
        VALUES=values,
        first=hopper.forward(call, beside, out, lse) if pipelined else None,
    )
    return out, lse


def _is_pipelined(call: Call) -> bool:
    """Whether ``pipelined`` does it, forward and backward; what it leaves, ``matrix`` does."""
    return not _few(call) and hopper.takes(call)


def _few(call: Call) -> bool:
    """Whether half precision is not enough: among few pairs its roundings do not average out."""
    return call.n * call.m <= FEW  # not of the batch: an entry must not depend on the others


def _is_widened(call: Call) -> bool:
    """Whether few pairs are computed from float32: a bfloat16 is one piece of it, as it is."""
    scaled_too = call.q.dtype == torch.bfloat16 and call.p0 is not None
    return call.q.dtype == torch.float16 or scaled_too


def backward(
    call: Call, out: Tensor, lse: Tensor, dout: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of q, k, v, p0, p1 and the table."""
    if _narrow(call):
        found = backward(widened(call), _columned(out), lse, _columned(dout))
        narrow = (call.q, call.k, call.v, call.p0, call.p1)
        cut = (
            None if g is None or x is None else g[..., : x.shape[-1]].contiguous()
            for g, x in zip(found[:5], narrow, strict=True)
        )
        return (*cut, found[5])  # type: ignore[return-value]
    if _few(call) and _is_widened(call):
        wide = replace(call, q=call.q.float(), k=call.k.float(), v=call.v.float())
        dq, dk, dv, *rest = backward(wide, out, lse, dout)
        return (*(x.to(call.q.dtype) for x in (dq, dk, dv)), *rest)  # type: ignore[return-value]
    pipelined = _is_pipelined(call)
    call = hopper.laid_out(call) if pipelined else call
    beside = beside_of(call)
    q, p0 = scaled(call)
    k, v = call.k, call.v
    batch, n, h = q.shape
    m, f = v.shape[1:]
    dout = dout.to(q.dtype).contiguous()
    dout = hopper.aligned(dout) if pipelined else dout
    exact = q.dtype == torch.float32 or _few(call)
    wide_type = torch.float64 if exact else torch.float32
    mean, norms = (memory.fresh(batch, n, dtype=wide_type, device=q.device) for _ in range(2))
    strides = (*q.stride(), *k.stride(), *v.stride(), *beside.dense_strides)
    sizes = (n, m, h, f, beside.per_mask, beside.per_dense, beside.tables)
    scale, factor = positive(call) * LOG2E, abs(call.scale)
    given = (q, k, v, dout, beside.table, beside.lo, beside.hi, beside.dense, beside.seed)
    t = PIPELINED if pipelined else _tiles("to_queries", call, fine=exact)
    grid = (batch * _blocks(n, t.bm),)
    if exact:
        matrix.means[grid](
            *(*given, lse, mean, norms, *strides, *sizes, scale, beside.least, beside.keep_scale),
            **beside.flags,
            **_constants(call, t),
        )
    else:
        matrix.deltas[(_blocks(batch * n, 64),)](
            *(out.contiguous(), dout, lse, mean, norms, f, batch * n),
            BM=64,
            DV=power_of_two(f),
            **FUSED,
        )
    dq = memory.fresh(batch, n, h, dtype=q.dtype, device=q.device)
    dk = memory.fresh(batch, m, h, dtype=q.dtype, device=q.device)
    dv = memory.fresh(batch, m, f, dtype=q.dtype, device=q.device)
    theirs = (dout, norms, mean)
    _twice(
        matrix.to_queries,
        grid[0],
        (*given, norms, mean, dq),
        *(*strides, *sizes, scale, factor, beside.least, beside.keep_scale),
        **beside.flags,
        **_constants(call, t),
        WIDE=exact,
        LONG=exact and m > shared.LONG,
        first=hopper.to_queries(call, beside, theirs, dq) if pipelined else None,
    )
    t = PIPELINED if pipelined else _tiles("to_keys", call, fine=exact)
    columns = _columns(call, beside, t)
    _twice(
        matrix.to_keys,
        batch * _blocks(m, t.bn),
        (*given, norms, mean, columns, dk, dv),
        *(*strides, *sizes),
        *(scale, factor, beside.least, beside.keep_scale),
        **beside.flags,
        **_constants(call, t),
        WIDE=exact,
        LONG=exact and n > shared.LONG,
        first=hopper.to_keys(call, beside, (*theirs, columns), dk, dv) if pipelined else None,
    )
    if call.scale < 0:
        dq.neg_()
    dp0 = None
    if call.p0 is not None and p0 is not None:
        by_head = (dq.double() * call.q.double()).sum(1)
        dp0 = for_parameter(call.p0, by_head)
        dq = (dq.double() * p0).to(q.dtype)
    dp1 = None if call.p1 is None else torch.zeros_like(call.p1)
    return dq, dk, dv, dp0, dp1, table_gradient(call, lse, dout)


def _columns(call: Call, beside: Beside, t: Tiles) -> Tensor:
    """Which blocks of queries see each tile of keys: see ``matrix.columns``."""
    blocks_n, blocks_m = _blocks(call.n, t.bm), _blocks(call.m, t.bn)
    if call.lo is None:
        found = torch.zeros(blocks_m, 4, dtype=torch.int32, device=call.q.device)
        found[:, 1].fill_(blocks_n)  # on the GPU: a copy to it would wait
        found[:, 3].fill_(call.n // t.bm)
        return found
    masks = call.lo.shape[0]
    found = memory.fresh(masks, blocks_m, 4, dtype=torch.int32, device=call.q.device)
    flags = {name: beside.flags[name] for name in ("NOT_SELF", "DENSE")}
    matrix.columns[(masks * blocks_m,)](
        *(beside.lo, beside.hi, found, call.n, call.m, blocks_n, blocks_m),
        BM=t.bm,
        BN=t.bn,
        SOME=max(LOOKED_AT // t.bm, 1),
        **flags,
        **FUSED,
    )
    return found

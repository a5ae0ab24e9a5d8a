"""From tensors to kernels on the GPU: which kernels, which tiles, in which order.

Nothing here looks at numbers, so nothing waits for the GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import torch
import triton
from torch import Tensor

from regard.attention.absent import anyone, clean_rows
from regard.attention.call import Call
from regard.attention.dropout import keep, threshold
from regard.attention.triton import additive, matrix, substitution
from regard.attention.triton.build import kernels
from regard.scores import Additive
from regard.scores.dot import SCALED_DOT
from regard.scores.expression import derivative, evaluate, parse

__all__ = ["backward", "forward", "normalisers", "panel"]

LOG2E = 1.4426950408889634
LONG = 2048  # keys (or queries) whose sum float32 may hold, added up a tile at a time
WIDE_PANEL = 4096  # keys of a panel, where it cannot have them all
PANEL = 5 << 20  # pairs whose weights and slopes exist at once in the gradients of a feature sum
EXACT = "tf32x3"  # products of float32 in three of tf32: as good, and several times as fast
FEATURES = 8  # up to here there are few: see ``features``
BUSY = 1024  # blocks of threads that keep a GPU busy
FEW = 1 << 20  # pairs up to which the gradients of half precision are computed in float32
SMALL = 1 << 22  # pair-features up to which parameters get their gradients in float64
LINEAR = ("q * k", SCALED_DOT)
LARGEST = 128  # side of a tile: a panel may start anywhere
FILL = 512  # rows laid out by feature end at a multiple of this: no tile reads behind the end
fresh = torch.empty  # for what a kernel must write whole; tests fill it with NaN


@dataclass(frozen=True)
class Beside:
    """What a call has besides q, k and v, as the kernels take it."""

    table: Tensor
    lo: Tensor
    hi: Tensor
    dense: Tensor
    seed: Tensor
    per_mask: int
    per_dense: int
    tables: int
    least: int
    keep_scale: float
    flags: dict[str, bool]

    @property
    def dense_strides(self) -> tuple[int, ...]:
        """Of [M, n, m]."""
        return self.dense.stride() if self.flags["DENSE"] else (0, 0, 0)


def beside_of(call: Call) -> Beside:
    batch, device = call.q.shape[0], call.q.device
    nothing = torch.empty(1, dtype=torch.int32, device=device)  # stands where nothing is read
    lo = nothing if call.lo is None else call.lo.to(torch.int32).contiguous()
    hi = nothing if call.hi is None else call.hi.to(torch.int32).contiguous()
    dense = nothing if call.dense is None else call.dense.view(torch.uint8)
    table = nothing if call.table is None else call.table.detach().float().contiguous()
    drop = bool(call.dropout) and call.seed is not None
    return Beside(
        table,
        lo,
        hi,
        dense,
        call.seed.to(device).reshape(1) if drop and call.seed is not None else nothing,
        batch // (1 if call.lo is None else call.lo.shape[0]),
        batch // (1 if call.dense is None else call.dense.shape[0]),
        1 if call.table is None else call.table.shape[0],
        threshold(call.dropout) if drop else 0,
        1 / (1 - call.dropout) if drop else 1.0,
        {
            "SPANS": call.lo is not None,
            "NOT_SELF": call.not_self,
            "DENSE": call.dense is not None,
            "TABLE": call.table is not None,
            "DROP": drop,
        },
    )


def power_of_two(width: int, least: int = 16) -> int:
    return max(least, 1 << (max(width, 1) - 1).bit_length())


def forward(call: Call) -> tuple[Tensor, Tensor]:
    """The output, and the logarithm of each row's normaliser in float64."""
    batch, n = call.q.shape[:2]
    m, f = call.v.shape[1:]
    if not batch or not n or not m:
        lse = torch.full((batch, n), -torch.inf, dtype=torch.float64, device=call.q.device)
        return call.q.new_zeros(batch, n, f), lse
    if not f:
        return call.q.new_zeros(batch, n, 0), normalisers(call)
    return (_matrix_forward if call.phi in LINEAR else features_forward)(call, values=True)


def normalisers(call: Call) -> Tensor:
    """The logarithms of the rows' normalisers, [B, n] in float64: a pass without values."""
    return (_matrix_forward if call.phi in LINEAR else features_forward)(call, values=False)[1]


def backward(
    call: Call, out: Tensor, lse: Tensor, dout: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of q, k, v, p0, p1 and the table, each in its own dtype."""
    batch, n = call.q.shape[:2]
    learned = (call.p0, call.p1, call.table)
    if not batch or not n or not call.m or not call.v.shape[2]:
        zeros = [None if x is None else torch.zeros_like(x) for x in learned]
        return (*(torch.zeros_like(x) for x in (call.q, call.k, call.v)), *zeros)  # type: ignore[return-value]
    if call.phi in LINEAR:
        if _few_halves(call):
            wide = replace(call, q=call.q.float(), k=call.k.float(), v=call.v.float())
            dq, dk, dv, *rest = _matrix_backward(wide, out, lse, dout)
            return (*(x.to(call.q.dtype) for x in (dq, dk, dv)), *rest)  # type: ignore[return-value]
        return _matrix_backward(call, out, lse, dout)
    return _features_backward(call, lse, dout)


def _few_halves(call: Call) -> bool:
    """Whether half precision is widened: among few pairs its roundings do not average out."""
    pairs = call.q.shape[0] * call.n * call.m
    return call.q.dtype in (torch.bfloat16, torch.float16) and pairs <= FEW


# The dot product ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tiles:
    """Sizes of tiles and the threads that work on one."""

    bm: int
    bn: int
    warps: int
    stages: int


def _tiles(kernel: str, call: Call) -> Tiles:
    """What was fastest on an H200, or what fits: see README.md."""
    widest = max(power_of_two(call.q.shape[2]), power_of_two(call.v.shape[2]))
    half = call.q.element_size() == 2  # noqa: PLR2004 - bytes
    if not half:
        side = 64 if widest <= 64 else 32 if widest <= 128 else 16  # noqa: PLR2004
        return Tiles(side, side, 4, 2) if kernel != "to_keys" else Tiles(side // 2, side // 2, 4, 2)
    if widest <= 64:  # noqa: PLR2004
        return Tiles(32, 128, 4, 3) if kernel == "to_keys" else Tiles(128, 64, 4, 3)
    if widest <= 128:  # noqa: PLR2004
        return Tiles(128, 64, 8, 3) if kernel == "forward" else Tiles(64, 64, 4, 2)
    return Tiles(64, 32, 4, 2) if kernel == "forward" else Tiles(32, 32, 4, 1)


def scaled(call: Call) -> tuple[Tensor, Tensor | None]:
    """q, multiplied by the scale that learns if there is one; and that scale beside q."""
    if call.p0 is None:
        return call.q, None
    p0 = call.p0.detach().repeat(call.q.shape[0] // call.p0.shape[0], 1).unsqueeze(1)
    return (call.q.double() * p0).to(call.q.dtype), p0


def _constants(call: Call, t: Tiles) -> dict[str, Any]:
    h, f = call.q.shape[2], call.v.shape[2]
    return {
        "BM": t.bm,
        "BN": t.bn,
        "D": power_of_two(h),
        "DV": power_of_two(f),
        "EVEN": power_of_two(h) == h and power_of_two(f) == f,
        "NEGATIVE": call.scale < 0,
        "PRECISION": "tf32" if call.precision == "tf32" else EXACT,
        "num_warps": t.warps,
        "num_stages": t.stages,
    }


def positive(call: Call) -> float:
    # at a scale of 0 a hidden score would be -inf * 0
    return max(abs(call.scale), 1e-37)


def _twice(kernel: Any, programs: int, given: tuple[Tensor, ...], *rest: Any, **flags: Any) -> None:  # noqa: ANN401
    """Launch a kernel, and again for what was not finite: see ``matrix``."""
    notes = fresh(programs, dtype=torch.int32, device=given[0].device)
    for careful in (False, True):
        kernel[(programs,)](*given, notes, *rest, CAREFUL=careful, **flags)


def _matrix_forward(call: Call, *, values: bool) -> tuple[Tensor, Tensor]:
    beside, t = beside_of(call), _tiles("forward", call)
    q, _ = scaled(call)
    batch, n, h = q.shape
    m, f = call.v.shape[1:]
    out = fresh(batch, n, f if values else 0, dtype=q.dtype, device=q.device)
    lse = fresh(batch, n, dtype=torch.float64, device=q.device)
    long = q.dtype == torch.float32 and m > LONG
    _twice(
        matrix.forward,
        batch * triton.cdiv(n, t.bm),
        (
            q,
            call.k,
            call.v,
            beside.table,
            beside.lo,
            beside.hi,
            beside.dense,
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
    )
    return out, lse


def _matrix_backward(
    call: Call, out: Tensor, lse: Tensor, dout: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None, Tensor | None]:
    beside = beside_of(call)
    q, p0 = scaled(call)
    k, v = call.k, call.v
    batch, n, h = q.shape
    m, f = v.shape[1:]
    dout = dout.to(q.dtype).contiguous()
    exact = q.dtype == torch.float32
    wide_type = torch.float64 if exact else torch.float32
    mean, norms = (fresh(batch, n, dtype=wide_type, device=q.device) for _ in range(2))
    strides = (*q.stride(), *k.stride(), *v.stride(), *beside.dense_strides)
    sizes = (n, m, h, f, beside.per_mask, beside.per_dense, beside.tables)
    scale, factor = positive(call) * LOG2E, abs(call.scale)
    given = (q, k, v, dout, beside.table, beside.lo, beside.hi, beside.dense, beside.seed)
    t = _tiles("to_queries", call)
    grid = (batch * triton.cdiv(n, t.bm),)
    if exact:
        matrix.means[grid](
            *(*given, lse, mean, norms, *strides, *sizes, scale, beside.least, beside.keep_scale),
            **beside.flags,
            **_constants(call, t),
        )
    else:
        matrix.deltas[(triton.cdiv(batch * n, 64),)](
            out.contiguous(), dout, lse, mean, norms, f, batch * n, BM=64, DV=power_of_two(f)
        )
    dq = fresh(batch, n, h, dtype=q.dtype, device=q.device)
    dk = fresh(batch, m, h, dtype=q.dtype, device=q.device)
    dv = fresh(batch, m, f, dtype=q.dtype, device=q.device)
    wide = {"WIDE": exact}
    _twice(
        matrix.to_queries,
        grid[0],
        (*given, norms, mean, dq),
        *(*strides, *sizes, scale, factor, beside.least, beside.keep_scale),
        **beside.flags,
        **_constants(call, t),
        **wide,
        LONG=exact and m > LONG,
    )
    t = _tiles("to_keys", call)
    _twice(
        matrix.to_keys,
        batch * triton.cdiv(m, t.bn),
        (*given, norms, mean, _columns(call, beside, t), dk, dv),
        *(*strides, *sizes),
        *(scale, factor, beside.least, beside.keep_scale),
        **beside.flags,
        **_constants(call, t),
        **wide,
        LONG=exact and n > LONG,
    )
    if call.scale < 0:
        dq.neg_()
    dp0 = None
    if call.p0 is not None and p0 is not None:
        by_head = (dq.double() * call.q.double()).sum(1)
        dp0 = _for(call.p0, by_head)
        dq = (dq.double() * p0).to(q.dtype)
    dp1 = None if call.p1 is None else torch.zeros_like(call.p1)
    return dq, dk, dv, dp0, dp1, _table_gradient(call, lse, dout)


def _columns(call: Call, beside: Beside, t: Tiles) -> Tensor:
    """Which blocks of queries see each tile of keys: see ``matrix.columns``."""
    blocks_n, blocks_m = triton.cdiv(call.n, t.bm), triton.cdiv(call.m, t.bn)
    if call.lo is None:
        found = torch.zeros(blocks_m, 4, dtype=torch.int32, device=call.q.device)
        found[:, 1] = blocks_n  # filled on the GPU: a copy to it would wait
        found[:, 3] = call.n // t.bm
        return found
    masks = call.lo.shape[0]
    found = fresh(masks, blocks_m, 4, dtype=torch.int32, device=call.q.device)
    flags = {name: beside.flags[name] for name in ("NOT_SELF", "DENSE")}
    matrix.columns[(masks * blocks_m,)](
        *(beside.lo, beside.hi, found, call.n, call.m, blocks_n, blocks_m),
        BM=t.bm,
        BN=t.bn,
        **flags,
    )
    return found


def _table_gradient(call: Call, lse: Tensor, dout: Tensor) -> Tensor | None:
    """The bias's gradient adds slopes along diagonals: panels of them are made for it."""
    if call.table is None:
        return None
    return _Panels(call, lse, dout).gradients(table_only=True)[5]


# Sums over features ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Operands:
    """q and k laid out feature by feature, and row by row where gradients want them."""

    kernels: ModuleType
    q: Tensor  # [B, h, n]
    k: Tensor  # [B, h, m]
    q_rows: Tensor  # [B, n, h]
    k_rows: Tensor
    p0: Tensor  # [heads, h]
    p1: Tensor
    kind: Tensor  # [B]: how tanh was substituted
    heads: int
    additive: bool

    @property
    def wide(self) -> tuple[int, int]:
        """The numbers of queries and keys, filled up to whole tiles."""
        return self.q.shape[2], self.k.shape[2]

    @property
    def h(self) -> int:
        """How many features, filled up to a pair."""
        return self.q.shape[1]


def _operands(call: Call, *, rows: bool) -> Operands:
    batch, _, h = call.q.shape
    is_additive = call.phi == Additive.PHI
    p0, p1 = (
        call.q.new_zeros(1, h) if p is None else p.detach().float().contiguous()
        for p in (call.p0, call.p1)
    )
    heads = max(p0.shape[0], p1.shape[0])
    p0, p1 = (p.repeat(heads // p.shape[0], 1) for p in (p0, p1))
    q, k = call.q.detach().float(), call.k.detach().float()
    kind = torch.zeros(batch, dtype=torch.int32, device=q.device)
    if is_additive and h:
        p0, p1 = (torch.nn.functional.pad(p, (0, _pairs(h) - h)) for p in (p0, p1))
        by_feature, by_row, kind = _substituted(call, q, k, rows=rows)
    else:
        by_row = (q.contiguous(), k.contiguous()) if rows else (q, k)
        by_feature = (_by_feature(q), _by_feature(k))
    return Operands(kernels(call.phi), *by_feature, *by_row, p0, p1, kind, heads, is_additive)


def _pairs(h: int) -> int:
    """Features of the additive score, filled up: kernels take them two at a time."""
    return h + h % 2


def _filled(size: int) -> int:
    return -(-(size + LARGEST) // FILL) * FILL


def _by_feature(x: Tensor) -> Tensor:
    """[B, n, h] as [B, h, n], n filled up."""
    batch, n, h = x.shape
    out = fresh(batch, h, _filled(n), dtype=x.dtype, device=x.device)
    out[..., :n] = x.transpose(1, 2)
    return out


def _substituted(
    call: Call, q: Tensor, k: Tensor, *, rows: bool
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor], Tensor]:
    batch, _, h = q.shape
    q, k = q.contiguous(), k.contiguous()
    wide = _pairs(h)
    seen: tuple[Tensor | None, Tensor | None] = (None, None)
    if call.lo is not None:  # garbage that nobody sees must not choose the arithmetic
        keys, queries = anyone(call)
        seen = (queries.to(torch.uint8), keys.to(torch.uint8))
    found, chunks = [], []
    for x, who in zip((q, k), seen, strict=True):
        count = min(triton.cdiv(x.shape[1], 64), 64)
        ends = torch.empty(2, batch, count, h, dtype=torch.float32, device=q.device)
        substitution.ranges[(batch * count,)](
            *(x, kind_or(who, x), ends[0], ends[1], x.shape[1], h, count),
            ROWS=16,
            BH=power_of_two(h, 2),
            SEEN=who is not None,
        )
        found.append(ends)
        chunks.append(count)
    kind = torch.empty(batch, dtype=torch.int32, device=q.device)
    centre = torch.empty(batch, h, dtype=torch.float32, device=q.device)
    substitution.decide[(batch,)](
        *(found[0][0], found[0][1], found[1][0], found[1][1], kind, centre, h, *chunks),
        BH=power_of_two(h, 2),
    )
    by_feature, by_row = [], []
    for x, sign in ((q, 1.0), (k, -1.0)):
        size = x.shape[1]
        feature = fresh(batch, wide, _filled(size), dtype=torch.float32, device=q.device)
        row = fresh(batch, size, wide, dtype=torch.float32, device=q.device) if rows else x
        substitution.transform[(batch * triton.cdiv(size, 32),)](
            *(x, kind, centre, feature, row, size, _filled(size), h, wide, sign),
            ROWS=32,
            BH=power_of_two(wide, 2),
            TWICE=rows,
        )
        by_feature.append(feature)
        by_row.append(row)
    return (by_feature[0], by_feature[1]), (by_row[0], by_row[1]), kind


def kind_or(x: Tensor | None, other: Tensor) -> Tensor:
    """x, or something in its place that no kernel reads."""
    return other if x is None else x


def _tile(call: Call, *, weigh: bool = False) -> dict[str, Any]:
    """A tile of scores: few features, queries across threads; many, keys. See ``features``."""
    if call.q.shape[2] <= FEATURES:
        return {"BM": 64, "BN": 64, "KEYS_FIRST": True, "num_warps": 2, "num_stages": 1}
    rows = 16 if weigh else 32
    return {"BM": rows, "BN": 128, "KEYS_FIRST": False, "num_warps": 4, "num_stages": 1}


def features_forward(call: Call, *, values: bool, entropy: bool = False) -> tuple[Tensor, Tensor]:
    beside, on = beside_of(call), _operands(call, rows=False)
    batch, n = call.q.shape[:2]
    m, f = call.v.shape[1:]
    v = call.v.detach().float()
    mode = 1 if values else 2 if entropy else 0
    width = f if mode == 1 else 1
    out = fresh(batch, n, width, dtype=torch.float32, device=v.device)
    lse = fresh(batch, n, dtype=torch.float64, device=v.device)
    tile = _tile(call)
    programs = batch * triton.cdiv(n, tile["BM"])
    room = programs * tile["BM"] * tile["BN"] if mode == 1 and f > 1 else 0
    scratch = fresh(room, dtype=torch.float32, device=v.device)
    on.kernels.forward[(programs,)](
        *(on.q, on.k, v, on.p0, on.p1, on.kind, beside.table, beside.lo, beside.hi, beside.dense),
        *(
            beside.seed,
            out,
            lse,
            scratch,
            *v.stride(),
            *beside.dense_strides,
            n,
            m,
            *on.wide,
            on.h,
            f,
        ),
        *(beside.per_mask, beside.per_dense, beside.tables, on.heads, call.scale * LOG2E),
        *(beside.least, beside.keep_scale),
        **beside.flags,
        **tile,
        DV=1 if width == 1 else power_of_two(f),
        LONG=m > LONG,
        MODE=mode,
        ADDITIVE=on.additive,
    )
    return out, lse


def _features_backward(
    call: Call, lse: Tensor, dout: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None, Tensor | None]:
    return _Panels(call, lse, dout).gradients()


def panel(call: Call, lse: Tensor, rows: slice, cols: slice) -> Tensor:
    """Some of the weights, [B, rows, cols] in float32, from the rows' normalisers."""
    return _Panels(call, lse, None).weights(rows, cols)


class _Panels:
    """The gradients of a sum over features, a bounded panel of pairs at a time."""

    def __init__(self, call: Call, lse: Tensor, dout: Tensor | None) -> None:
        self.call, self.lse = call, lse
        self.beside, self.on = beside_of(call), _operands(call, rows=dout is not None)
        self.v = call.v.detach().float()
        self.dout = self.v if dout is None else dout.float().contiguous()
        self.batch, self.n = call.q.shape[:2]
        self.m, self.f = call.v.shape[1:]

    def _weigh(self, weights: Tensor, area: tuple[int, ...]) -> None:
        on, beside = self.on, self.beside
        entries, e_first, i_first, i_count, j_first, j_count = area
        tile = _tile(self.call, weigh=True)
        programs = entries * triton.cdiv(i_count, tile["BM"]) * triton.cdiv(j_count, tile["BN"])
        flags = {name: flag for name, flag in beside.flags.items() if name != "DROP"}
        on.kernels.weigh[(programs,)](
            *(on.q, on.k, on.p0, on.p1, on.kind, beside.table, beside.lo, beside.hi, beside.dense),
            *(self.lse, weights, *beside.dense_strides, self.n, self.m, *on.wide, on.h),
            *(beside.per_mask, beside.per_dense, beside.tables, on.heads, self.call.scale * LOG2E),
            *(e_first, i_first, i_count, j_first, j_count),
            **flags,
            **tile,
            ADDITIVE=on.additive,
        )

    def weights(self, rows: slice, cols: slice) -> Tensor:
        """A panel of weights."""
        i_count, j_count = rows.stop - rows.start, cols.stop - cols.start
        weights = fresh(self.batch, i_count, j_count, dtype=torch.float32, device=self.v.device)
        if weights.numel():
            self._weigh(weights, (self.batch, 0, rows.start, i_count, cols.start, j_count))
        return weights

    def _weigh_and_like(self, weights: Tensor, likes: Tensor, area: tuple[int, ...]) -> None:
        on, beside = self.on, self.beside
        self._weigh(weights, area)
        entries, _, _, i_count, _, j_count = area
        side = 64 if power_of_two(self.f) <= 128 else 32  # noqa: PLR2004
        on.kernels.like[(entries * triton.cdiv(i_count, side) * triton.cdiv(j_count, side),)](
            *(self.dout, self.v, weights, likes, beside.seed, *self.v.stride()),
            *(self.n, self.m, self.f, beside.least, beside.keep_scale, *area[1:]),
            BM=side,
            BN=side,
            DV=power_of_two(self.f),
            DROP=beside.flags["DROP"],
            num_stages=1,
        )

    def _tally(self, weights: Tensor, likes: Tensor, sums: Tensor, area: tuple[int, ...]) -> None:
        entries, e_first, i_first, i_count, _, j_count = area
        self.on.kernels.tally[(entries * triton.cdiv(i_count, 4),)](
            *(weights, likes, sums, self.n, e_first, i_first, i_count, j_count), BM=4, BN=512
        )

    def _plan(self) -> tuple[int, int, int]:
        """Entries, rows and keys of a panel: all keys if it can be, or the mean takes a pass."""
        keys = self.m if self.m <= 2 * WIDE_PANEL else WIDE_PANEL
        # from n and m alone: how a sum is cut must not depend on who else is in the batch
        rows = min(self.n, max(64, min(1024, PANEL // keys // 64 * 64)))
        entries = max(1, min(self.batch, PANEL // (rows * keys)))
        return entries, rows, keys

    def gradients(
        self, *, table_only: bool = False
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None, Tensor | None]:
        """Of q, k, v, p0, p1 and the table."""
        call, on = self.call, self.on
        device = self.v.device
        entries, rows, keys = self._plan()
        sums = torch.zeros(self.batch, self.n, 2, dtype=torch.float64, device=device)
        panels = fresh(2, entries * rows * keys, dtype=torch.float32, device=device)
        weights, slopes = panels[0], panels[1]
        h = on.h
        dq = fresh(self.batch, self.n, h, dtype=torch.float32, device=device)
        dk = torch.zeros(self.batch, self.m, h, dtype=torch.float64, device=device)
        dv = torch.zeros(self.batch, self.m, self.f, dtype=torch.float64, device=device)
        dp = torch.zeros(2, on.heads, h, dtype=torch.float64, device=device)
        dtable = None
        if call.table is not None:
            dtable = torch.zeros(call.table.shape, dtype=torch.float64, device=device)
        for e0 in range(0, self.batch, entries):
            es = min(entries, self.batch - e0)
            for i0 in range(0, self.n, rows):
                rs = min(rows, self.n - i0)
                areas = [
                    (es, e0, i0, rs, j0, min(keys, self.m - j0)) for j0 in range(0, self.m, keys)
                ]
                for area in areas:
                    self._weigh_and_like(weights, slopes, area)
                    self._tally(weights, slopes, sums, area)
                for area in areas:
                    if len(areas) > 1:  # the mean took a pass over all keys: once more
                        self._weigh_and_like(weights, slopes, area)
                    self._send(weights, slopes, sums, dtable, area)
                    if not table_only:
                        self._spread(weights, dv, area)
                        self._pull(slopes, dq, dk, dp, area)
        dq, dk = (x[..., : call.q.shape[2]] * call.scale for x in (dq, dk))
        dp = dp[..., : call.q.shape[2]] * call.scale
        dtype = call.q.dtype
        p0, p1 = (None if p is None else _for(p, dp[i]) for i, p in enumerate((call.p0, call.p1)))
        if self.batch * self.n * self.m * max(call.q.shape[2], 1) <= SMALL:
            p0, p1, dtable = self._few_parameters()
        return dq.to(dtype), dk.to(dtype), dv.to(dtype), p0, p1, dtable

    def _few_parameters(self) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """The parameters' gradients by the definition in float64, for a small call.

        One number that is a sum of few: in float32 it would be luck to be as good as another.
        """
        call = self.call
        allowed = call.allowed()
        fine = clean_rows(call.q, call.k, call.v, allowed)
        wide = replace(call, q=fine.q.double(), k=fine.k.double())
        s = wide.scores().masked_fill(~allowed, -torch.inf)
        top = s.amax(-1, keepdim=True).clamp_min(torch.finfo(s.dtype).min)
        w = (s - top).exp()
        w = w / w.sum(-1, keepdim=True).clamp_min(torch.finfo(s.dtype).tiny)
        likes = self.dout.double() @ fine.v.double().transpose(1, 2)
        if call.dropout and call.seed is not None:
            rows = torch.arange(self.batch * self.n, device=w.device).view(self.batch, self.n, 1)
            stays = keep(call.seed, rows, torch.arange(self.m, device=w.device), call.dropout)
            likes = torch.where(stays, likes / (1 - call.dropout), 0)
        likes = torch.where(w > 0, likes, 0)  # who sees nothing may be given anything
        ds = w * (likes - (w * likes).sum(-1, keepdim=True))
        found = [
            None if p is None else _for(p, self._to_parameter(name, wide, ds))
            for name, p in (("p0", call.p0), ("p1", call.p1))
        ]
        return found[0], found[1], None if call.table is None else _along(ds, call.table)

    def _to_parameter(self, name: str, call: Call, ds: Tensor) -> Tensor:
        """[B, h]: ds times the slope of phi by a parameter, over all pairs."""
        values = {"q": call.q.unsqueeze(2), "k": call.k.unsqueeze(1)}
        for other, p in (("p0", call.p0), ("p1", call.p1)):
            if p is not None:
                every = p.detach().repeat(self.batch // p.shape[0], 1)
                values[other] = every.unsqueeze(1).unsqueeze(1)
        slope = evaluate(derivative(parse(call.phi), name), values)
        live = ds.unsqueeze(-1)
        return torch.where(live != 0, live * slope, 0).sum((1, 2)) * call.scale

    def _send(
        self,
        weights: Tensor,
        slopes: Tensor,
        sums: Tensor,
        dtable: Tensor | None,
        area: tuple[int, ...],
    ) -> None:
        """Likes to slopes, and the slopes to the bias."""
        on, beside = self.on, self.beside
        entries, e_first, i_first, i_count, j_first, j_count = area
        on.kernels.settle[(entries * triton.cdiv(i_count, 4) * triton.cdiv(j_count, 512),)](
            *(weights, slopes, sums, beside.seed, self.n, beside.least, beside.keep_scale),
            *(e_first, i_first, i_count, j_first, j_count),
            BM=4,
            BN=512,
            DROP=beside.flags["DROP"],
        )
        if dtable is not None:
            on.kernels.along[(triton.cdiv(self.n + self.m - 1, 128), dtable.shape[0])](
                *(slopes, dtable, self.n, self.m, e_first, entries, i_first, i_count),
                *(j_first, j_count, beside.tables),
                WIDTH=128,
            )

    def _spread(self, weights: Tensor, dv: Tensor, area: tuple[int, ...]) -> None:
        self.on.kernels.spread[(area[0] * triton.cdiv(area[5], 64),)](
            *(weights, self.dout, dv, self.n, self.m, self.f, *area[1:]),
            BM=32,
            BN=64,
            DV=power_of_two(self.f),
            num_warps=4,
            num_stages=1,
        )

    def _pull(
        self, slopes: Tensor, dq: Tensor, dk: Tensor, dp: Tensor, area: tuple[int, ...]
    ) -> None:
        on, beside, h = self.on, self.beside, self.on.h
        if not h:
            return
        es, e0, i0, rs, j0, cs = area
        blocks = triton.cdiv(rs, BI)
        uses = (self.call.p0 is not None, self.call.p1 is not None)
        bh = min(power_of_two(h, 64), 128) // 2 if on.additive else min(power_of_two(h, 32), 128)
        wide = triton.cdiv(h, 2 * bh if on.additive else bh)
        splits = max(1, min(BUSY // (blocks * wide), triton.cdiv(cs, 64)))
        sums = [
            fresh(splits, es if use else 0, blocks, h, dtype=torch.float64, device=dq.device)
            for use in uses
        ]
        parts = fresh(splits, es, rs, h, dtype=torch.float32, device=dq.device)
        ends = (self.n, self.m, h, beside.per_mask, on.heads, e0, i0, rs, j0, cs)
        limits = (beside.lo, beside.hi, slopes)
        rows = {"BI": BI, "BJ": BJ, "BH": bh, "num_warps": bh // 32}
        keys = {"BI": KI, "BJ": KJ, "BH": bh, "num_warps": bh // 32}
        for tile in (rows, keys):
            tile["SPANS"] = beside.flags["SPANS"]
        rows_grid = (es * blocks * splits * wide,)
        keys_grid = (es * triton.cdiv(cs, KJ) * wide,)
        if on.additive:
            given = (on.q_rows, on.k_rows, on.p0, on.kind, *limits)
            additive.pull_rows[rows_grid](*given, parts, sums[0], *ends, es, splits, **rows)
            additive.pull_keys[keys_grid](*given, dk, *ends, **keys)
        else:
            given = (on.q_rows, on.k_rows, on.p0, on.p1, *limits)
            wanted = {"TO_P0": uses[0], "TO_P1": uses[1]}
            on.kernels.pull_rows[rows_grid](
                *given, parts, *sums, *ends, es, splits, **rows, **wanted
            )
            on.kernels.pull_keys[keys_grid](*given, dk, *ends, **keys)
        into = dq[e0 : e0 + es, i0 : i0 + rs]
        found = parts[0] if splits == 1 else parts.sum(0)
        into.copy_(found) if j0 == 0 else into.add_(found)
        if not any(uses):
            return
        # a product with zeros and ones: adding by index would add in any order
        whose = torch.arange(e0, e0 + es, device=dq.device) % on.heads
        gather = (whose == torch.arange(on.heads, device=dq.device)[:, None]).double()
        for i, total in enumerate(sums):
            if uses[i]:
                dp[i] += gather @ total.sum((0, 2))


BI, BJ = 4, 8  # rows and keys of a tile whose slopes are pulled to the queries
KI, KJ = 8, 4  # and to the keys


def _along(ds: Tensor, table: Tensor) -> Tensor:
    """Sums of ds [B, n, m] along its diagonals, for each table."""
    n, m = ds.shape[1:]
    i = torch.arange(n, device=ds.device)[:, None]
    j = torch.arange(n + m - 1, device=ds.device) - (n - 1) + i
    there = (j >= 0) & (j < m)
    taken = ds.gather(2, j.clamp(0, m - 1).expand(ds.shape[0], -1, -1))
    return _for(table, torch.where(there, taken, 0).sum(1))


def _for(p: Tensor, total: Tensor) -> Tensor:
    """The sums of all heads for a parameter that some of them share."""
    heads = p.shape[0]
    return total.reshape(total.shape[0] // heads, heads, total.shape[1]).sum(0)

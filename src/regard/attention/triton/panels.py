"""The gradients of a sum over features on the GPU, a bounded panel of pairs at a time."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import triton
from torch import Tensor

from regard.attention import gpu
from regard.attention.call import Call
from regard.attention.triton import memory, operands, pull
from regard.attention.triton.beside import EXACT, beside_of, for_parameter, power_of_two
from regard.attention.triton.fusion import FUSED
from regard.attention.triton.operands import operands_of
from regard.attention.triton.small import is_small, parameter_gradients

__all__ = ["Panels", "table_gradient"]

WIDE_PANEL = 4096  # keys of a panel, where it cannot have them all
PANEL = 5 << 20  # pairs whose weights and slopes exist at once
BUSY = 1024  # blocks of threads that keep a GPU busy
BI, BJ = 4, 8  # rows and keys of a tile whose slopes are pulled to the queries
KI, KJ = 8, 4  # and to the keys
# pairs of an entry, up to which the slopes of tanh are divided to half a unit (up to ``CAREFUL``
# each by itself), and weights and the loss's likes meet values with all their digits
FINE = 1 << 20
ALIGNED = 4  # numbers: the compiler is told where memory begins at a multiple of 16 bytes
BLOCK = 128  # rows, and keys, of a block that pulls the additive score's to both
PI, PJ = 8, 4  # of them, half the rows of a tile, and its keys
STEP = 2  # the first of these, where there are few queries: a translator's next word has one
# of them, whose sum float32 may hold (up to ``CAREFUL`` only a tile's): the sums of groups keep
# what they round off
GROUP = 32
SPREAD = 256  # rows whose weights a block spreads over the values


def table_gradient(call: Call, lse: Tensor, dout: Tensor) -> Tensor | None:
    """The gradient of a bias by distance, whatever the score: it adds slopes along diagonals."""
    if call.table is None:
        return None
    if is_small(call):
        return parameter_gradients(call, dout)[2]
    return Panels(call, lse, dout).table()


class Panels:
    """The gradients of a sum over features, a bounded panel of pairs at a time."""

    def __init__(self, call: Call, lse: Tensor, dout: Tensor | None) -> None:
        self.call, self.lse = call, lse
        self.beside, self.on = beside_of(call), operands_of(call, rows=dout is not None)
        self.v = call.v.detach().float()
        self.dout = self.v if dout is None else dout.float().contiguous()
        self.batch, self.n = call.q.shape[:2]
        self.m, self.f = call.v.shape[1:]

    def _weigh(self, weights: Tensor, area: tuple[int, ...]) -> None:
        on, beside = self.on, self.beside
        entries, e_first, i_first, i_count, j_first, j_count = area
        if on.fours:
            self._weigh_by_fours(weights, area)
        tile = operands.score_tile(self.call)
        programs = entries * triton.cdiv(i_count, tile["BM"]) * triton.cdiv(j_count, tile["BN"])
        flags = {name: flag for name, flag in beside.flags.items() if name != "DROP"}
        on.kernels.weigh[(programs,)](
            *(on.q, on.k, on.p0, on.p1, on.kind, beside.table, beside.lo, beside.hi, beside.dense),
            *(self.lse, weights, *beside.dense_strides, self.n, self.m, *on.wide, on.h),
            *(beside.per_mask, beside.per_dense, beside.tables, on.heads, self.call.scale),
            *(e_first, i_first, i_count, j_first, j_count),
            **flags,
            **tile,
            SUM=on.score_kind,
            **FUSED,
        )

    def _weigh_by_fours(self, weights: Tensor, area: tuple[int, ...]) -> None:
        from regard.attention.triton import fours  # noqa: PLC0415 - not every Triton has its language

        on, beside = self.on, self.beside
        entries, e_first, i_first, i_count, j_first, j_count = area
        blocks = triton.cdiv(i_count, fours.ROWS.value) * triton.cdiv(j_count, fours.KEYS.value)
        fours.weigh[(entries * blocks,)](
            *(on.q, on.k, on.p0, on.kind, beside.table, beside.lo, beside.hi, beside.dense),
            *(self.lse, weights, *beside.dense_strides, self.n, self.m, *on.wide, on.h),
            *(beside.per_mask, beside.per_dense, beside.tables, on.heads, self.call.scale),
            *(e_first, i_first, i_count, j_first, j_count),
            **{name: flag for name, flag in beside.flags.items() if name != "DROP"},
            **fours.LAUNCH,
            **FUSED,
        )

    def weights(self, rows: slice, cols: slice) -> Tensor:
        """A panel of weights."""
        i_count, j_count = rows.stop - rows.start, cols.stop - cols.start
        weights = memory.fresh(
            self.batch, i_count, j_count, dtype=torch.float32, device=self.v.device
        )
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
            PRECISION=self._precision(),
            num_stages=1,
            **FUSED,
        )

    def _is_fine(self) -> bool:
        return self.n * self.m <= FINE

    def _precision(self) -> str:
        """Of products with values: all digits, or 22 bits and twice as fast."""
        return EXACT if self._is_fine() else "tf32x3"

    def _tally(self, weights: Tensor, likes: Tensor, sums: Tensor, area: tuple[int, ...]) -> None:
        entries, e_first, i_first, i_count, _, j_count = area
        self.on.kernels.tally[(entries * triton.cdiv(i_count, 4),)](
            *(weights, likes, sums, self.n, e_first, i_first, i_count, j_count),
            BM=4,
            BN=512,
            **FUSED,
        )

    def _plan(self) -> tuple[int, int, int]:
        """Entries, rows and keys of a panel: all keys if it can be, or the mean takes a pass."""
        keys = self.m if self.m <= 2 * WIDE_PANEL else WIDE_PANEL
        # from n and m alone: how a sum is cut must not depend on who else is in the batch
        rows = min(self.n, max(64, min(1024, PANEL // keys // 64 * 64)))
        entries = max(1, min(self.batch, PANEL // (rows * keys)))
        return entries, rows, keys

    def _pieces(self) -> Iterator[list[tuple[int, ...]]]:
        """For some rows of some entries, the panels that have all their keys."""
        entries, rows, keys = self._plan()
        for e0 in range(0, self.batch, entries):
            es = min(entries, self.batch - e0)
            for i0 in range(0, self.n, rows):
                rs = min(rows, self.n - i0)
                yield [
                    (es, e0, i0, rs, j0, min(keys, self.m - j0)) for j0 in range(0, self.m, keys)
                ]

    def _slopes(self) -> Iterator[tuple[Tensor, Tensor, tuple[int, ...]]]:
        """Panel by panel: what dropout leaves of the weights, the scores' slopes, and where."""
        device = self.v.device
        entries, rows, keys = self._plan()
        room = triton.cdiv(entries * rows * keys, ALIGNED) * ALIGNED
        panels = memory.fresh(2, room, dtype=torch.float32, device=device)
        weights, slopes = panels[0], panels[1]
        sums = torch.zeros(self.batch, self.n, 2, dtype=torch.float64, device=device)
        for areas in self._pieces():
            for area in areas:
                self._weigh_and_like(weights, slopes, area)
                self._tally(weights, slopes, sums, area)
            for area in areas:
                if len(areas) > 1:  # the mean took a pass over all keys: once more
                    self._weigh_and_like(weights, slopes, area)
                self._settle(weights, slopes, sums, area)
                yield weights, slopes, area

    def gradients(
        self,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None, Tensor | None]:
        """Of q, k, v, p0, p1 and the table."""
        call, on, device = self.call, self.on, self.v.device
        width, dtype = call.q.shape[2], call.q.dtype
        dq = memory.fresh(self.batch, self.n, on.row_width, dtype=torch.float32, device=device)
        dk, dv = call.k.new_empty(call.k.shape), call.v.new_empty(call.v.shape)
        dp = torch.zeros(2, self.batch, on.row_width, dtype=torch.float64, device=device)
        dtable = self._no_table()
        to_keys, to_values = self._rooms()
        for weights, slopes, area in self._slopes():
            self._add_along(slopes, dtable, area)
            self._spread(weights, to_values, area)
            self._pull(weights, slopes, dq, to_keys, dp, area)
            es, e0, i0, rs, j0, cs = area
            if i0 + rs == self.n and j0 + cs == self.m:  # these entries are done
                dk[e0 : e0 + es] = to_keys.sum(0)[:es, :, :width] * call.scale
                dv[e0 : e0 + es] = to_values.sum(0)[:es]
                if e0 + es < self.batch:
                    to_keys.zero_()
                    to_values.zero_()
        dq = dq[..., :width] * call.scale
        # a product with zeros and ones: adding by index would add in any order
        whose = torch.arange(self.batch, device=device) % on.heads
        gather = (whose == torch.arange(on.heads, device=device)[:, None]).double()
        by_head = (gather @ dp)[..., :width] * call.scale
        p0, p1 = (
            None if p is None else for_parameter(p, by_head[i])
            for i, p in enumerate((call.p0, call.p1))
        )
        if is_small(call):
            p0, p1, dtable = parameter_gradients(call, self.dout)
        return dq.to(dtype), dk, dv, p0, p1, dtable

    def _rooms(self) -> tuple[Tensor, Tensor]:
        """Where panels add up what they send to the keys and values of some entries, in parts."""
        entries, rows, keys = self._plan()
        of_keys = triton.cdiv(rows, BLOCK) if self.on.additive and keys == self.m else 1
        sizes = ((of_keys, self.on.row_width), (triton.cdiv(rows, SPREAD), self.f))
        to_keys, to_values = (
            torch.zeros(parts, entries, self.m, w, dtype=torch.float64, device=self.v.device)
            for parts, w in sizes
        )
        return to_keys, to_values

    def table(self) -> Tensor | None:
        """The gradient of the table alone."""
        dtable = self._no_table()
        for _, slopes, area in self._slopes():
            self._add_along(slopes, dtable, area)
        return dtable

    def _no_table(self) -> Tensor | None:
        """Zeros to add to, or nothing if there is no table, or another way to its gradient."""
        table = self.call.table
        if table is None or is_small(self.call):
            return None
        return torch.zeros(table.shape, dtype=torch.float64, device=table.device)

    def _settle(self, weights: Tensor, slopes: Tensor, sums: Tensor, area: tuple[int, ...]) -> None:
        """Likes to slopes."""
        on, beside = self.on, self.beside
        entries, e_first, i_first, i_count, j_first, j_count = area
        on.kernels.settle[(entries * triton.cdiv(i_count, 4) * triton.cdiv(j_count, 512),)](
            *(weights, slopes, sums, beside.seed, self.n, beside.least, beside.keep_scale),
            *(e_first, i_first, i_count, j_first, j_count),
            BM=4,
            BN=512,
            DROP=beside.flags["DROP"],
            **FUSED,
        )

    def _add_along(self, slopes: Tensor, dtable: Tensor | None, area: tuple[int, ...]) -> None:
        """The slopes to the bias."""
        on, beside = self.on, self.beside
        entries, e_first, i_first, i_count, j_first, j_count = area
        if dtable is not None:
            on.kernels.along[(triton.cdiv(self.n + self.m - 1, 128), dtable.shape[0])](
                *(slopes, dtable, self.n, self.m, e_first, entries, i_first, i_count),
                *(j_first, j_count, beside.tables),
                WIDTH=128,
                **FUSED,
            )

    def _spread(self, weights: Tensor, dv: Tensor, area: tuple[int, ...]) -> None:
        """The weights to the values."""
        parts, fine, width = triton.cdiv(area[3], SPREAD), self._is_fine(), power_of_two(self.f)
        side = max(16, min(64, 64 * 64 // width)) if fine else 64  # there are two sums then
        widest = 128 if gpu.is_little(self.v.device) else 256  # beyond, one tile has room
        self.on.kernels.spread[(area[0] * triton.cdiv(area[5], side) * parts,)](
            *(weights, self.dout, dv, self.n, self.m, self.f, parts, dv.shape[1], *area[1:]),
            ROWS=SPREAD,
            BM=32,
            BN=side,
            DV=width,
            PRECISION=self._precision(),
            FINE=fine,
            num_warps=4,
            num_stages=1 if width > widest else 2,
            **FUSED,
        )

    def _pull(
        self,
        weights: Tensor,
        slopes: Tensor,
        dq: Tensor,
        dk: Tensor,
        dp: Tensor,
        area: tuple[int, ...],
    ) -> None:
        """The slopes to q, k and the parameters; nobody needs the weights any more."""
        if not self.on.h:
            return
        if self.on.additive:
            parts, sums = self._pull_additive(weights, slopes, dk, area)
        else:
            parts, sums = self._pull_features(slopes, dk, area)
        es, e0, i0, rs, j0, _ = area
        into = dq[e0 : e0 + es, i0 : i0 + rs]
        if j0 == 0:
            torch.sum(parts[:, :es], 0, out=into)
        else:
            into += parts[:, :es].sum(0)
        for i, total in enumerate(sums):
            if total.numel():
                dp[i, e0 : e0 + es] += total[:, :es].sum((0, 2))

    def _pull_additive(
        self, weights: Tensor, slopes: Tensor, dk: Tensor, area: tuple[int, ...]
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """To q and to w in parts, to k at once."""
        on, beside, device = self.on, self.beside, dk.device
        es, e0, i0, rs, j0, cs = area
        entries, width = dk.shape[1], on.row_width
        blocks, parts = triton.cdiv(rs, BLOCK), triton.cdiv(cs, BLOCK)
        pairs = self.n * self.m
        bh = min(width, operands.LARGEST)
        sums = memory.fresh(parts, entries, blocks, width, dtype=torch.float64, device=device)
        room = parts * entries * rs * width
        if room <= weights.numel():
            dq = weights[:room].view(parts, entries, rs, width)
        else:
            dq = memory.fresh(parts, entries, rs, width, dtype=torch.float32, device=device)
        whole = cs == self.m
        into = dk if whole else dk.new_zeros(blocks, entries, cs, width)
        pull.pull[(es * blocks * parts * (width // bh),)](
            *(on.q_rows, on.k_rows, on.p0, on.kind, beside.lo, beside.hi, slopes, dq, into, sums),
            *(self.n, self.m, on.h, beside.per_mask, on.heads, e0, i0, rs, j0, cs, entries, 0),
            SPANS=beside.flags["SPANS"],
            FEW=on.few,
            FINE=(pairs <= FINE) + (pairs <= operands.CAREFUL),
            EVEN=rs % BLOCK == 0 and cs % BLOCK == 0,
            H=width,
            BI=STEP if self.n <= 2 * STEP else PI,
            BJ=PJ,
            BH=bh,
            ROWS=BLOCK,
            KEYS=BLOCK,
            GROUP=PJ if pairs <= operands.CAREFUL else GROUP,
            num_warps=bh // 32,
            **FUSED,
        )
        if not whole:
            dk[0, :, j0 : j0 + cs] += into.sum(0)
        return dq, (sums,)

    def _pull_features(
        self, slopes: Tensor, dk: Tensor, area: tuple[int, ...]
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """To q and to the parameters in parts, to k at once."""
        on, beside, h, device = self.on, self.beside, self.on.h, dk.device
        es, e0, i0, rs, j0, cs = area
        blocks = triton.cdiv(rs, BI)
        uses = (self.call.p0 is not None, self.call.p1 is not None)
        bh = min(power_of_two(h, 32), operands.LARGEST)
        wide = triton.cdiv(h, bh)
        splits = max(1, min(BUSY // (blocks * wide), triton.cdiv(cs, 64)))
        sums = tuple(
            memory.fresh(splits, es if use else 0, blocks, h, dtype=torch.float64, device=device)
            for use in uses
        )
        dq = memory.fresh(splits, es, rs, h, dtype=torch.float32, device=device)
        ends = (self.n, self.m, h, beside.per_mask, on.heads, e0, i0, rs, j0, cs)
        given = (on.q_rows, on.k_rows, on.p0, on.p1, beside.lo, beside.hi, slopes)
        shared = {"SPANS": beside.flags["SPANS"], "FEW": on.few, "BH": bh, "num_warps": bh // 32}
        shared |= FUSED
        on.kernels.pull_rows[(es * blocks * splits * wide,)](
            *(*given, dq, *sums, *ends, es, splits),
            BI=BI,
            BJ=BJ,
            TO_P0=uses[0],
            TO_P1=uses[1],
            **shared,
        )
        on.kernels.pull_keys[(es * triton.cdiv(cs, KJ) * wide,)](
            *given, dk, *ends, BI=KI, BJ=KJ, **shared
        )
        return dq, sums

"""From a call to kernels that look: normalisers first, then whatever is asked of the weights."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import torch
import triton
from torch import Tensor

from regard.attention import gpu
from regard.attention.call import Call
from regard.attention.triton import looking, memory, sums
from regard.attention.triton.beside import COLUMNS, EXACT, LOG2E, beside_of, power_of_two
from regard.attention.triton.dot import LINEAR, positive, scaled, widened
from regard.attention.triton.fusion import FUSED
from regard.attention.triton.launch import normalisers
from regard.attention.triton.panels import Panels

__all__ = ["Look"]


class Look:
    """The weights of a call on the GPU: q, k, score and mask; normalisers once, where needed."""

    def __init__(self, call: Call) -> None:
        self.linear = call.phi in LINEAR
        self.call = widened(call, values=False) if self.linear else call
        self.batch, self.n = call.q.shape[:2]
        self.m = call.m

    @cached_property
    def lse(self) -> Tensor:
        """The rows' normalisers, [B, n]."""
        return normalisers(self.call)

    def _given(
        self, bm: int, bn: int, *, lse: bool = True
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], dict[str, Any]]:
        """Operands, strides and sizes, and constants of a kernel."""
        call, beside = self.call, beside_of(self.call)
        q, _ = scaled(call)
        flags = {name: flag for name, flag in beside.flags.items() if name != "DROP"}
        operands: tuple[Any, ...] = (q, call.k, beside.table, beside.lo, beside.hi, beside.dense)
        if lse:
            operands = (*operands, self.lse)
        rest = (
            *(*q.stride(), *call.k.stride(), *beside.dense_strides, self.n, self.m, q.shape[2]),
            *(beside.per_mask, beside.per_dense, beside.tables, positive(call) * LOG2E),
        )
        constants = {
            **flags,
            "BM": bm,
            "BN": bn,
            "D": power_of_two(q.shape[2], COLUMNS),
            "WIDE": q.dtype == torch.float32,
            "NEGATIVE": call.scale < 0,
            "PRECISION": EXACT,
            **FUSED,
        }
        return operands, rest, constants

    def _side(self) -> int:
        """Of a tile that is square: what fits."""
        width = power_of_two(self.call.q.shape[2])
        if width > 256 and gpu.is_little(self.call.q.device):  # noqa: PLR2004
            return 16
        return 64 if width <= 128 else 32  # noqa: PLR2004

    def weights(self, rows: slice, cols: slice) -> Tensor:
        """Some of the weights, [B, rows, cols] in float32."""
        if not self.linear:
            return Panels(self.call, self.lse, None).weights(rows, cols)
        i_count, j_count = rows.stop - rows.start, cols.stop - cols.start
        out = memory.fresh(
            self.batch, i_count, j_count, dtype=torch.float32, device=self.lse.device
        )
        side = self._side()
        if out.numel():
            operands, rest, constants = self._given(side, side)
            looking.rectangle[
                (self.batch * triton.cdiv(i_count, side) * triton.cdiv(j_count, side),)
            ](*operands, out, *rest, rows.start, i_count, cols.start, j_count, **constants)
        return out

    def entropy(self) -> Tensor:
        """The entropy of each row, [B, n] in float32."""
        if not self.linear:
            return sums.forward(self.call, values=False, entropy=True)[0].squeeze(-1)
        out = memory.fresh(self.batch, self.n, dtype=torch.float32, device=self.lse.device)
        side = self._side()
        operands, rest, constants = self._given(side, side)
        if self.call.q.element_size() * constants["D"] > 256:  # noqa: PLR2004 - bytes; no room for more
            constants["num_stages"] = 1
        looking.entropies[(self.batch * triton.cdiv(self.n, side),)](
            *operands, out, *rest, **constants
        )
        return out

    def received(self) -> Tensor | None:
        """The sum of the weights on each key, [B, m] in float64; None: add up panels."""
        if not self.linear:
            return None
        out = memory.fresh(self.batch, self.m, dtype=torch.float64, device=self.lse.device)
        side = self._side()
        operands, rest, constants = self._given(side, side)
        looking.received[(self.batch * triton.cdiv(self.m, side),)](
            *operands, out, *rest, **constants
        )
        return out

    def overview(self, height: int, width: int, reduce: str) -> Tensor | None:
        """Sums or maxima over a grid of cells, [B, height, width]; None: reduce panels.

        A tile belongs to one cell, so it pays where cells are at least about as large as tiles.
        """
        if not self.linear or self.m < FEWEST * width:
            return None
        if self._in_one_sweep(height, width):
            return self._swept(height, width, reduce)
        bm, bn, stages = self._tile_of_cells()
        blocks = triton.cdiv(triton.cdiv(self.n, height), bm)
        programs = self.batch * height * blocks
        splits = min(max(BUSY // programs, 1), width)
        partial = memory.fresh(
            self.batch, height, blocks, width, dtype=torch.float32, device=self.lse.device
        )
        operands, rest, constants = self._given(bm, bn)
        looking.overview[(programs * splits,)](
            *(*operands, partial, *rest, height, width, blocks, splits),
            **constants,
            MASS=reduce == "mass",
            num_stages=stages,
        )
        return partial.double().sum(2) if reduce == "mass" else partial.amax(2)

    def _tile_of_cells(self) -> tuple[int, int, int]:
        """Rows, keys and stages of a tile that shared memory has room for."""
        width, side = power_of_two(self.call.q.shape[2]), self._side()
        if gpu.is_little(self.lse.device):
            return side, side, 1
        if width <= 64:  # noqa: PLR2004
            return 128, 64, 3
        return side, side, 3 if width <= 128 else 1  # noqa: PLR2004

    def _in_one_sweep(self, height: int, width: int) -> bool:
        """Whether cells are whole tiles, and rows enough to fill a GPU without splitting keys.

        In half precision alone: what a cell has is kept in float32, which to float32 is a loss.
        """
        d = power_of_two(self.call.q.shape[2])
        return (
            self.call.q.dtype != torch.float32
            and d <= NARROW
            and self.n % height == 0
            and self.m % (width * SWEEP_KEYS) == 0
            and self.m // (width * SWEEP_KEYS) <= MOST_TILES
            and self.batch * triton.cdiv(self.n, SWEEP_ROWS) >= BUSY // 4
        )

    def _swept(self, height: int, width: int, reduce: str) -> Tensor:
        """Normalisers and cells from one pass over the scores, some rows of cells at a time.

        Where no key is hidden and nothing is added to a score, that pass is quicker, and the other
        does again what it could not do.
        """
        tall, device = self.n // height, self.call.q.device
        grid = memory.fresh(self.batch, height, width, dtype=torch.float64, device=device)
        at_once = min(max(SCRATCH // (self.batch * width * tall), 1), height)  # rows of cells
        operands, rest, constants = self._given(SWEEP_ROWS, SWEEP_KEYS, lse=False)
        (q, k, *_), (*_, scale) = operands, rest
        beside = {name: constants.pop(name) for name in BESIDE}
        del constants["WIDE"]
        constants |= {"EVEN": constants["D"] == q.shape[2], "MASS": reduce == "mass"}
        bare = not any(beside.values())
        # how a row's sum is cut follows from its own entry, not from how many are looked at
        splits = min(max(UNITS // triton.cdiv(self.n, SWEEP_ROWS), 1), width)
        for start in range(0, height, at_once):
            some = min(at_once, height - start)
            count = some * tall
            programs = self.batch * triton.cdiv(count, SWEEP_ROWS)
            norms = memory.fresh(self.batch, count, dtype=torch.float32, device=device)
            totals = memory.fresh(self.batch, splits, count, dtype=torch.float32, device=device)
            cells = memory.fresh(self.batch, width, count, dtype=torch.float32, device=device)
            if bare:
                looking.skim[(programs * splits,)](
                    *(q, k, norms, totals, cells, *q.stride(), *k.stride(), q.shape[2], scale),
                    *(start * tall, count, width, splits),
                    **{**constants, "BN": SKIM_KEYS},
                    EACH=self.m // (width * SKIM_KEYS),
                    num_warps=SKIM_WARPS,
                    num_stages=3,
                )
                looking.joined[(self.batch * triton.cdiv(count, 256),)](
                    *(norms, totals, count, splits), ROWS=256, **FUSED
                )
            looking.sweep[(programs,)](
                *(*operands, norms, cells, *rest, start * tall, count, width),
                **constants,
                **beside,
                EACH=self.m // (width * SWEEP_KEYS),
                AGAIN=bare,
                num_warps=SWEEP_WARPS,
                num_stages=3,
            )
            part = memory.fresh(self.batch, some, width, dtype=torch.float64, device=device)
            looking.gather[(self.batch * some * triton.cdiv(width, GATHERED),)](
                *(cells, norms, part, count, width, tall, some),
                WIDTH=GATHERED,
                ROWS=128,
                MASS=reduce == "mass",
                **FUSED,
            )
            grid[:, start : start + some] = part
        return grid


FEWEST = 32  # keys a cell must have
BUSY = 1024  # blocks of threads that keep a GPU busy
SWEEP_ROWS, SWEEP_KEYS, SWEEP_WARPS = 128, 128, 8  # tiles of the pass that sees scores once
SKIM_KEYS, SKIM_WARPS = 64, 4  # of the quicker one; cells are whole tiles of both
UNITS = 16384  # blocks of threads of that one: few and long ones end at different times
NARROW = 64  # features up to which such a tile fits
MOST_TILES = 4  # a cell's, all of them written out in the loop
SCRATCH = 1 << 26  # numbers kept of a part of the rows: 256 MiB
GATHERED = 16  # cells a block of threads adds up
BESIDE = ("SPANS", "NOT_SELF", "DENSE", "TABLE")  # what hides keys, or adds to scores

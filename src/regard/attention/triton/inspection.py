"""From a call to kernels that look: normalisers first, then whatever is asked of the weights."""

from __future__ import annotations

from typing import Any

import torch
import triton
from torch import Tensor

from regard.attention.call import Call
from regard.attention.triton import looking, memory, sums
from regard.attention.triton.beside import EXACT, LOG2E, beside_of, power_of_two
from regard.attention.triton.dot import LINEAR, positive, scaled
from regard.attention.triton.launch import normalisers
from regard.attention.triton.panels import Panels

__all__ = ["Look"]


class Look:
    """The weights of a call on the GPU: q, k, score and mask, and the normalisers, found once."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.linear = call.phi in LINEAR
        self.batch, self.n = call.q.shape[:2]
        self.m = call.m
        self.lse = normalisers(call)

    def _given(self, bm: int, bn: int) -> tuple[tuple[Any, ...], tuple[Any, ...], dict[str, Any]]:
        """Operands, strides and sizes, and constants of a kernel."""
        call, beside = self.call, beside_of(self.call)
        q, _ = scaled(call)
        flags = {name: flag for name, flag in beside.flags.items() if name != "DROP"}
        operands = (q, call.k, beside.table, beside.lo, beside.hi, beside.dense, self.lse)
        rest = (
            *(*q.stride(), *call.k.stride(), *beside.dense_strides, self.n, self.m, q.shape[2]),
            *(beside.per_mask, beside.per_dense, beside.tables, positive(call) * LOG2E),
        )
        constants = {
            **flags,
            "BM": bm,
            "BN": bn,
            "D": power_of_two(q.shape[2]),
            "WIDE": q.dtype == torch.float32,
            "NEGATIVE": call.scale < 0,
            "PRECISION": EXACT,
        }
        return operands, rest, constants

    def _side(self) -> int:
        """Of a tile that is square: what fits."""
        return 64 if power_of_two(self.call.q.shape[2]) <= 128 else 32  # noqa: PLR2004

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
        bm, bn = (128, 64) if power_of_two(self.call.q.shape[2]) <= 64 else (64, 64)  # noqa: PLR2004
        if self.n % (height * bm) == 0 and self.m % (width * bn) == 0:
            return self._whole_tiles(height, width, reduce, bm, bn)
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
            num_stages=3,
        )
        return partial.double().sum(2) if reduce == "mass" else partial.amax(2)

    def _whole_tiles(self, height: int, width: int, reduce: str, bm: int, bn: int) -> Tensor:
        """The same where every cell is made of whole tiles: theirs first, then the cells'."""
        tall, wide = self.n // bm, self.m // bn
        partial = memory.fresh(self.batch, tall, wide, dtype=torch.float32, device=self.lse.device)
        splits = min(max(BUSY // (self.batch * tall), 1), wide)
        operands, rest, constants = self._given(bm, bn)
        looking.tile_sums[(self.batch * tall * splits,)](
            *(*operands, partial, *rest, splits),
            **constants,
            MASS=reduce == "mass",
            num_warps=4,
            num_stages=3,
        )
        cells = partial.view(self.batch, height, tall // height, width, wide // width)
        return cells.double().sum((2, 4)) if reduce == "mass" else cells.amax((2, 4))


FEWEST = 32  # keys a cell must have
BUSY = 1024  # blocks of threads that keep a GPU busy

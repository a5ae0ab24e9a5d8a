"""A part of the weights in a small grid of cells: sums or maxima over runs of queries and keys."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.errors import KindError, ValueRangeError

__all__ = ["Grid", "Reduce", "RowsOfWeights", "check_pooling", "pooled", "span_of"]

Reduce = Literal["mass", "max"]

LONG = 32  # keys of a cell


class RowsOfWeights(Protocol):
    """Whatever gives rows of weights, some at a time."""

    @property
    def entries(self) -> int:
        """How many batch entries."""

    @property
    def n(self) -> int:
        """How many queries."""

    @property
    def m(self) -> int:
        """How many keys."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""

    def blocks(
        self, start: int = 0, stop: int | None = None, step: int = 1
    ) -> Iterator[tuple[int, Float[Tensor, "B r m"]]]:
        """Every step-th row from start to stop: how many came before, and the next ones."""

    def whole(self, height: int, width: int, reduce: Reduce) -> Tensor | None:
        """Sums or maxima over a grid of cells, if there is a faster way than by rows."""


def span_of(name: str, piece: slice, size: int) -> tuple[int, int]:
    """First and last + 1 of the positions that a slice means, or what is wrong with it."""
    if not isinstance(piece, slice):
        msg = (
            f"{name} must be a slice, got {type(piece).__name__}; for one line use slice(i, i + 1)"
        )
        raise KindError(msg)
    start, stop, step = piece.indices(size)
    if step != 1:
        msg = f"{name} must be a slice with step 1, got step {step}"
        raise ValueRangeError(msg)
    return start, max(start, stop)


def check_pooling(cells: int, reduce: str, every: int = 1) -> None:
    """Raise unless these say how to pool."""
    for name, value in (("cells", cells), ("every", every)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            msg = f"{name} must be an integer of at least 1, got {value!r}"
            raise ValueRangeError(msg)
    if reduce not in ("mass", "max"):
        msg = f"reduce must be 'mass' or 'max', got {reduce!r}"
        raise ValueRangeError(msg)


def pooled(
    source: RowsOfWeights,
    rows: slice,
    cols: slice,
    *,
    cells: int,
    reduce: Reduce,
    every: int = 1,
) -> Float[Tensor, "B r c"]:
    """A part of the weights in a small grid, as ``overview`` has it."""
    check_pooling(cells, reduce, every)
    (first, last), (left, right) = (
        span_of(name, piece, size)
        for name, piece, size in (("rows", rows, source.n), ("cols", cols, source.m))
    )
    height, width = min(last - first, cells), min(right - left, cells)
    if every > 1 and every > (last - first) // max(height, 1):
        msg = (
            f"every must be at most {(last - first) // max(height, 1)}, the queries that a row of "
            f"cells has at least, got {every}"
        )
        raise ValueRangeError(msg)
    if not source.entries * height * width:
        return torch.zeros(source.entries, height, width, device=source.device)
    grid = Grid((last - first, right - left), cells, reduce, every, source.device)
    everything = every == 1 and (last - first, right - left) == (source.n, source.m)
    whole = source.whole(height, width, reduce) if everything else None
    if whole is not None:
        return grid.averaged(whole)
    for done, w in source.blocks(first + every // 2, last, every):
        grid.add(done, w[..., left:right])
    return grid.values


class Grid:
    """Cells that fill as rows of weights come, every so many-th from the middle of the first on.

    Args:
        size: how many queries and keys there are.
        cells: how many cells a side at most.
        reduce: as ``overview`` has it.
        every: of the queries, how far those that come are apart.
        device: where the weights are.

    """

    def __init__(
        self, size: tuple[int, int], cells: int, reduce: Reduce, every: int, device: torch.device
    ) -> None:
        self.reduce = reduce
        self._size, self._cells, self._every, self._device = size, cells, every, device
        self._shape = tuple(min(x, cells) for x in size)
        self._grid: Tensor | None = None

    @cached_property
    def _row_of(self) -> Tensor:
        """The row of cells of each query that comes."""
        rows = _cells(self._size[0], self._cells, self._device)
        return rows[self._every // 2 :: self._every]  # from the middle: no cell leans to its start

    @cached_property
    def _col_of(self) -> Tensor:
        return _cells(self._size[1], self._cells, self._device)

    def add(self, done: int, w: Float[Tensor, "B r m"]) -> None:
        """More rows, after so many."""
        here = self._row_of[done : done + w.shape[1]]
        narrow = _narrowed(w, self._col_of, self._shape[1], self.reduce)
        if self.reduce == "mass":
            narrow = narrow.double()
        if self._grid is None:
            none = 0.0 if self.reduce == "mass" else -torch.inf  # weights of one's own may be < 0
            self._grid = narrow.new_full((w.shape[0], *self._shape), none)
        if self.reduce == "mass":
            self._grid.index_add_(1, here, narrow)
        else:
            self._grid.scatter_reduce_(1, here[:, None].expand_as(narrow), narrow, "amax")

    @property
    def values(self) -> Float[Tensor, "B r c"]:
        """The cells, when all rows have come."""
        assert self._grid is not None  # there is a row
        return self.averaged(self._grid)

    def averaged(self, grid: Tensor) -> Tensor:
        """Of the average query, where sums were made."""
        if self.reduce == "max":
            return grid
        height = self._shape[0]
        if self._every == 1 and self._size[0] % height == 0:
            return grid / (self._size[0] // height)
        # they are in order, so where each cell begins tells how many it has: torch.bincount would
        # have Python wait for a GPU
        first = torch.arange(height + 1, device=self._device)
        begins = torch.searchsorted(self._row_of.contiguous(), first)
        return grid / begins.diff()[:, None]


def _cells(size: int, cells: int, device: torch.device) -> Tensor:
    """Which cell each of ``size`` positions falls in: runs as equal as can be."""
    here = torch.arange(size, device=device)
    return here if size <= cells else here * cells // size


def _narrowed(w: Tensor, col_of: Tensor, width: int, reduce: str) -> Tensor:
    """[B, r, c] to [B, r, width]."""
    m = w.shape[-1]
    if width == m:
        return w
    if m % width == 0:  # equal runs: a reshape, several times as fast as scattering
        runs = w.reshape(*w.shape[:-1], width, m // width)
        return runs.sum(-1) if reduce == "mass" else runs.amax(-1)
    if m >= LONG * width and w.device.type == "cpu":  # long runs: the same
        join = np.add if reduce == "mass" else np.maximum
        starts = -(-np.arange(width) * m // width)
        return torch.from_numpy(join.reduceat(w.numpy(), starts, axis=-1))
    if reduce == "mass":
        return w.new_zeros(*w.shape[:-1], width).index_add_(-1, col_of, w)
    out = w.new_full((*w.shape[:-1], width), -torch.inf)
    return out.scatter_reduce_(-1, col_of.expand_as(w), w, "amax")

"""The points of one feature in order, as the exact algorithms for one feature need them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.attention.cpu.threads import share
from regard.regression.sums.base import Array, Found, Kind
from regard.regression.sums.order_loops import (
    all_count,
    gather,
    is_ordered,
    pack,
    place,
    scatter,
    unpack,
)

__all__ = ["CHUNK", "Index", "Points", "arrange", "as_found"]

Index = NDArray[np.int64]
_FEW = 2048  # points up to which numpy finds their order as fast
CHUNK = 8192  # queries a unit of work: the same for any number of threads, so sums are too


def arrange(x: Array) -> tuple[Array, Index | None]:
    """The points of [n] in order, and where each was; None where they were in order.

    Numbers are sorted several times as fast as their order is found. So place in the range and
    index are packed into one integer, that is sorted, and neighbours too close for the packed place
    are mended by insertion; where that would take long, numpy finds the order.
    """
    if is_ordered(x):
        return x, None
    if x.size > _FEW:
        packed = np.empty(x.size, np.int64)
        if pack(x, packed):
            packed.sort()
            out = np.empty_like(x)
            if unpack(x, packed, out):
                return out, packed
    order = np.argsort(x)
    return x[order], order


class Points:
    """Points x [n] in order, with their columns [n, c].

    Those without weight are left out: they are nowhere, and nobody's nearest.
    """

    def __init__(self, x: Array, columns: Array) -> None:
        self.n = len(x)
        self._kept: Index | None = None
        if not all_count(columns):
            self._kept = np.flatnonzero(columns[:, 0] > 0)
            x, columns = x[self._kept], columns[self._kept]
        self.x, self._order = arrange(np.ascontiguousarray(x[:, 0]))
        self.columns = np.ascontiguousarray(columns)
        if self._order is not None:
            self.columns = np.empty(columns.shape)
            gather(columns, self._order, self.columns)

    def place(self, q: Array, limit: float, *, width: float = 1.0, closed: bool) -> Index:
        """Of sorted q, the first point with (x - q) / width above ``limit``, or on it if closed."""
        out = np.empty(q.size, np.int64)
        share(
            lambda first, step: place(first, step, CHUNK, self.x, q, width, limit, closed, out),
            -(-q.size // CHUNK),
        )
        return out

    def around_itself(self, q: Array, order: Index | None) -> tuple[Index, Index]:
        """Where the points before each query's own end, and where those after it begin.

        The queries are the data as they came, put into order by ``order``.
        """
        itself = np.full(self.n, -1)
        kept = np.arange(self.n) if self._kept is None else self._kept
        itself[kept if self._order is None else kept[self._order]] = np.arange(kept.size)
        if order is not None:
            itself = itself[order]
        if self._kept is None:
            return itself, itself + 1
        between = self.place(q, 0.0, closed=True)
        return np.where(itself < 0, between, itself), np.where(itself < 0, between, itself + 1)


def as_found(
    sums: Array, have: list[Kind], kinds: Sequence[Kind], order: Index | None, log_scale: Array
) -> Found:
    """From sums [m, have, c] at sorted queries to what was asked for, in the order it was."""
    if order is not None:
        out, scale = np.empty_like(sums), np.empty_like(log_scale)
        scatter(sums, order, out)
        scale[order] = log_scale
        sums, log_scale = out, scale
    found: dict[Kind, Array] = {}
    for kind in kinds:
        one = sums[:, have.index(kind)]
        found[kind] = one if kind == "k" else one[:, :, None]
    return Found(found, log_scale)

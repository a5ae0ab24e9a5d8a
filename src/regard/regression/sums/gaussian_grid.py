"""Gaussian sums in two or three features in linear time: moments, translation, polynomial.

With boxes of side r widths, t the vector between the centres of two boxes, s and v the offsets of a
query and of a point from theirs, and G = exp(-|.|^2 / 2),

    sum over j of c_j G(t + s - v_j)  =  sum over a, b of  G^(a+b)(t) / (a! b!) s^a  M_b,
    M_b = sum over j of c_j (-v_j)^b

so a pass over the data makes the moments M of every box, one matrix product an axis makes of all
moments the coefficients of s^a in every box, and a pass over the queries evaluates. Slopes are
slopes of the polynomial: u K = -G', u^2 K = G'' + G.

The error is known in each box, before any query: of a point t away it is below
``series_error`` * exp(-|t|^2 / 4). A query whose sum of weights is not far above it (in empty
space, or where a point left out was nearly all there was) is summed by the tree, which is slower
and right everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.attention.cpu.threads import share
from regard.regression.sums import grid_loops as loops
from regard.regression.sums.base import Array, Found, Kind, Sums
from regard.regression.sums.tree import Tree

__all__ = ["GaussianGrid", "series_error"]

SIDES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4)
ORDERS = range(3, 35)
# Of the tolerance, what the series may take of a point in the same box. The rest is for what lies
# around it, and for queries up to three or four widths outside the data.
SERIES = 1 / 50
ROUNDING = 1e-15  # of the sums over the orders, a share of the weights around; measured 3e-16
MOST = 1 << 25  # numbers in the polynomials: 256 MB, and twice as much again while they are made
CELLS = 1 << 20  # boxes along an axis, empty ones included
CHUNKS = 8  # parts in which points are sorted into boxes


def _degree_error(side: float, degree: int, d: int, slopes: int) -> float:
    if degree <= slopes:
        return math.inf
    reach = side * math.sqrt(d) / 2
    left = degree - slopes
    growth = left * math.log(1.15 * reach) - math.lgamma(left + 1) / 2
    return (4 + slopes * slopes) * math.exp(growth + (1.5 + slopes / 2) * reach * reach)


def _size_error(side: float, size: int, d: int, slopes: int) -> float:
    """One axis at a time; the others are at most exp(side^2 / 2) of their bound each."""
    return d * math.exp((d - 1) * side * side / 2) * _degree_error(side, size, 1, slopes)


def series_error(side: float, size: int, degree: int, d: int, slopes: int = 0) -> float:
    """A bound of the terms left out, times exp(|t|^2 / 4).

    Those are the powers of ``size`` and more along an axis, and of ``degree`` and more in all;
    ``side`` in widths, for the ``slopes``-th derivative. The form is that of Cramer's inequality
    for Hermite functions, the constants are fitted from above.
    """
    return _degree_error(side, degree, d, slopes) + _size_error(side, size, d, slopes)


@lru_cache
def _orders(side: float, d: int, slopes: int, error: float) -> tuple[int, int] | None:
    """The least size and degree for an error: corners of a box need the degree, not the size."""
    size = next((p for p in ORDERS if _size_error(side, p, d, slopes) <= error / 2), None)
    degree = next((p for p in ORDERS if _degree_error(side, p, d, slopes) <= error / 2), None)
    return None if size is None or degree is None else (size, max(size, degree))


@lru_cache
def _terms(size: int, degree: int, d: int) -> int:
    """How many powers are kept."""
    if d == 1:
        return min(size, degree)
    return sum(_terms(size, degree - e, d - 1) for e in range(min(size, degree)))


def _toeplitz(side: float, size: int, targets: int, reach: int) -> Array:
    """From the moments of targets + 2 reach boxes to the coefficients of those in the middle.

    [(targets + 2 reach) * size, targets * size].
    """
    t = side * np.arange(-reach, reach + 1.0)
    slopes = np.empty((2 * size, t.size))  # of exp(-t^2 / 2)
    slopes[0] = np.exp(-t * t / 2)
    slopes[1] = -t * slopes[0]
    for n in range(2, 2 * size):
        slopes[n] = -t * slopes[n - 1] - (n - 1) * slopes[n - 2]
    a = np.arange(size)
    factorial = np.array([math.factorial(i) for i in range(size)], float)
    sign = np.where(a % 2, -1.0, 1.0)
    blocks = slopes[a[:, None] + a] * (sign / factorial)[:, None, None] / factorial[:, None]
    matrix = np.zeros((targets + 2 * reach, size, targets, size))
    for i in range(targets):
        # the source at position p lies p - reach - i boxes above the target i
        matrix[i : i + 2 * reach + 1, :, i] = blocks[:, :, ::-1].transpose(2, 0, 1)
    return matrix.reshape((targets + 2 * reach) * size, targets * size)


def _translate(given: Array, count: int, side: float, size: int, reach: int) -> Array:
    """Moments [count * size, rest] as coefficients [rest, count * size] along one axis."""
    reach = min(reach, count - 1)
    targets = count if count <= 2 * reach else max(reach // 2, 4)
    targets = min(targets, count)
    matrix = _toeplitz(side, size, targets, reach)
    found = np.empty((given.shape[1], count * size))
    for low in range(0, count, targets):
        high = min(low + targets, count)
        begin, end = max(low - reach, 0), min(high + reach, count)
        skipped = (begin - (low - reach)) * size
        rows = matrix[skipped : skipped + (end - begin) * size, : (high - low) * size]
        np.matmul(given[begin * size : end * size].T, rows, out=found[:, low * size : high * size])
    return found


class _Axis(NamedTuple):
    """Boxes along one axis; empty stretches that no query can see across are left out."""

    low: float
    side: float  # in the units of x
    lookup: NDArray[np.int64]  # of a cell: its box, or -1
    centres: Array


def _axis(x: Array, k: int, low: float, high: float, side: float, reach: int) -> _Axis:
    cells = int((high - low) / side) + 1
    occupied = np.zeros(cells, np.bool_)
    loops.occupy(x, k, low, 1 / side, occupied)
    at = np.flatnonzero(occupied)
    # as far as the translation reaches from either end of a stretch, so that none sees both
    near = np.zeros(cells + 1, np.int64)
    np.add.at(near, np.maximum(at - reach, 0), 1)
    np.add.at(near, np.minimum(at + reach + 1, cells), -1)
    kept = np.cumsum(near[:-1]) > 0
    cut = np.flatnonzero(~kept[:-1] & kept[1:]) + 1  # one empty box stands between
    kept[cut - 1] = True
    lookup = np.where(kept, np.cumsum(kept) - 1, -1)
    centres: Array = low + (np.flatnonzero(kept) + 0.5) * np.float64(side)
    return _Axis(low, side, lookup, centres)


class _Sorted(NamedTuple):
    """Points in the order of their boxes."""

    order: NDArray[np.int32]
    starts: NDArray[np.int64]  # one more than boxes; behind the last are those in no box


class _Plan(NamedTuple):
    """How fine, how far, and what it costs, in units of a multiplication."""

    side: float
    size: int
    degree: int
    cost: float


class _Grid:
    """Boxes over the data, and the polynomial of every column in each."""

    def __init__(
        self, x: Array, columns: Array, width: Array, plan: _Plan, reach: float, slopes: int
    ) -> None:
        d = x.shape[1]
        side, size, degree = plan.side, plan.size, plan.degree
        far = math.ceil(reach / side)
        low, high = loops.bounds(x)
        low, high = low - side / 2 * width, high + side / 2 * width  # queries just outside
        self.axes = [
            _axis(x, k, float(low[k]), float(high[k]), side * float(width[k]), far)
            for k in range(d)
        ]
        self.inverse = 1.0 / width
        counts = [1] * (3 - d) + [a.centres.size for a in self.axes]
        self.boxes = math.prod(counts)
        self.centres = np.zeros((3, max(counts)))
        for k, axis in enumerate(self.axes):
            self.centres[3 - d + k, : axis.centres.size] = axis.centres
        cells = max(a.lookup.size for a in self.axes)
        self.lookup = np.full((d, cells), -1)
        for k, axis in enumerate(self.axes):
            self.lookup[k, : axis.lookup.size] = axis.lookup
        self.sizes = np.array([[a.lookup.size, a.centres.size] for a in self.axes])
        where = self.place(x)
        c = columns.shape[1]
        shape = (*counts[: 3 - d], *[1] * (3 - d), *(i for j in counts[3 - d :] for i in (j, size)))
        self.shape = (counts[1], counts[2], size, degree)
        self.local = np.empty((self.boxes, c, _terms(size, degree, d)))
        for col in range(c):
            self._fill(x, columns, col, where, np.zeros(shape), plan, far)
        # what may be wrong in each box, whatever the query
        weight = np.zeros(self.boxes)
        filled = np.flatnonzero(np.diff(where.starts[:-1]))
        weight[filled] = np.add.reduceat(columns[where.order, 0], where.starts[filled])
        around = weight.reshape(counts)
        for k, count in enumerate(counts):
            around = _blurred(around, k, side, min(far, count - 1))
        share_lost = series_error(side, size, degree, d, slopes) + ROUNDING
        cut = math.exp(-((far * side) ** 2) / 2)
        if slopes:
            cut *= (far * side) ** 2
        self.error = share_lost * around.ravel() + cut * weight.sum()

    def _fill(
        self,
        x: Array,
        columns: Array,
        col: int,
        where: _Sorted,
        total: Array,
        plan: _Plan,
        far: int,
    ) -> None:
        """One column's moments, translated along every axis; one at a time for the memory."""
        shape, size, degree = total.shape, plan.size, plan.degree
        share(
            lambda first, step: loops.moments(
                *(first, step, where.starts[:-1], where.order, x, columns, col, self.inverse),
                *(self.centres, degree, total),
            ),
            self.boxes,
        )
        moved = total
        for axis in self.axes:
            count = axis.centres.size
            moved = _translate(moved.reshape(count * size, -1), count, plan.side, size, far)
        moved = moved.reshape(shape)
        share(
            lambda first, step: loops.pack(first, step, moved, degree, col, self.local),
            self.boxes,
        )

    def place(self, x: Array) -> _Sorted:
        """Sort points by box."""
        n = x.shape[0]
        low = np.array([a.low for a in self.axes])
        per_side = np.array([1 / a.side for a in self.axes])
        chunks = max(min(CHUNKS, n // 1024, (1 << 24) // (self.boxes + 1)), 1)
        chunk = -(-n // chunks)
        box = np.empty(n, np.int32)
        counts = np.zeros((chunks, self.boxes + 1), np.int64)
        share(
            lambda first, step: loops.assign(
                *(first, step, chunk, x, low, per_side, self.lookup, self.sizes),
                *(self.boxes, box, counts),
            ),
            chunks,
        )
        before = np.concatenate([[0], np.cumsum(counts.T.ravel())])
        offsets = np.ascontiguousarray(before[:-1].reshape(-1, chunks).T)
        starts = np.append(offsets[0], n)
        order = np.empty(n, np.int32)
        share(
            lambda first, step: loops.scatter(first, step, chunk, box, offsets, order),
            chunks,
        )
        return _Sorted(order, starts)


def _blurred(weight: Array, axis: int, side: float, reach: int) -> Array:
    """Sums along an axis with exp(-t^2 / 4), t the least distance of two boxes."""
    moved = np.moveaxis(weight, axis, 0)
    found = moved.copy()
    for j in range(1, reach + 1):
        factor = math.exp(-(((j - 1) * side) ** 2) / 4)
        found[j:] += factor * moved[:-j]
        found[:-j] += factor * moved[j:]
    return np.moveaxis(found, 0, axis)


class GaussianGrid(Sums):
    """K = exp(-|u|^2 / 2) in two or three features, one width a feature.

    Linear in points and queries where the data are dense against the width; where they are not, and
    far from them, the points that count are found by a tree, a few hundred a query. A point of
    weight 0 is no point. The boxes take at most 768 MB while they are made, a third of it after; a
    grid that would need more is not made, and the tree does all.
    """

    def __init__(self, x: Array, columns: Array, width: Array, tol: float = 1e-9) -> None:
        kept = columns[:, 0] > 0
        self._kept = None if kept.all() else np.flatnonzero(kept)
        if self._kept is not None:
            x, columns = x[self._kept], columns[self._kept]
        self._x = np.ascontiguousarray(x, np.float64)
        self._columns = np.ascontiguousarray(columns, np.float64)
        self._width = np.ascontiguousarray(width, np.float64)
        self._tol = max(tol, 1e-14)
        self._grids: dict[int, _Grid] = {}
        self._tree_made: Tree | None = None
        self._plans: dict[int, tuple[_Plan | None, float]] = {}

    @property
    def _tree(self) -> Tree:
        if self._tree_made is None:
            self._tree_made = Tree(self._x, self._columns, self._width, self._tol)
        return self._tree_made

    def _reach(self) -> float:
        """Beyond this many widths all points together are below the tolerance of one."""
        weights = self._columns[:, 0]
        return math.sqrt(2 * math.log(100 * float(weights.sum() / weights.mean()) / self._tol))

    def _plan(self, slopes: int) -> tuple[_Plan | None, float]:
        """The cheapest grid for as many queries as points, and the tree's cost of a query."""
        if slopes not in self._plans:
            self._plans[slopes] = self._planned(slopes)
        return self._plans[slopes]

    def _planned(self, slopes: int) -> tuple[_Plan | None, float]:
        n, d = self._x.shape
        c = self._columns.shape[1]
        low, high = loops.bounds(self._x)
        spread = (high - low) / self._width
        reach = self._reach()
        some = self._x[:: max(n // 2000, 1)] / self._width
        few = some[:: max(len(some) // 50, 1)]
        apart = ((few[:, None] - some) ** 2).sum(-1)
        seen = n * float((apart < reach * reach).mean())
        tree = 2e4 + seen * (30.0 + 5 * d + 5 * c) * (1 + slopes)
        best = None
        # a centre is rounded as the numbers are: far from the origin that is an error of u
        if float((np.maximum(-low, high) / self._width).max()) * 2e-15 > self._tol:
            return None, tree
        if max(spread) >= CELLS * min(SIDES):
            return None, tree
        lengths = [
            _axis(
                *(self._x, k, float(low[k]), float(high[k]), float(self._width[k])),
                math.ceil(reach),
            ).centres.size
            if spread[k] > 2 * reach  # or there is nothing to leave out
            else float(spread[k])
            for k in range(d)
        ]
        for side in SIDES:
            orders = _orders(side, d, slopes, self._tol * SERIES)
            if orders is None:
                continue
            size, degree = orders
            cells = [length / side + 2 for length in lengths]
            numbers = math.prod(cells) * float(size) ** d
            terms = _terms(size, degree, d)
            if max(numbers, math.prod(cells) * terms * c) > MOST:
                continue
            band = sum(min(cell, 2.5 * reach / side + 1) for cell in cells)
            terms += 4 * size ** (d - 1)
            lanes = n + min(n, math.prod(cells)) * loops.LANES / 2
            cost = lanes * (100 + 1.5 * c * terms * (2 + slopes * d))
            cost += c * numbers * (band * size + 50)
            if best is None or cost < best.cost:
                best = _Plan(side, size, degree, cost)
        return best, tree

    def _cheaper(self, plan: _Plan, tree: float, m: int) -> bool:
        """Whether the boxes are, for so many queries; not a matter of what was asked before."""
        n = len(self._x)
        return (n + m) / (2 * n) * plan.cost < m * tree

    def at(self, q: Array, kinds: Sequence[Kind] = ("k",), *, leave_out: bool = False) -> Found:
        q = np.ascontiguousarray(q, np.float64)
        m, d = q.shape
        n, c = self._columns.shape
        once = any(kind in {"uk", "dk"} for kind in kinds)
        twice = any(kind in {"uuk", "udk"} for kind in kinds)
        k = np.zeros((m, c))
        uk = np.zeros((m, c, d) if once else (m, 0, 0))
        uuk = np.zeros((m, c, d) if twice else (m, 0, 0))
        log_scale = np.zeros(m)
        if n and m:
            own = self._own(m) if leave_out else np.empty(0, np.int64)
            sure = self._by_grid(q, own, (k, uk, uuk), 2 if twice else int(once))
            rest = np.flatnonzero(~sure)
            if rest.size:
                skip = own
                if leave_out:
                    skip = np.where(own >= 0, self._tree.position[own], -1)
                self._tree.add(q, rest, skip, (k, uk, uuk), log_scale)
        made: dict[Kind, Array] = {"k": k, "uk": uk, "uuk": uuk}
        if "dk" in kinds:
            made["dk"] = -uk
        if "udk" in kinds:
            made["udk"] = -uuk
        return Found({kind: made[kind] for kind in kinds}, log_scale)

    def _own(self, m: int) -> NDArray[np.int64]:
        """Each query's own point among those kept, or -1."""
        if self._kept is None:
            return np.arange(m)
        own = np.full(m, -1)
        own[self._kept] = np.arange(self._kept.size)
        return own

    def _by_grid(
        self,
        q: Array,
        own: NDArray[np.int64],
        sums: tuple[Array, Array, Array],
        slopes: int,
    ) -> NDArray[np.bool_]:
        """The sums of the queries for which the boxes are good enough, and which these are."""
        m, c = len(q), self._columns.shape[1]
        sure = np.zeros(m, np.bool_)
        plan, tree = self._plan(slopes)
        if plan is None or not self._cheaper(plan, tree, m):
            return sure
        if slopes not in self._grids:
            self._grids[slopes] = _Grid(
                self._x, self._columns, self._width, plan, self._reach(), slopes
            )
        grid = self._grids[slopes]
        where = grid.place(q)
        parts = np.zeros((0, c))
        if own.size:
            parts = np.where((own >= 0)[:, None], self._columns[own], 0.0)
        once, twice = bool(sums[1].size), bool(sums[2].size)
        least = 2 * grid.error / self._tol
        share(
            lambda first, step: loops.evaluate(
                *(first, step, where.starts, where.order, q, grid.inverse, grid.centres),
                *(*grid.shape, grid.local, least, parts, once, twice, sure, *sums),
            ),
            grid.boxes,
        )
        return sure

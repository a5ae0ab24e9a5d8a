"""Kernels with an edge, in one feature: exact sums by a sweep over sorted points.

The piecewise polynomial kernels and the cosine have windows whose sums follow from a few moments of
the points in them. How, and why nothing cancels, stands with the loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from regard.attention.cpu.threads import share
from regard.regression.sums import sweep_loops as loops
from regard.regression.sums.base import Array, Found, Kind, Sums
from regard.regression.sums.line import CHUNK, Index, Points, arrange, as_found

__all__ = ["CompactLine"]

_CODES = {
    "boxcar": 0,
    "triangular": 1,
    "epanechnikov": 2,
    "biweight": 3,
    "triweight": 4,
    "tricube": 5,
    "cosine": 6,
}
# K(u) for u from 0 to 1, by powers of u
_POWERS: dict[str, list[float]] = {
    "boxcar": [1],
    "triangular": [1, -1],
    "epanechnikov": [1, 0, -1],
    "biweight": [1, 0, -2, 0, 1],
    "triweight": [1, 0, -3, 0, 3, 0, -1],
    "tricube": [1, 0, 0, -3, 0, 0, 3, 0, 0, -1],
}
_KINDS: dict[Kind, tuple[int, int]] = {  # the slope of K or K, times which power of u
    "k": (0, 0),
    "uk": (0, 1),
    "uuk": (0, 2),
    "dk": (1, 0),
    "udk": (1, 1),
}
_CORNERS = ("triangular", "epanechnikov", "cosine")  # where the slope jumps: at 1, or at 0 too
_SIDES = ("triangular", "tricube")  # other polynomials left of 0 than right of it
_ORDERS = {"boxcar": 0, "biweight": 2, "triweight": 3, "tricube": 3}  # of the zero at the edge
_LOW = ("boxcar", "epanechnikov")  # of low degree: wide groups lose no digits
# how wide groups of queries are, in widths; then, where digits go, again, at last one by one
_SPANS = (0.99, *(2.0**-power for power in range(5, 40, 5)), 0.0)
_NARROW = {"triweight": 0.5, "tricube": 0.5}  # of high degree: far from the centre digits go
_WIDE = 1.9  # below 2, so that the windows of a group share a point's place whatever the rounding
_Bounds = tuple[Index, Index, Index, Index]


class CompactLine(Sums):
    """Sums of a kernel with an edge over points of one feature, in O(n log n).

    Exact but for rounding, whatever ``tol``. A window without points gives sums of exactly 0.

    Args:
        x: [n, 1], the data.
        columns: [n, c], the first the weights.
        width: [1].
        tol: not needed.
        kernel: boxcar, triangular, epanechnikov, biweight, triweight, tricube or cosine.

    """

    def __init__(self, x: Array, columns: Array, width: Array, tol: float, *, kernel: str) -> None:
        self._kernel = str(getattr(kernel, "name", kernel))
        self._width = float(width[0])
        self._points = Points(x, columns)

    def at(self, q: Array, kinds: Sequence[Kind] = ("k",), *, leave_out: bool = False) -> Found:
        """Sums at q; the log_scale is 0 throughout."""
        q, order = arrange(np.ascontiguousarray(q[:, 0]))
        have: list[Kind] = ["k", *dict.fromkeys(kind for kind in kinds if kind != "k")]
        bounds = self._bounds(q, order, leave_out=leave_out)
        inner = bounds
        if self._kernel in _CORNERS and ("dk" in kinds or "udk" in kinds):
            inner = self._between_corners(q, bounds)
        slopes: list[Kind] = [kind for kind in have if kind in {"dk", "udk"}]
        if all(map(np.array_equal, inner, bounds)):  # no point stands just there
            sums = self._sweep(q, have, bounds)
        else:
            values = [kind for kind in have if kind not in slopes]
            sums = self._sweep(q, values, bounds)
            sums = np.concatenate([sums, self._sweep(q, ["k", *slopes], inner)[:, 1:]], axis=1)
            have = values + slopes
        return as_found(sums, have, kinds, order, np.zeros(q.size))

    def _bounds(self, q: Array, order: Index | None, *, leave_out: bool) -> _Bounds:
        lo, hi = self._place(q, -1.0, closed=True), self._place(q, 1.0, closed=False)
        if leave_out:
            return lo, *self._points.around_itself(q, order), hi
        if self._kernel in _SIDES:
            middle = self._place(q, 0.0, closed=True)
            return lo, middle, middle, hi
        return lo, hi, hi, hi

    def _between_corners(self, q: Array, bounds: _Bounds) -> _Bounds:
        """The bounds without points where K has a corner: K' has two values there, and counts 0."""
        lo, hi = self._place(q, -1.0, closed=False), self._place(q, 1.0, closed=True)
        _, left, right, end = bounds
        if self._kernel == "triangular":
            return lo, self._place(q, 0.0, closed=True), self._place(q, 0.0, closed=False), hi
        if right is end:
            return lo, hi, hi, hi
        return lo, left, right, hi

    def _place(self, q: Array, limit: float, *, closed: bool) -> Index:
        return self._points.place(q, limit, width=self._width, closed=closed)

    def _sweep(self, q: Array, kinds: list[Kind], bounds: _Bounds) -> Array:
        """Sums [m, kinds, columns] at sorted queries; again, in finer groups, where digits go."""
        sums, again = self._group(q, kinds, bounds, _SPANS[0], at_edge=False)
        todo = np.flatnonzero(again)
        for span in _SPANS[1:]:
            if todo.size == 0:
                break
            lo, left, right, hi = (bound[todo] for bound in bounds)
            if bounds[2] is bounds[3]:  # either side about its own middle: between edges is neither
                left = right = self._place(q[todo], 0.0, closed=True)
            sums[todo], again = self._group(
                q[todo], kinds, (lo, left, right, hi), span, at_edge=True
            )
            todo = todo[again]
        return sums

    def _group(
        self, q: Array, kinds: list[Kind], bounds: _Bounds, span: float, *, at_edge: bool
    ) -> tuple[Array, NDArray[np.bool_]]:
        """The sums, by groups of queries ``span`` wide, and which of them want digits."""
        sums = np.zeros((q.size, len(kinds), self._points.columns.shape[1]))
        again = np.zeros(q.size, np.bool_)
        if q.size == 0:
            return sums, again
        lo, left, right, hi = bounds
        halves = 1 if right is hi else 2
        fold = halves == 1 and self._kernel in _LOW
        reach = _WIDE if fold else min(span, _NARROW.get(self._kernel, 1.0))
        tables, degrees = _tables(self._kernel, kinds)
        codes = np.array([_KINDS[kind] for kind in kinds])
        # what windows share is summed once a unit: not many units where it is most of all
        wide = max(int(np.mean(hi[::64] - lo[::64])), 1)
        units = min(-(-q.size // CHUNK), max(8, 4 * self._points.x.size // wide))
        size = -(-q.size // units)
        share(
            lambda first, step: loops.sweep(
                first, step, size, _CODES[self._kernel], _ORDERS.get(self._kernel, 1), tables,
                degrees, codes, reach, fold, at_edge, self._points.x, self._points.columns, q,
                self._width, lo, left, right, hi, halves, sums, again,
            ),
            units,
        )  # fmt: skip
        return sums, again


def _tables(kernel: str, kinds: list[Kind]) -> tuple[Array, NDArray[np.int64]]:
    """F(v - t) as [form, kind, power of t, power of v or w], and degrees.

    The forms: for u above 0; below 0; by w = 1 - v, the distance from the edge, for u above 0; by
    w = 1 + v, for u below 0.
    """
    if kernel == "cosine":  # cos and sin for each power
        return np.zeros((4, 1, 1, 1)), np.array([2 * _KINDS[kind][1] + 1 for kind in kinds])
    tables = np.zeros((4, len(kinds), 12, 12))
    degrees = []
    for at, (slope, power) in enumerate(_KINDS[kind] for kind in kinds):
        for form, sign in enumerate((1, -1, 1, -1)):
            k = Polynomial([c * sign**i for i, c in enumerate(_POWERS[kernel])])
            f = (k.deriv() if slope else k) * Polynomial([0, 1]) ** power
            turn = -1  # what t is multiplied with, beside v or w
            if form > 1:
                f, turn = f(Polynomial([sign, -sign])), sign
            for i, c in enumerate(f.coef):
                for p in range(i + 1):
                    tables[form, at, p, i - p] = round(c) * comb(i, p) * turn**p
        degrees.append(len(f.coef) - 1)
    return tables, np.array(degrees)

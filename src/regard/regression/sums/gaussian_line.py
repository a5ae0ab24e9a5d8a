"""Gaussian sums over one feature, in linear time, to a tolerance that each query checks.

The line is cut into boxes of r widths. One pass over the points takes moments of each box, one over
pairs of boxes turns them into a polynomial for each box, one over the queries evaluates it
(Greengard and Strain's fast Gauss transform, with Chebyshev polynomials in place of Taylor's; see
``gaussian_table`` for the formulas). With P moments and polynomials of P powers that is
O((n + m) P + boxes P^2 / r).

Where it is right. The error of the polynomial of box b is at most

    E[b] = sum over boxes of error[distance] * weight of the box + exp(-R^2 / 2) * all weight,

R the reach in widths. A column is at most Y times the weights, Y the largest |column / first|, so
its sum is off by at most Y E, the first by E, and their ratio by 2 Y E / D, D the first sum. A
query takes the polynomial when D >= 2 E[b] / tol, for E of all kinds asked. D is what it has just
computed, without itself where it is left out: the test costs one comparison, and it assumes nothing
about where the data lie or how their weights differ.

All other queries, in gaps, far outside, or alone with themselves, are summed over the points in
their window, relative to the nearest one (``gaussian_loops.windows``): there the error is relative
to each term. They are sorted, and neighbours share a pass over their window. Where boxes would be
too many for the points, or their positions too rounded, the tails of the data get none; or there
are no boxes at all, and all queries go that way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from regard.attention.cpu.threads import share
from regard.regression.sums import gaussian_loops as loops
from regard.regression.sums import stretch_loops
from regard.regression.sums.base import Array, Found, Kind, LeftOut, Sums
from regard.regression.sums.gaussian_table import REACH, candidates, table
from regard.regression.sums.line import arrange
from regard.regression.sums.order_loops import ends, is_ordered

__all__ = ["GaussianLine"]

_FINEST = 1e-13
_ORDER = {"k": 0, "uk": 1, "uuk": 2, "dk": 1, "udk": 2}
_SIGN = {"k": 1.0, "uk": 1.0, "uuk": 1.0, "dk": -1.0, "udk": -1.0}
_MARGIN = 3.0  # widths beyond the data that still have boxes
_MIDDLE = 1000  # points, from which on some of them say where most are
_ALONE = 1 << 14  # rows below which other threads would start too late to help
_NOBODY: NDArray[np.int64] = np.empty(0, np.int64)
_T = TypeVar("_T")


class GaussianLine(Sums):
    """K(u) = exp(-u^2 / 2) in one feature.

    The error of a sum, as a share of the largest |column / first column| and of the first ``k``, is
    at most tol, times 1 + z for ``uk`` and ``dk`` and 1 + z^2 for ``uuk`` and ``udk`` where the
    nearest point is z widths away. Below 1e-13 it is 1e-13; rounding adds some 1e-16 times the root
    of the number of points that are added up.

    x that is sorted is not sorted again, should that be needed, and is summed in a third of the
    time.

    Args:
        x: as in Sums.
        columns: as in Sums; or, with ``plain``, without the first.
        width: as in Sums.
        tol: as in Sums.
        plain: whether all weights are 1: then nobody has to write so many ones and read them.

    """

    def __init__(
        self, x: Array, columns: Array, width: Array, tol: float, *, plain: bool = False
    ) -> None:
        self._x = np.ascontiguousarray(x[:, 0], np.float64)
        self._columns = np.ascontiguousarray(columns.T, np.float64)  # [c, n], or one fewer
        self._plain = int(plain)
        self._count = len(self._columns) + self._plain
        self._width = float(width[0])
        self._tol = max(float(tol), _FINEST)
        self._in_order = is_ordered(self._x)
        self._sorted: _Sorted | None = None
        self._polynomials: dict[int, tuple[Array, Array]] = {}
        self._boxes = self._cut()
        if self._boxes:
            self._take_moments()

    def at(self, q: Array, kinds: Sequence[Kind] = ("k",), *, leave_out: bool = False) -> Found:
        q, m = np.ascontiguousarray(q[:, 0], np.float64), len(q)
        every: list[Kind] = ["k", *(kind for kind in kinds if kind != "k")]
        out = np.empty((len(every), m, self._count))
        log_scale = np.zeros(m)
        if self._boxes:
            refused = self._evaluate(q, every, out, leave_out=leave_out)
            rest = np.flatnonzero(np.isnan(out[0, :, 0])) if refused else _NOBODY
        else:
            rest = np.arange(m)
        if len(rest):
            own = rest if leave_out else None
            out[:, rest], log_scale[rest] = self._windows(q[rest], every, own)
        sums: dict[Kind, Array] = {}
        for kind, found in zip(every, out, strict=True):
            if kind in kinds:
                sums[kind] = found if kind == "k" else found[:, :, None]
        return Found(sums, log_scale)

    def averages(self, q: Array, middle: Array, level: Array) -> Array | None:
        if not self._boxes or self._count != 2:  # noqa: PLR2004 - the weights and one more
            return None
        q, out = np.ascontiguousarray(q[:, 0], np.float64), np.empty((len(q), 1))
        poly, least = self._polynomial(0)
        turned = np.ascontiguousarray(poly.transpose(0, 2, 1)[:, ::-1])
        refused = self._share(
            lambda first, last: loops.average(
                q, middle[0], level[0], first, last, self._origin, self._scale, turned,
                least / self._tol, out[:, 0],
            ),
            len(q),
        )  # fmt: skip
        if sum(refused):
            rest = np.flatnonzero(np.isnan(out[:, 0]))
            found, _ = self._windows(q[rest] - middle[0], ["k"])
            out[rest, 0] = found[0, :, 1] / found[0, :, 0] + level[0]
        return out

    def left_out(self) -> LeftOut | None:
        if not self._in_order:
            return None
        kinds: list[Kind] = ["k", "udk"]
        squares = slope = 0.0
        if not self._boxes:
            rest = np.arange(len(self._x))
        else:
            rest = np.empty(len(self._x), np.int64)
            poly, least = self._polynomials_of(kinds)
            found = self._share(
                lambda first, last: (
                    first,
                    *stretch_loops.left_out(
                        self._x, self._columns, self._plain, first, last,
                        self._origin, self._scale, poly, least, rest,
                    ),
                ),
                len(self._x),
            )  # fmt: skip
            squares, slope = (float(sum(part[i] for part in found)) for i in (1, 2))
            rest = np.concatenate([rest[first : first + n] for first, _, _, n in found])
        sums, log_scale = self._windows(self._x[rest], kinds, rest)
        k, udk = sums
        return LeftOut(squares, slope, rest, Found({"k": k, "udk": udk[:, :, None]}, log_scale))

    def _cut(self) -> int:
        """Choose boxes and degree by what they cost; 0 boxes where windows cost less."""
        n, c = len(self._x), self._count
        if n == 0:
            return 0
        reach = min(math.sqrt(2 * math.log(16 * n / self._tol)), REACH)
        best, without, boxes = math.inf, 0.0, 0
        each, slope = (2.0, 0.6) if self._in_order else (4.0, 1.5)  # ns a point, and a power
        # over all data, or over all but the tails: these may be so long that boxes do not pay
        for tails in (0.0, 0.03) if n >= _MIDDLE else (0.0,):
            some = self._x[:: max(n >> 10, 1)]
            low, high = map(float, np.quantile(some, (0.01, 0.99)) if tails else self._ends())
            spread = (high - low) / self._width
            # positions are rounded by about this many widths, and kernels by as much
            if not spread * 2.0**-52 <= self._tol / 2:
                continue
            windows = self._cost_of_windows(spread, reach)
            without = max(without, windows)  # most points are in the middle, and closer there
            for r, degree in candidates(self._tol):
                count = int((spread + 2 * _MARGIN) / r) + 2
                cost = n * c * (each + slope * degree) + tails * windows + 3e4
                cost += count * min(2 * reach / r, count) * degree**2 * c * 0.15
                if cost < best and count <= 8 * n + 1000:
                    best, boxes, self._r, self._degree = cost, count, r, degree
                    self._origin, self._tails = low - _MARGIN * self._width, tails > 0
        if best >= without:
            return 0
        self._reach, self._scale = reach, 1 / (self._r * self._width)
        return boxes

    def _ends(self) -> tuple[float, float]:
        if self._in_order:
            return self._x[0], self._x[-1]
        found = self._share(lambda first, last: ends(self._x, first, last), len(self._x))
        return min(low for low, _ in found), max(high for _, high in found)

    def _cost_of_windows(self, spread: float, reach: float) -> float:
        """In ns, for as many queries as points, spread evenly."""
        n, c = len(self._x), self._count
        pairs = min(n, n * 2 * reach / max(spread, reach))
        return n * (min(pairs * (1.5 + 0.5 * c), 800 * c) + 20 * math.log2(n + 1) + 100)

    def _share(self, run: Callable[[int, int], _T], rows: int) -> list[_T]:
        """What ``run(first, last)`` gives for one stretch of the rows a thread, in their order."""
        threads = 1 if rows < _ALONE else torch.get_num_threads()
        parts: dict[int, _T] = {}

        def one(first: int, step: int) -> None:
            parts[first] = run(rows * first // step, rows * (first + 1) // step)

        _run(one, threads)
        return [parts[i] for i in sorted(parts)]

    def _take_moments(self) -> None:
        add = stretch_loops.moments if self._in_order else loops.moments

        def run(first: int, last: int) -> Array:
            part = np.zeros((self._boxes, self._count, self._degree))
            add(
                self._x, self._columns, self._plain, first, last, self._origin, self._scale, part
            )  # fmt: skip
            return part

        self._moments, *others = self._share(run, len(self._x))
        for part in others:  # in this order, whoever came first
            self._moments += part

    def _polynomial(self, order: int) -> tuple[Array, Array]:
        """[boxes, c, P] for u^order K, and the least first sum it is good for."""
        if order in self._polynomials:
            return self._polynomials[order]
        power, error = table(self._r, self._degree, order)
        far = min(math.ceil(self._reach / self._r) + 1, len(error) - 1)
        c, boxes = self._count, self._boxes
        m = np.zeros((c, self._degree, boxes + 2 * far))
        m[:, :, far : far + boxes] = self._moments.transpose(1, 2, 0)
        out, wrong = np.empty((c, self._degree, boxes)), np.empty(boxes)
        tiles = -(-boxes // 256)

        def run(first: int, step: int) -> None:
            for tile in range(first, tiles, step):
                loops.translate(
                    power[: far + 1], error[: far + 1], (-1.0) ** order, m, m[0, 0],
                    tile * 256, min(tile * 256 + 256, boxes), out, wrong,
                )  # fmt: skip

        _run(run, tiles)
        beyond = (far - 1) * self._r
        everyone = self._total_weight() if self._tails else float(m[0, 0].sum())
        wrong += math.exp(-0.5 * beyond**2) * max(beyond, 1.0) ** order * everyone
        if self._tails:  # near the ends, points that are in no box are in reach
            wrong[: far + 1] = wrong[max(boxes - far - 1, 0) :] = np.inf
        self._polynomials[order] = np.ascontiguousarray(out.transpose(2, 0, 1)), 2 * wrong
        return self._polynomials[order]

    def _polynomials_of(self, kinds: list[Kind]) -> tuple[Array, Array]:
        """[boxes, kinds, c, P], and the least first sum all of them are good for."""
        found = [self._polynomial(_ORDER[kind]) for kind in kinds]
        poly = np.stack(
            [_SIGN[kind] * poly for kind, (poly, _) in zip(kinds, found, strict=True)], 1
        )
        return poly, np.max([wrong for _, wrong in found], 0) / self._tol

    def _evaluate(self, q: Array, kinds: list[Kind], out: Array, *, leave_out: bool) -> int:
        """Fill ``out`` by polynomials; how many queries must go another way."""
        poly, least = self._polynomials_of(kinds)
        return sum(
            self._share(
                lambda first, last: loops.evaluate(
                    q, self._columns, self._plain, leave_out, first, last,
                    self._origin, self._scale, poly, least, out,
                ),
                len(q),
            )
        )  # fmt: skip

    def _windows(
        self, q: Array, kinds: list[Kind], own: NDArray[np.int64] | None = None
    ) -> tuple[Array, Array]:
        """[kinds, m, c] at queries [m], by the points around them, and the logarithms of scale.

        ``own``: which point each query is, and leaves out.
        """
        m = len(q)
        out, log_scale = np.zeros((len(kinds), m, self._count)), np.zeros(m)
        points = self._arranged() if m else None
        if points is None or not len(points.x):
            return out, log_scale
        rank = _NOBODY if own is None else points.rank(own)
        which = np.arange(m)
        if not is_ordered(q):
            which = np.argsort(q)
            q, rank = q[which], rank if own is None else rank[which]
        terms = 3
        while math.e / math.factorial(terms) > self._tol / 10:
            terms += 1
        orders = np.array([_ORDER[kind] for kind in kinds])
        signs = np.array([_SIGN[kind] for kind in kinds])
        units = 1 if m < 64 else 8 * torch.get_num_threads()  # noqa: PLR2004 - as _ALONE

        def run(first: int, step: int) -> None:
            for unit in range(first, units, step):
                loops.windows(
                    points.x, points.columns, points.total, self._width, self._tol, q, which, rank,
                    m * unit // units, m * (unit + 1) // units, terms, orders, signs, out,
                    log_scale,
                )  # fmt: skip

        _run(run, units)
        return out, log_scale

    def _total_weight(self) -> float:
        return float(len(self._x)) if self._plain else float(self._columns[0].sum())

    def _arranged(self) -> _Sorted:
        """The points that count, in order."""
        if self._sorted is None:
            columns = self._columns
            if self._plain:
                columns = np.concatenate((np.ones((1, len(self._x))), columns))
            x, where = self._x, None
            if not (columns[0] > 0).all():
                where = np.flatnonzero(columns[0] > 0)
                x = x[where]
            if not self._in_order:
                x, by = arrange(x)
                where = by if where is None or by is None else where[by]
            if where is not None:
                columns = np.ascontiguousarray(columns[:, where])
            self._sorted = _Sorted(x, columns, where, len(self._x), float(columns[0].sum()))
        return self._sorted


class _Sorted(NamedTuple):
    """The points that count, in order."""

    x: Array
    columns: Array  # [c, n]
    where: NDArray[np.int64] | None  # they stood; None: here
    n: int  # of all points
    total: float  # weight

    def rank(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where points are in the order, by where they stood; -1 for those that do not count."""
        if self.where is None:
            return which
        found = np.full(self.n, -1)
        found[self.where] = np.arange(len(self.where))
        return found[which]


def _run(run: Callable[[int, int], None], units: int) -> None:
    """``share``, or at once where there is nothing to share."""
    if units == 1:
        run(0, 1)
    else:
        share(run, units)

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

import numpy as np
import torch
from numpy.typing import NDArray

from regard.attention.cpu.threads import share
from regard.regression.sums import gaussian_loops as loops
from regard.regression.sums.base import Array, Found, Kind, Sums
from regard.regression.sums.gaussian_table import REACH, candidates, table

__all__ = ["GaussianLine"]

_FINEST = 1e-13
_ORDER = {"k": 0, "uk": 1, "uuk": 2, "dk": 1, "udk": 2}
_SIGN = {"k": 1.0, "uk": 1.0, "uuk": 1.0, "dk": -1.0, "udk": -1.0}
_MARGIN = 3.0  # widths beyond the data that still have boxes
_MIDDLE = 1000  # points, from which on some of them say where most are
_ALONE = 1 << 14  # rows below which other threads would start too late to help
_NOBODY: NDArray[np.int64] = np.empty(0, np.int64)
_NOTHING: Array = np.empty((0, 0, 0))


class GaussianLine(Sums):
    """K(u) = exp(-u^2 / 2) in one feature.

    The error of a sum, as a share of the largest |column / first column| and of the first ``k``, is
    at most tol, times 1 + z for ``uk`` and ``dk`` and 1 + z^2 for ``uuk`` and ``udk`` where the
    nearest point is z widths away. Below 1e-13 it is 1e-13; rounding adds some 1e-16 times the root
    of the number of points that are added up.

    x that is sorted already is not sorted again, should that be needed.
    """

    def __init__(self, x: Array, columns: Array, width: Array, tol: float) -> None:
        self._x = np.ascontiguousarray(x[:, 0], np.float64)
        self._columns = np.ascontiguousarray(columns, np.float64)
        self._width = float(width[0])
        self._tol = max(float(tol), _FINEST)
        self._sorted: tuple[Array, Array, NDArray[np.int64], float] | None = None
        self._polynomials: dict[int, tuple[Array, Array]] = {}
        self._boxes = self._cut()
        if self._boxes:
            self._take_moments()

    def at(self, q: Array, kinds: Sequence[Kind] = ("k",), *, leave_out: bool = False) -> Found:
        q, m, c = np.ascontiguousarray(q[:, 0], np.float64), len(q), self._columns.shape[1]
        every: list[Kind] = ["k", *(kind for kind in kinds if kind != "k")]
        out = np.empty((len(every), m, c))
        log_scale = np.zeros(m)
        if self._boxes:
            refused = self._evaluate(q, every, out, leave_out=leave_out)
            rest = np.flatnonzero(np.isnan(out[0, :, 0])) if refused else _NOBODY
        else:
            rest = np.arange(m)
        if len(rest):
            self._sum_windows(q, rest, every, out, log_scale, leave_out=leave_out)
        sums: dict[Kind, Array] = {}
        for kind, found in zip(every, out, strict=True):
            if kind in kinds:
                sums[kind] = found if kind == "k" else found[:, :, None]
        return Found(sums, log_scale)

    def _cut(self) -> int:
        """Choose boxes and degree by what they cost; 0 boxes where windows cost less."""
        n, c = self._columns.shape
        if n == 0:
            return 0
        reach = min(math.sqrt(2 * math.log(16 * n / self._tol)), REACH)
        best, boxes = math.inf, 0
        # over all data, or over all but the tails, when these are so long that boxes do not pay
        for tails in (0.0, 0.03):
            if boxes or (tails and n < _MIDDLE):
                break
            some = self._x[:: max(n >> 10, 1)]
            ends = np.quantile(some, (0.01, 0.99)) if tails else (self._x.min(), self._x.max())
            low, high = map(float, ends)
            spread = (high - low) / self._width
            # positions are rounded by about this many widths, and kernels by as much
            if not spread * 2.0**-52 <= self._tol / 2:
                continue
            windows = self._cost_of_windows(spread, reach)
            best = min(best, windows)
            for r, degree in candidates(self._tol):
                count = int((spread + 2 * _MARGIN) / r) + 2
                cost = n * c * (4 + 1.5 * degree) + tails * windows + 3e4
                cost += count * (2 * reach / r) * degree**2 * c * 0.15
                if cost < best and count <= 8 * n + 1000:
                    best, boxes, self._r, self._degree = cost, count, r, degree
            if boxes:
                self._reach, self._tails = reach, tails > 0
                self._scale = 1 / (self._r * self._width)
                self._origin = low - _MARGIN * self._width
        return boxes

    def _cost_of_windows(self, spread: float, reach: float) -> float:
        """In ns, for as many queries as points, spread evenly."""
        n, c = self._columns.shape
        pairs = min(n, n * 2 * reach / max(spread, reach))
        return n * (min(pairs * (1.5 + 0.5 * c), 800 * c) + 20 * math.log2(n + 1) + 100)

    def _take_moments(self) -> None:
        n, c = self._columns.shape
        threads = 1 if n < _ALONE else torch.get_num_threads()
        parts = [_NOTHING] * threads

        def run(first: int, step: int) -> None:
            parts[first] = np.zeros((self._boxes, c, self._degree))
            loops.moments(
                self._x, self._columns, n * first // step, n * (first + 1) // step,
                self._origin, self._scale, parts[first],
            )  # fmt: skip

        _run(run, threads)
        self._moments = parts[0]
        for part in parts[1:]:  # in this order, whoever came first
            self._moments += part

    def _polynomial(self, order: int) -> tuple[Array, Array]:
        """[boxes, c, P] for u^order K, and the least first sum it is good for."""
        if order in self._polynomials:
            return self._polynomials[order]
        power, error = table(self._r, self._degree, order)
        far = min(math.ceil(self._reach / self._r) + 1, len(error) - 1)
        c, boxes = self._columns.shape[1], self._boxes
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
        everyone = float(self._columns[:, 0].sum()) if self._tails else float(m[0, 0].sum())
        wrong += math.exp(-0.5 * beyond**2) * max(beyond, 1.0) ** order * everyone
        if self._tails:  # near the ends, points that are in no box are in reach
            wrong[: far + 1] = wrong[max(boxes - far - 1, 0) :] = np.inf
        self._polynomials[order] = np.ascontiguousarray(out.transpose(2, 0, 1)), 2 * wrong
        return self._polynomials[order]

    def _evaluate(self, q: Array, kinds: list[Kind], out: Array, *, leave_out: bool) -> int:
        """Fill ``out`` by polynomials; how many queries must go another way."""
        found = [self._polynomial(_ORDER[kind]) for kind in kinds]
        poly = np.stack(
            [_SIGN[kind] * poly for kind, (poly, _) in zip(kinds, found, strict=True)], 1
        )
        least = np.max([wrong for _, wrong in found], 0) / self._tol
        m = len(q)
        refused: list[int] = []

        def run(first: int, step: int) -> None:
            refused.append(
                loops.evaluate(
                    q, self._columns, leave_out, m * first // step, m * (first + 1) // step,
                    self._origin, self._scale, poly, least, out,
                )
            )  # fmt: skip

        _run(run, 1 if m < _ALONE else torch.get_num_threads())
        return sum(refused)

    def _sum_windows(
        self,
        q: Array,
        which: NDArray[np.int64],
        kinds: list[Kind],
        out: Array,
        log_scale: Array,
        *,
        leave_out: bool,
    ) -> None:
        """Fill ``out`` for the queries ``which``, by the points around them."""
        x, columns, order, total = self._in_order()
        if len(x) == 0:
            out[:, which] = 0.0
            return
        rank = _NOBODY
        if leave_out:
            where = np.full(len(self._x), -1)
            where[order] = np.arange(len(order))
            rank = where[which]
        chosen = q[which]
        if not _is_sorted(chosen):
            by = np.argsort(chosen)
            which, chosen = which[by], chosen[by]
            rank = rank[by] if leave_out else rank
        terms = 3
        while math.e / math.factorial(terms) > self._tol / 10:
            terms += 1
        orders = np.array([_ORDER[kind] for kind in kinds])
        signs = np.array([_SIGN[kind] for kind in kinds])
        m = len(which)
        units = 1 if m < 64 else 8 * torch.get_num_threads()  # noqa: PLR2004 - as _ALONE

        def run(first: int, step: int) -> None:
            for unit in range(first, units, step):
                loops.windows(
                    x, columns, total, self._width, self._tol, chosen, which, rank,
                    m * unit // units, m * (unit + 1) // units, terms, orders, signs, out,
                    log_scale,
                )  # fmt: skip

        _run(run, units)

    def _in_order(self) -> tuple[Array, Array, NDArray[np.int64], float]:
        """The points that count, sorted: x, columns [c, n], where they were, all weight."""
        if self._sorted is None:
            counts = np.flatnonzero(self._columns[:, 0] > 0)
            x = self._x[counts]
            if not _is_sorted(x):
                by = np.argsort(x)
                counts, x = counts[by], x[by]
            columns = np.ascontiguousarray(self._columns[counts].T)
            self._sorted = x, columns, counts, float(columns[0].sum())
        return self._sorted


def _run(run: Callable[[int, int], None], units: int) -> None:
    """``share``, or at once where there is nothing to share."""
    if units == 1:
        run(0, 1)
    else:
        share(run, units)


def _is_sorted(x: Array) -> bool:
    return bool((x[1:] >= x[:-1]).all())

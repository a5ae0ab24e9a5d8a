"""Kernel regression on arrays that were checked before, one width at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from regard.regression.algorithms import Plan, plan
from regard.regression.bandwidth import Scored, rule_of_thumb, slope_by_difference
from regard.regression.derived import squared
from regard.regression.kernels import Kernel
from regard.regression.lines import local_lines
from regard.regression.nearest import nearest
from regard.regression.plain import is_one
from regard.regression.sums import Found, Sums
from regard.regression.sums.base import Array, Index, Kind
from regard.regression.weights import hat_rows

__all__ = ["LINES", "Estimate", "Smoother", "averages", "lines"]

FLAT = 1e-10  # below this share of its size a determinant is 0: no line through what is one point
LINES: tuple[Kind, ...] = ("k", "uk", "uuk")  # what a line needs


class Estimate(NamedTuple):
    """Values at queries; ``mass`` is the kernel's sum there, 0 where no data are in reach."""

    values: Array  # [m, k]; NaN where mass is 0
    mass: Array  # [m], a factor exp(log_scale) too small
    log_scale: Array  # [m]
    slopes: Array | None = None  # [m, k, d], by the query
    by_width: Array | None = None  # [m, k, d], by the logarithm of each width
    log_mass_by_width: Array | None = None  # [m, d]

    @property
    def log_mass(self) -> Array:
        """The logarithm of the kernel's sum, [m]; -inf where no data are in reach."""
        with np.errstate(divide="ignore"):
            return np.log(self.mass) + self.log_scale


def averages(found: Found, width: Array) -> Estimate:
    """Weighted sums over weights, and the derivatives there are sums for."""
    mass, sums = found.sums["k"][:, 0], found.sums["k"][:, 1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = sums / mass[:, None]

        def derivative(kind: Kind) -> tuple[Array, Array]:
            grown = found.sums[kind]  # [m, 1 + k, d]
            share = grown[:, :1] / mass[:, None, None]
            whole = grown[:, 1:] / mass[:, None, None] - values[:, :, None] * share
            return whole, share[:, 0]

        slopes = by_width = mass_by_width = None
        if "dk" in found.sums:
            slopes = derivative("dk")[0] / width
        if "udk" in found.sums:
            whole, share = derivative("udk")
            by_width, mass_by_width = -whole, -share
    return Estimate(values, mass, found.log_scale, slopes, by_width, mass_by_width)


def lines(found: Found) -> Estimate:
    """Where a line through the data around each query stands at the query; one feature."""
    s0, t0 = found.sums["k"][:, :1], found.sums["k"][:, 1:]
    s1, t1 = found.sums["uk"][:, :1, 0], found.sums["uk"][:, 1:, 0]
    s2 = found.sums["uuk"][:, :1, 0]
    det = s0 * s2 - s1 * s1
    with np.errstate(divide="ignore", invalid="ignore"):
        line = (s2 * t0 - s1 * t1) / det
        values = np.where(det > FLAT * s0 * s2, line, t0 / s0)
    return Estimate(values, s0[:, 0], found.log_scale)


@dataclass
class Smoother:
    """Data, a kernel, a degree and a tolerance.

    Args:
        x: [n, d] float64, near the origin.
        y: [n, k] float64, near the origin.
        weight: [n], above 0; ``plain.ones`` where nobody gave any.
        kernel: what is summed.
        degree: 0 for averages, 1 for lines.
        tol: of the sums.
        algorithm: "auto", "fast", "window" or "brute".
        device: where "brute" runs: None for the CPU.

    """

    x: Array
    y: Array
    weight: Array
    kernel: Kernel
    degree: int = 0
    tol: float = 1e-9
    algorithm: str = "auto"
    device: str | None = None

    def __post_init__(self) -> None:
        self._made: tuple[bytes, Sums] | None = None

    @cached_property
    def columns(self) -> Array:
        """[n, 1 + k]: what is summed. Made when asked for: at ten million points it counts."""
        found = np.empty((len(self.x), 1 + self.y.shape[1]))
        found[:, 0] = self.weight
        np.multiply(self.weight[:, None], self.y, out=found[:, 1:])
        return found

    @property
    def plan(self) -> Plan:
        """Which algorithm sums, and why."""
        n, d = self.x.shape
        return plan(self.kernel, n, d, self.degree, self.algorithm, self.device)

    @property
    def n(self) -> int:
        """How many points there are."""
        return len(self.x)

    @property
    def total_weight(self) -> float:
        """Of all points."""
        return float(self.weight.sum())

    @property
    def extent(self) -> Array:
        """[d], from the least to the largest."""
        found: Array = np.ptp(self.x, axis=0)
        return found

    def rule(self, rule: str, n: float | None = None) -> Array:
        """A rule of thumb for the width, of n points or of all."""
        return rule_of_thumb(self.x, self.weight, self.n if n is None else n, rule)

    def nearest_values(self, q: Array, width: Array) -> Array:
        """The values of the nearest points."""
        return self.y[nearest(self.x, q, width)]

    def sums(self, width: Array) -> Sums:
        """Prepared for a width; the last one is kept."""
        if self._made is None or self._made[0] != width.tobytes():
            plan = self.plan
            if plan.make_plain and is_one(self.weight):
                made = plan.make_plain(self.x, self.y, width, self.tol)
            else:
                made = plan.make(self.x, self.columns, width, self.tol)
            self._made = (width.tobytes(), made)
        return self._made[1]

    def in_order(self) -> Smoother:
        """The same data, sorted where there is one feature: each width is then summed faster."""
        if self.x.shape[1] > 1:
            return self
        from regard.regression.sums.line import arrange  # noqa: PLC0415 - numba

        x, order = arrange(np.ascontiguousarray(self.x[:, 0]))
        if order is None:
            return self
        weight = self.weight if is_one(self.weight) else self.weight[order]
        return replace(self, x=x[:, None], y=self.y[order], weight=weight)

    def averages(self, q: Array, middle: Array, level: Array, width: Array) -> Array | None:
        """``level`` + the estimates at q - middle, [m, k]; None where ``at`` has to tell."""
        if self.degree or not np.isfinite(width).all():
            return None
        return self.sums(width).averages(q, middle, level)

    def at(
        self,
        q: Array,
        width: Array,
        *,
        leave_out: bool = False,
        slopes: bool = False,
        by_width: bool = False,
    ) -> Estimate:
        """Estimate at queries [m, d]; with ``leave_out`` q is x, each without itself."""
        if not np.isfinite(width).all():  # infinitely wide: the mean
            return self._mean(len(q), leave_out=leave_out)
        if self.degree:
            return self._lines(q, width, leave_out=leave_out)
        kinds: list[Kind] = ["k", *["dk"] * slopes, *["udk"] * by_width]  # type: ignore[list-item]
        found = self.sums(width).at(q, kinds, leave_out=leave_out)
        return averages(found, width)

    def _lines(self, q: Array, width: Array, *, leave_out: bool) -> Estimate:
        if self.x.shape[1] > 1:
            got = local_lines(self.x, self.columns, width, self.kernel, q, leave_out=leave_out)
            there = np.isfinite(got.log_mass)
            return Estimate(got.values, there.astype(float), np.where(there, got.log_mass, 0.0))
        return lines(self.sums(width).at(q, LINES, leave_out=leave_out))

    def _mean(self, m: int, *, leave_out: bool) -> Estimate:
        total = self.columns.sum(0)
        sums = total - self.columns if leave_out else np.broadcast_to(total, (m, len(total)))
        with np.errstate(divide="ignore", invalid="ignore"):
            values = sums[:, 1:] / sums[:, :1]
        k, d = values.shape[1], self.x.shape[1]
        still = np.zeros((m, k, d))
        return Estimate(values, sums[:, 0], np.zeros(m), still, still, np.zeros((m, d)))

    def squares(self, q: Array, width: Array) -> Array:
        """The sum of the squared weights of each prediction, [m]: its variance for noise of 1."""
        if not np.isfinite(width).all():
            share = self.weight / self.weight.sum()
            return np.full(len(q), share @ share)
        if self.degree and self.x.shape[1] > 1:
            rows = hat_rows(self.x, self.weight, width, self.kernel, q, self.degree)
            return np.asarray((rows * rows).sum(1)).ravel()
        square, narrower = squared(self.kernel)
        alone = np.zeros((self.n, 0))
        options = (square, 0, self.tol, "auto", self.device)
        small = Smoother(self.x, alone, np.square(self.weight), *options)
        kinds: Sequence[Kind] = LINES if self.degree else ("k",)
        low = self.sums(width).at(q, kinds)
        high = small.sums(width * narrower).at(q, kinds)
        s0, q0 = low.sums["k"][:, 0], high.sums["k"][:, 0]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = q0 / s0**2
            if self.degree:
                s1, s2 = low.sums["uk"][:, 0, 0], low.sums["uuk"][:, 0, 0]
                q1 = narrower * high.sums["uk"][:, 0, 0]
                q2 = narrower**2 * high.sums["uuk"][:, 0, 0]
                det = s0 * s2 - s1 * s1
                lines = (s2 * s2 * q0 - 2 * s1 * s2 * q1 + s1 * s1 * q2) / det**2
                found = np.where(det > FLAT * s0 * s2, lines, found)
            return found * np.exp(high.log_scale - 2 * low.log_scale)

    def leverage(self, width: Array) -> Array:
        """How much each point counts in its own estimate: the diagonal of the hat matrix."""
        if not np.isfinite(width).all():
            return self.weight / self.weight.sum()
        if self.degree and self.x.shape[1] > 1:
            got = local_lines(self.x, self.columns, width, self.kernel, self.x, leave_out=False)
            return self.weight * got.own
        kinds: Sequence[Kind] = LINES if self.degree else ("k",)
        found = self.sums(width).at(self.x, kinds)
        s0 = found.sums["k"][:, 0]
        scale = np.exp(-found.log_scale)
        if not self.degree:
            return self.weight * scale / s0
        s1, s2 = found.sums["uk"][:, 0, 0], found.sums["uuk"][:, 0, 0]
        det = s0 * s2 - s1 * s1
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(det > FLAT * s0 * s2, s2 / det, 1 / s0)
        return self.weight * scale * own

    def told(self, width: Array) -> Array:
        """[n, k]: each point estimated from all others; without others in reach, by their mean."""
        values = self.at(self.x, width, leave_out=True).values
        known = np.isfinite(values)
        return values if known.all() else np.where(known, values, self._mean_without(slice(None)))

    def in_common_units(self) -> Smoother:
        """Each of several outputs in units in which its variance is 1: a score is of all alike."""
        if self.y.shape[1] == 1:
            return self
        mean = self.weight @ self.y / self.total_weight
        spread = np.sqrt(self.weight @ np.square(self.y - mean) / self.total_weight)
        return replace(self, y=self.y / np.where(spread > 0, spread, 1.0))

    def loo(self, width: Array, *, slope: bool = True) -> Scored:
        """The mean squared error of each point estimated from all others.

        A point with no other in reach is estimated by the mean of all others.
        """
        total = self.weight.sum() * self.y.shape[1]
        if not self.degree and np.isfinite(width).all():
            quick = self.sums(width).left_out()
            if quick is not None:
                squares, by_width = self._errors(averages(quick.found, width), quick.rest)
                by_width += quick.slope
                return Scored(width, (quick.squares + squares) / total, 2 * by_width / total)
        exact = slope and not self.degree
        got = self.at(self.x, width, leave_out=True, by_width=exact)
        squares, by_width = self._errors(got, slice(None))
        score = squares / total
        if slope and not exact:
            by_width = slope_by_difference(lambda w: self.loo(w, slope=False).score, width)
            return Scored(width, score, by_width)
        return Scored(width, score, 2 * by_width / total)

    def _errors(self, got: Estimate, which: Index | slice) -> tuple[float, Array]:
        """The weighted squares of how far points are from what was told of them.

        With half their derivative by the logarithm of each width, where ``got`` has it.
        """
        weight, y = self.weight[which], self.y[which]
        values, told = got.values, np.isfinite(got.values)
        if not told.all():
            values = np.where(told, values, self._mean_without(which))
        miss = values - y
        by_width = np.zeros(self.x.shape[1])
        if got.by_width is not None:
            moved = np.where(np.isfinite(got.by_width), got.by_width, 0.0)
            by_width = np.einsum("n,nk,nkd->d", weight, miss, moved)
        return float(weight @ np.square(miss).sum(1)), by_width

    def _mean_without(self, which: Index | slice) -> Array:
        """What all others' mean is, for each of some points; 0 where there are no others."""
        weight, y = self.weight[which, None], self.y[which]
        rest = self.total_weight - weight
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (self.weight @ self.y - weight * y) / rest
        return np.where(rest > 0, mean, 0.0)

    def aicc(self, width: Array, *, slope: bool = True) -> Scored:
        """log(error) + 1 + 2 (dof + 1) / (n - dof - 2)  (Hurvich, Simonoff and Tsai 1998)."""
        exact = slope and not self.degree
        got = self.at(self.x, width, by_width=exact)
        n = float(self.weight.sum() ** 2 / np.square(self.weight).sum())
        each = self.leverage(width)
        dof, total = float(each.sum()), self.weight.sum()
        miss = got.values - self.y
        error = np.maximum(self.weight @ np.square(miss) / total, np.finfo(float).tiny)
        if n - dof <= 2:  # noqa: PLR2004 - as many parameters as data
            return Scored(width, float("inf"), np.full(len(width), -1.0))
        score = float(np.log(error).mean() + 1 + 2 * (dof + 1) / (n - dof - 2))
        by_width = np.zeros(len(width))
        if exact and got.by_width is not None and got.log_mass_by_width is not None:
            moved = 2 * np.einsum("n,nk,nkd->kd", self.weight, miss, got.by_width) / total
            by_dof = 2 * (n - 1) / (n - dof - 2) ** 2
            by_width = (moved / error[:, None]).mean(0) - by_dof * (each @ got.log_mass_by_width)
        elif slope:
            by_width = slope_by_difference(lambda w: self.aicc(w, slope=False).score, width)
        return Scored(width, score, by_width)

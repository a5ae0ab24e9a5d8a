"""How wide a kernel should be: rules of thumb, and the search for the best score.

Widths are searched by their logarithm, so they stay above 0. A score may have several valleys: a
coarse grid finds them, and each promising one is followed down by the score's derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from regard.regression.sums.base import Array

__all__ = [
    "FACTORS",
    "Path",
    "Scored",
    "rule_of_thumb",
    "search",
    "search_each",
    "slope_by_difference",
]

GRID = 13  # widths tried first; neighbours differ by a factor of two or three
CLOSE = 1e-8  # where to stop, in the logarithm of the width
GAIN = 1e-15  # or in the score, as a share of it: it is not known better
STEP = 1e-4  # in the logarithm of the width, where a derivative is taken by differences
FACTORS = {"scott": 1.06, "silverman": 0.9}


@dataclass(frozen=True)
class Scored:
    """A width, its score, and the score's derivative by the logarithm of the width."""

    width: Array
    score: float
    slope: Array

    @property
    def together(self) -> float:
        """The derivative when all widths grow alike."""
        return float(self.slope.sum())


@dataclass
class Path:
    """The widths tried, in the order they were, and what the search came to."""

    tried: list[Scored] = field(default_factory=list)
    on_edge: bool = False  # the best lies at a bound: there may be better ones beyond

    @property
    def best(self) -> Scored:
        """The lowest score; of equals the widest, which varies least."""
        finite = [x for x in self.tried if np.isfinite(x.score)]
        return min(finite or self.tried, key=lambda x: (x.score, -float(np.log(x.width).sum())))


def slope_by_difference(score: Callable[[Array], float], width: Array) -> Array:
    """The derivative of a score by the logarithm of each width, good to about 8 digits."""
    slopes = []
    for i in range(len(width)):
        up, down = width.copy(), width.copy()
        up[i] *= np.exp(STEP)
        down[i] *= np.exp(-STEP)
        slopes.append((score(up) - score(down)) / (2 * STEP))
    return np.array(slopes)


def rule_of_thumb(x: Array, weight: Array, n: float, rule: str = "scott") -> Array:
    """Sd * n^(-1 / (4 + d)) a feature, times the rule's factor; 1 for a feature that is constant.

    Silverman's rule takes the interquartile range over 1.34 where it is the smaller spread.
    """
    total = weight.sum()
    middle = weight @ x / total
    spread = np.sqrt(weight @ np.square(x - middle) / total)
    if rule == "silverman":
        quartiles = np.array([_quantiles(column, weight) for column in x.T])
        narrow = (quartiles[:, 1] - quartiles[:, 0]) / 1.34
        spread = np.where(narrow > 0, np.minimum(spread, narrow), spread)
    found = FACTORS[rule] * spread * max(n, 1.0) ** (-1 / (4 + x.shape[1]))
    return np.where(found > 0, found, 1.0)


def _quantiles(column: Array, weight: Array) -> tuple[float, float]:
    """The first and third quartile of weighted numbers."""
    order = np.argsort(column, kind="stable")
    part = np.cumsum(weight[order])
    first, third = np.searchsorted(part, np.array([0.25, 0.75]) * part[-1])
    last = len(column) - 1
    return float(column[order[min(first, last)]]), float(column[order[min(third, last)]])


def search(
    score: Callable[[Array], Scored], base: Array, low: float, high: float, most: int
) -> Path:
    """The best multiple of ``base`` from ``low`` to ``high``: all widths grow alike."""
    path = Path()

    def at(log_factor: float) -> Scored:
        found = score(base * np.exp(log_factor))
        path.tried.append(found)
        return found

    logs = np.linspace(np.log(low), np.log(high), GRID)
    grid = [at(log_factor) for log_factor in logs]
    valleys = [
        (min(grid[i].score, grid[i + 1].score), i)
        for i in range(GRID - 1)
        if grid[i].together < 0 < grid[i + 1].together
    ]
    best = int(np.argmin([x.score if np.isfinite(x.score) else np.inf for x in grid]))
    path.on_edge = not valleys and best in (0, GRID - 1)
    for _, i in sorted(valleys)[:2]:
        _descend(at, (logs[i], grid[i]), (logs[i + 1], grid[i + 1]), most)
    if not valleys and not path.on_edge:  # no derivative to follow: steps, as of a boxcar
        _narrow(at, logs[best - 1], logs[best + 1], most)
    return path


def _descend(
    at: Callable[[float], Scored],
    left: tuple[float, Scored],
    right: tuple[float, Scored],
    most: int,
) -> None:
    """Find where the derivative is 0: straight lines through the ends, halved where those lag."""
    (a, low), (b, high) = left, right
    fa, fb = low.together, high.together
    last, slope = a, fa
    for step in range(most):
        if b - a < CLOSE:
            return
        middle = a - fa * (b - a) / (fb - fa) if step % 3 else (a + b) / 2
        if not a < middle < b or not np.isfinite(middle):
            middle = (a + b) / 2
        here = at(middle)
        found = here.together
        if found == 0 or not np.isfinite(found):
            return
        # what is left to gain, in a valley bent as it is between the last two: found^2 / 2 bend
        bend = abs((found - slope) / (middle - last))
        if found * found <= 2 * bend * GAIN * abs(here.score):
            return
        last, slope = middle, found
        if found < 0:
            fa = found
            fb *= 0.5 if middle - a < 0.5 * (b - a) else 1.0  # else one end may never move
            a = middle
        else:
            fb = found
            fa *= 0.5 if b - middle < 0.5 * (b - a) else 1.0
            b = middle


def _narrow(at: Callable[[float], Scored], a: float, b: float, most: int) -> None:
    """Golden section, for scores without a useful derivative."""
    ratio = (np.sqrt(5) - 1) / 2
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    fc, fd = at(c).score, at(d).score
    for _ in range(min(most, 40)):
        if b - a < 1e-3:  # noqa: PLR2004 - steps of a score are no finer
            return
        if fc <= fd:
            b, d, fd = d, c, fc
            c = b - ratio * (b - a)
            fc = at(c).score
        else:
            a, c, fc = c, d, fd
            d = a + ratio * (b - a)
            fd = at(d).score


def search_each(
    score: Callable[[Array], Scored], start: Array, low: Array, high: Array, most: int
) -> Path:
    """The best width of each feature, from a start, by the derivatives of all of them."""
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import, and rarely needed

    path = Path()

    def at(logs: Array) -> tuple[float, Array]:
        found = score(np.exp(logs))
        path.tried.append(found)
        return found.score, found.slope

    bounds = list(zip(np.log(low), np.log(high), strict=True))
    got = minimize(
        at, np.log(start), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": most}
    )
    edge = [(v - lo < CLOSE) or (hi - v < CLOSE) for v, (lo, hi) in zip(got.x, bounds, strict=True)]
    path.on_edge = any(edge)
    return path

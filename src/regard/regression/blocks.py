"""Data in blocks: larger than one memory, or on other machines.

Sums over blocks add up once they have a common scale, as the states of attention do: a maximum, a
sum of weights and a weighted sum. So a block of data answers a block of queries wherever it lies,
and only the answers travel. Dask says where what runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from regard.errors import ImplError, ShapeError, ValueRangeError
from regard.optional import need
from regard.regression.algorithms import Plan, plan
from regard.regression.bandwidth import FACTORS, Scored, slope_by_difference
from regard.regression.derived import kernel_of
from regard.regression.nearest import nearest
from regard.regression.smoother import LINES, Estimate, averages, lines
from regard.regression.sums.base import Array, Found, Kind

__all__ = ["Scattered", "is_dask", "merge", "scatter"]


def is_dask(x: object) -> bool:
    """Whether x is a Dask array, found without importing Dask."""
    return type(x).__module__.partition(".")[0] == "dask" and hasattr(x, "to_delayed")


def merge(one: Found, other: Found) -> Found:
    """The sums over two sets of data, from the sums over each.

    >>> import numpy as np
    >>> one, other = (Found({"k": np.ones((1, 1))}, np.array([s])) for s in (0.0, -800.0))
    >>> merge(one, other).sums["k"].item()  # the second is e^800 times smaller
    1.0
    """
    # a block with nothing in reach has no say in the scale
    scales = [np.where(x.sums["k"][:, 0] == 0, -np.inf, x.log_scale) for x in (one, other)]
    top = np.maximum(*scales)
    top = np.where(np.isfinite(top), top, 0.0)

    def at_top(x: Found, scale: Array, kind: Kind) -> Array:
        part = x.sums[kind]
        return part * np.exp(scale - top).reshape(-1, *(1,) * (part.ndim - 1))

    return Found(
        {k: at_top(one, scales[0], k) + at_top(other, scales[1], k) for k in one.sums}, top
    )


class _Job(NamedTuple):
    """What a worker has to know to sum a block."""

    kernel: str | Callable[[Array], Array]
    degree: int
    tol: float
    algorithm: str

    def found(
        self,
        x: Array,
        columns: Array,
        width: Array,
        q: Array,
        kinds: Sequence[Kind],
        *,
        leave_out: bool,
    ) -> Found:
        """The sums of one block of data at one block of queries."""
        kernel = kernel_of(self.kernel)
        chosen = plan(kernel, len(x), x.shape[1], self.degree, self.algorithm, None)
        return chosen.make(x, columns, width, self.tol).at(q, kinds, leave_out=leave_out)


class _Block(NamedTuple):
    """Rows of the data, with the middles taken off."""

    x: Array
    columns: Array


def _block(x: Array, y: Array, weight: Array | None, middle: tuple[Array, Array]) -> _Block:
    x = np.asarray(x, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64).reshape(len(x), -1)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        msg = "X and y must be finite; a block holds NaN or infinity"
        raise ValueRangeError(msg)
    w = np.ones(len(x)) if weight is None else np.asarray(weight, dtype=np.float64)
    if (w < 0).any():
        msg = "sample_weight must be 0 or more; a block holds a negative one"
        raise ValueRangeError(msg)
    there = w > 0
    x, y, w = x[there] - middle[0], y[there] - middle[1], w[there]
    return _Block(x, np.column_stack((w, w[:, None] * y)))


class Scattered:
    """Stands where ``Smoother`` does, over blocks of data that are somewhere else.

    Predictions, slopes, density and the leave-one-out score; what needs all data in one memory is
    refused. Points at equal places are not merged: they tell each other in the score.
    """

    def __init__(
        self,
        blocks: list[Any],
        job: _Job,
        total: Array,
        extent: Array,
        spread: Array,
        variance: Array,
        n: int,
    ) -> None:
        self.blocks, self.job, self.total = blocks, job, total
        self.extent, self.spread, self.variance, self.n = extent, spread, variance, n
        self.kernel = kernel_of(job.kernel)
        self.degree = job.degree
        self.units = np.ones(len(total) - 1)  # in which squared errors are counted

    @property
    def total_weight(self) -> float:
        """Of all points."""
        return float(self.total[0])

    @property
    def plan(self) -> Plan:
        """What sums a block."""
        n, d = max(self.n // len(self.blocks), 1), len(self.extent)
        return plan(self.kernel, n, d, self.degree, self.job.algorithm, None)

    def rule(self, rule: str, n: float | None = None) -> Array:
        """A rule of thumb for the width."""
        d = len(self.spread)
        found = FACTORS[rule] * self.spread * (self.n if n is None else n) ** (-1 / (4 + d))
        return np.where(found > 0, found, 1.0)

    def nearest_values(self, q: Array, width: Array) -> Array:
        """The values of the nearest points."""
        dask = need("dask", extra="dask", why="data in blocks")
        each = dask.compute(*(dask.delayed(_nearest)(block, q, width) for block in self.blocks))
        closest = np.argmin([x[0] for x in each], 0)
        found: Array = np.array([x[1] for x in each])[closest, np.arange(len(q))]
        return found

    def _found(
        self,
        q: Any,  # noqa: ANN401 - an array, or what Dask will make one of
        width: Array,
        kinds: Sequence[Kind],
        own: int | None = None,
    ) -> Any:  # noqa: ANN401
        """The sums of all blocks at one block of queries, delayed; ``own`` leaves itself out."""
        dask = need("dask", extra="dask", why="data in blocks")
        parts = [
            dask.delayed(_sums_of)(self.job, block, width, q, tuple(kinds), i == own)
            for i, block in enumerate(self.blocks)
        ]
        while len(parts) > 1:  # in pairs, so that no worker has to hold all of them
            parts = [
                dask.delayed(merge)(*parts[i : i + 2]) if i + 1 < len(parts) else parts[i]
                for i in range(0, len(parts), 2)
            ]
        return parts[0]

    def later(self, q: Any, width: Array, *, slopes: bool = False) -> Any:  # noqa: ANN401
        """The estimate at a block of queries, delayed."""
        dask = need("dask", extra="dask", why="data in blocks")
        kinds: Sequence[Kind] = ("k", "dk") if slopes else ("k",)
        kinds = LINES if self.degree else kinds
        return dask.delayed(_estimate)(self._found(q, width, kinds), width, self.degree)

    def at(self, q: Array, width: Array, *, slopes: bool = False) -> Estimate:
        """The estimate at queries that are here, now."""
        found: Estimate = self.later(q, width, slopes=slopes).compute()
        return found

    def in_common_units(self) -> Scattered:
        """Squared errors of several outputs over the variance of each: a score is of all alike."""
        found = copy(self)
        if len(self.variance) > 1:
            found.units = np.where(self.variance > 0, self.variance, 1.0)
        return found

    def loo(self, width: Array, *, slope: bool = True) -> Scored:
        """The mean squared error of each point predicted from all others."""
        dask = need("dask", extra="dask", why="data in blocks")
        exact = slope and not self.degree
        kinds: Sequence[Kind] = ("k", "udk") if exact else ("k",)
        kinds = LINES if self.degree else kinds
        parts = [
            dask.delayed(_errors)(
                self._found(dask.delayed(_places)(block), width, kinds, own=i),
                block,
                width,
                self.total,
                self.units,
                self.degree,
            )
            for i, block in enumerate(self.blocks)
        ]
        added = np.sum(dask.compute(*parts), axis=0)
        size = self.total[0] * (len(self.total) - 1)
        slopes = added[1:] / size
        if slope and not exact:
            slopes = slope_by_difference(lambda w: self.loo(w, slope=False).score, width)
        return Scored(width, float(added[0] / size), slopes)

    def aicc(self, width: Array, *, slope: bool = True) -> Scored:
        """Refused: it needs the diagonal of the hat matrix."""
        msg = "bandwidth='aicc' needs the data in one memory; use 'loo', 'scott' or a number"
        raise ImplError(msg)


def _sums_of(
    job: _Job,
    block: _Block,
    width: Array,
    q: Array,
    kinds: Sequence[Kind],
    leave_out: bool,  # noqa: FBT001
) -> Found:
    return job.found(block.x, block.columns, width, q, kinds, leave_out=leave_out)


def _nearest(block: _Block, q: Array, width: Array) -> tuple[Array, Array]:
    """How far the nearest point of a block is, and its values."""
    if not len(block.x):
        return np.full(len(q), np.inf), np.zeros((len(q), block.columns.shape[1] - 1))
    which = nearest(block.x, q, width)
    away = np.square((q - block.x[which]) / width).sum(1)
    return away, block.columns[which, 1:] / block.columns[which, :1]


def _places(block: _Block) -> Array:
    return block.x


def _estimate(found: Found, width: Array, degree: int) -> Estimate:
    return lines(found) if degree else averages(found, width)


def _errors(
    found: Found, block: _Block, width: Array, total: Array, units: Array, degree: int
) -> Array:
    """The weighted squared errors of a block's own points, and their derivatives by the width."""
    weight = block.columns[:, 0]
    y = block.columns[:, 1:] / weight[:, None]
    got = _estimate(found, width, degree)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (total[1:] - block.columns[:, 1:]) / (total[0] - weight)[:, None]
    values = np.where(np.isfinite(got.values), got.values, np.nan_to_num(mean))
    miss = values - y
    slopes = np.zeros(len(width))
    if got.by_width is not None:
        moved = np.where(np.isfinite(got.by_width), got.by_width, 0.0)
        slopes = 2 * np.einsum("n,nk,nkd->d", weight, miss / units, moved)
    return np.concatenate(([weight @ (np.square(miss) / units).sum(1)], slopes))


class _Facts(NamedTuple):
    """What is to be known of a block before its middle can be taken off."""

    n: int
    weight: float
    mean: Array  # [d + k], of x and y
    squares: Array  # [d + k], weighted sums of squares about that mean
    low: Array  # [d], of x; NaN without points
    high: Array


def _facts(x: Array, y: Array, weight: Array | None) -> _Facts:
    block = _block(x, y, weight, (np.zeros(1), np.zeros(1)))
    w = block.columns[:, 0]
    both = np.column_stack((block.x, block.columns[:, 1:] / w[:, None]))
    if not len(w):
        nothing, nowhere = np.zeros(both.shape[1]), np.full(x.shape[1], np.nan)
        return _Facts(0, 0.0, nothing, nothing, nowhere, nowhere)
    total = float(w.sum())
    mean = w @ both / total
    squares = w @ np.square(both - mean)
    return _Facts(len(w), total, mean, squares, block.x.min(0), block.x.max(0))


def scatter(
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    weight: Any,  # noqa: ANN401
    kernel: str | Callable[[Array], Array],
    degree: int,
    tol: float,
    algorithm: str,
) -> tuple[Scattered, Array, Array]:
    """Data of Dask as a ``Scattered``, with the middles of x and y."""
    dask = need("dask", extra="dask", why="data in blocks")
    if X.ndim != 2 or y.ndim not in (1, 2):  # noqa: PLR2004
        msg = f"X must be [n, d] and y [n] or [n, k], got {X.ndim} and {y.ndim} axes"
        raise ShapeError(msg)
    if degree and X.shape[1] > 1:
        msg = "degree=1 in several features needs the data in one memory"
        raise ImplError(msg)
    if any(np.isnan(X.chunks[0])):
        X = X.compute_chunk_sizes()
    if len(y) != len(X):
        msg = f"X and y must have equally many rows, got {len(X)} and {len(y)}"
        raise ShapeError(msg)
    rows, d = X.chunks[0], X.shape[1]
    parts = [
        X.rechunk({1: -1}).to_delayed()[:, 0],
        y.rechunk({0: rows, **({1: -1} if y.ndim > 1 else {})}).to_delayed().ravel(),
        [None] * len(rows) if weight is None else weight.rechunk({0: rows}).to_delayed(),
    ]
    facts = dask.compute(*(dask.delayed(_facts)(*x) for x in zip(*parts, strict=True)))
    n, mass = sum(f.n for f in facts), np.array([f.weight for f in facts])
    if not mass.sum() > 0:
        msg = f"there must be at least one point of a weight above 0, got {n} points"
        raise ValueRangeError(msg)
    means = np.array([f.mean for f in facts])
    mean = mass @ means / mass.sum()
    # about the common mean: about 0, an offset would take the digits
    squares = np.sum([f.squares for f in facts], 0) + mass @ np.square(means - mean)
    variance, middle = squares / mass.sum(), (mean[:d], mean[d:])
    extent = np.nanmax([f.high for f in facts], 0) - np.nanmin([f.low for f in facts], 0)
    blocks = [dask.delayed(_block)(*x, middle) for x in zip(*parts, strict=True)]
    total = np.concatenate(([mass.sum()], np.zeros(len(middle[1]))))
    job = _Job(kernel, degree, tol, algorithm)
    spread = np.sqrt(variance[:d])
    return Scattered(blocks, job, total, extent, spread, variance[d:], n), *middle

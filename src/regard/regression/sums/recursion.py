"""Kernels that are a polynomial times exp(-|u|), in one feature: exact sums by recursion.

Going through sorted points, what all those passed add to a query follows from a few moments, and so
does what those to come add, going back. How stands with the loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, sqrt

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from regard.attention.cpu.threads import share
from regard.regression.sums import recursion_loops as loops
from regard.regression.sums.base import Array, Found, Kind, Sums
from regard.regression.sums.line import CHUNK, Index, Points, arrange, as_found

__all__ = ["ExponentialLine"]

_SHAPES: dict[str, tuple[float, list[float]]] = {  # a, and f: K(u) = f(z) exp(-z), z = a |u|
    "laplace": (1.0, [1]),
    "matern32": (sqrt(3.0), [1, 1]),
    "matern52": (sqrt(5.0), [1, 1, 1 / 3]),
}


class ExponentialLine(Sums):
    """Sums of a Laplace or Matern kernel over points of one feature, linear once they are sorted.

    Exact but for rounding, whatever ``tol``, and at any distance: log_scale is minus how many decay
    lengths the nearest point is away.

    Args:
        x: [n, 1], the data.
        columns: [n, c], the first the weights.
        width: [1].
        tol: not needed.
        kernel: laplace, matern32 or matern52.

    """

    def __init__(self, x: Array, columns: Array, width: Array, tol: float, *, kernel: str) -> None:
        self._kernel = str(getattr(kernel, "name", kernel))
        self._points = Points(x, columns)
        a, f = _SHAPES[self._kernel]
        self._scale = a / float(width[0])
        blocks = self._points.x.size // loops.STRIDE + 1
        self._anchors = np.zeros((2, blocks))
        self._states = np.zeros((2, blocks, columns.shape[1], len(f) + 2))
        share(
            lambda first, step: loops.checkpoints(
                first, step, self._points.x, self._points.columns, self._scale,
                self._anchors, self._states,
            ),
            2,
        )  # fmt: skip

    def at(self, q: Array, kinds: Sequence[Kind] = ("k",), *, leave_out: bool = False) -> Found:
        """Sums at q, exp(log_scale) the decay to the nearest point."""
        q, order = arrange(np.ascontiguousarray(q[:, 0]))
        if leave_out:
            left, right = self._points.around_itself(q, order)
        else:
            left = right = self._points.place(q, 0.0, closed=False)
        near = np.empty(q.size)
        share(
            lambda first, step: loops.nearest(
                first, step, CHUNK, self._points.x, self._scale, q, left, right, near
            ),
            -(-q.size // CHUNK),
        )
        # the slope of exp(-|u|) jumps at 0, and is 0 there: points at q count for neither side
        apart = self._kernel == "laplace" and "dk" in kinds
        have = [kind for kind in dict.fromkeys(kinds) if not (apart and kind == "dk")]
        sums = self._sweep(q, have, left, right, near)
        if apart:
            left = self._points.place(q, 0.0, closed=True)
            right = self._points.place(q, 0.0, closed=False)
            sums = np.concatenate([sums, self._sweep(q, ["dk"], left, right, near)], axis=1)
            have.append("dk")
        return as_found(sums, have, kinds, order, -near)

    def _sweep(self, q: Array, kinds: list[Kind], left: Index, right: Index, near: Array) -> Array:
        sums = np.zeros((q.size, len(kinds), self._points.columns.shape[1]))
        if not kinds:
            return sums
        tables, degrees, odd = _tables(self._kernel, kinds)
        share(
            lambda first, step: loops.sweep(
                first, step, CHUNK, self._points.x, self._points.columns, self._scale,
                self._anchors, self._states, q, left, right, near, tables, degrees, odd, sums,
            ),
            -(-q.size // CHUNK),
        )  # fmt: skip
        return sums


def _tables(kernel: str, kinds: list[Kind]) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_]]:
    """f(v + s) of each kind: [kind, power of s, power of v]; degrees; which change sign with u."""
    a, shape = _SHAPES[kernel]
    f, z = Polynomial(shape), Polynomial([0, 1])
    slope = f.deriv() - f
    of: dict[Kind, Polynomial] = {
        "k": f,
        "uk": z * f / a,
        "uuk": z**2 * f / a**2,
        "dk": a * slope,
        "udk": z * slope,
    }
    tables = np.zeros((len(kinds), 5, 5))
    for at, kind in enumerate(kinds):
        for k, c in enumerate(of[kind].coef):
            for p in range(k + 1):
                tables[at, p, k - p] = float(c) * comb(k, p)
    return (
        tables,
        np.array([len(of[kind].coef) - 1 for kind in kinds]),
        np.array([kind in {"uk", "dk"} for kind in kinds]),
    )

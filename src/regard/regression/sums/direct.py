"""The sums by their definition: every query meets every point.

The truth that faster ways are tested against, and fast enough when there is little data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from regard.regression.kernels import KERNELS, Kernel
from regard.regression.sums.base import Array, Found, Kind, Sums

__all__ = ["Direct"]

_TILE = 1 << 18  # numbers in an array of one tile: 2 MB, so that a dozen of them stay in cache


class Direct(Sums):
    """Any kernel, any number of features, in O(n m) time and O(n + m) memory.

    A kernel that is nowhere 0 is scaled by its value at the point that counts most, so the ratio of
    two sums is right at any distance. For one with an edge, a query that reaches no point gets 0.
    ``tol`` is not needed: the sums are right to rounding.
    """

    def __init__(
        self,
        x: Array,
        columns: Array,
        width: Array,
        tol: float = 0.0,
        kernel: Kernel = KERNELS["gaussian"],
    ) -> None:
        self._x, self._columns, self._width, self._kernel = x, columns, width, kernel
        self._counts = columns[:, 0] > 0

    def at(self, q: Array, kinds: Sequence[Kind] = ("k",), *, leave_out: bool = False) -> Found:
        m, (n, d), c = len(q), self._x.shape, self._columns.shape[1]
        sums: dict[Kind, Array] = {
            kind: np.zeros((m, c) if kind == "k" else (m, c, d)) for kind in kinds
        }
        log_scale = np.zeros(m)
        if not self._counts.any():
            return Found(sums, log_scale)
        rows = max(_TILE // (n * d), 1)
        for start in range(0, m, rows):
            tile = slice(start, min(start + rows, m))
            absent = ~self._counts[None, :].repeat(tile.stop - start, 0)
            if leave_out:
                absent[np.arange(tile.stop - start), np.arange(start, tile.stop)] = True
            u = (q[tile, None, :] - self._x) / self._width  # [rows, n, d]
            k, dk = self._weights(u, absent, log_scale[tile])
            for kind in kinds:
                if kind == "k":
                    sums[kind][tile] = k @ self._columns
                    continue
                for f in range(d):
                    terms = dk(f) if kind.endswith("dk") else k
                    terms = terms * u[..., f] ** kind.count("u")
                    sums[kind][tile, :, f] = terms @ self._columns
        return Found(sums, log_scale)

    def _weights(
        self, u: Array, absent: np.ndarray[tuple[int, int], np.dtype[np.bool_]], log_scale: Array
    ) -> tuple[Array, Callable[[int], Array]]:
        """K of each pair, up to exp(log_scale), and of each feature K' with the others' K."""
        kernel = self._kernel
        if kernel.log_step is None or kernel.dlog_k is None:
            each = np.where(absent[..., None], 0.0, kernel.k(u))

            def slopes(f: int) -> Array:
                others = np.delete(each, f, axis=2).prod(2)
                return np.where(absent, 0.0, kernel.dk(u[..., f]) * others)

            return each.prod(2), slopes
        rows = np.arange(len(u))
        relative = np.where(absent, -np.inf, kernel.log_k(u).sum(2))
        # far away log K is large and its rounding too: steps from the best so far are exact, and
        # the best by those is the best
        for _ in range(2):
            best = relative.argmax(1)
            step = (self._x[best][:, None, :] - self._x) / self._width
            relative = kernel.log_step(u[rows, best][:, None, :], step).sum(2)
            relative[absent] = -np.inf
        log_scale[:] = kernel.log_k(u[rows, best]).sum(1)
        nobody = absent.all(1)
        log_scale[nobody] = 0.0
        k = np.exp(relative)
        dlog_k = kernel.dlog_k
        return k, lambda f: k * dlog_k(u[..., f])

"""Gaussian sums at single queries, wherever they are: the points that count, found by a tree.

A query's sum is taken over the points no farther than sqrt(d0^2 + 2 log(...)), d0 its distance to
the nearest: the rest of them together are below the tolerance. Distances are compared with the
nearest point's, by differences of points: at 1e12 widths the squares themselves have no digits left
for that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.attention.cpu.threads import share
from regard.regression.sums.base import Array
from regard.regression.sums.tree_loops import LEAF, TOGETHER, build, total

__all__ = ["Tree"]


class Tree:
    """Points with weights above 0, halved along the widest axis down to leaves."""

    def __init__(self, x: Array, columns: Array, width: Array, tol: float) -> None:
        n, d = x.shape
        self.inverse = 1.0 / width
        order = np.arange(n)
        most = 4 * (n // LEAF + 1)
        bounds = np.empty((2, most, d))
        nodes = np.empty((3, most), np.int64)
        made = build(x, self.inverse, order, *nodes, *bounds)
        self.nodes = tuple(nodes[:, :made])
        self.bounds = tuple(bounds[:, :made])
        self.xt = np.ascontiguousarray(x[order].T)
        self.ct = np.ascontiguousarray(columns[order].T)
        self.position = np.empty(n, np.int64)
        self.position[order] = np.arange(n)
        self.log_total = float(np.log(columns[:, 0].sum()))
        self.tol = tol

    def add(
        self,
        q: Array,
        which: NDArray[np.int64],
        skip: NDArray[np.int64],
        sums: tuple[Array, Array, Array],
        log_scale: Array,
    ) -> None:
        """Add to the sums k, uk, uuk of the queries ``which``; [m, 0, 0] is not wanted.

        ``skip`` is empty, or the position in the tree of the point that each query leaves out.
        """
        k, uk, uuk = sums
        once, twice = bool(uk.size), bool(uuk.size)
        # u^2 of what is left out may be larger than that of the nearest
        lost = self.log_total - np.log(self.tol / 4) + (5.0 if once or twice else 0.0)
        share(
            lambda first, step: total(
                *(first, step, which, q, skip, self.xt, self.ct, self.inverse),
                *(*self.nodes, *self.bounds, lost, once, twice, k, uk, uuk, log_scale),
            ),
            -(-which.size // TOGETHER),
        )

"""Local lines in several features: a small least squares problem for each query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regard.regression.kernels import Kernel
from regard.regression.nearby import lie, nearby
from regard.regression.sums.base import Array

__all__ = ["Lines", "local_lines"]

AT_ONCE = 1 << 21  # pairs of query and point in memory


class Lines(NamedTuple):
    """Where the lines stand at the queries, and what is known beside."""

    values: Array  # [m, k]
    log_mass: Array  # [m], the logarithm of the kernel's sum
    own: Array  # [m], what a point of weight 1 at the query would count: for the hat matrix


def local_lines(
    x: Array,
    columns: Array,
    width: Array,
    kernel: Kernel,
    q: Array,
    *,
    leave_out: bool,
) -> Lines:
    """Fit a + b (x - q) around each query.

    Where the points in reach lie on a line or plane, b is flat across it; with one point, a is its
    value.
    """
    (m, d), (n, c) = q.shape, columns.shape
    y = columns[:, 1:] / columns[:, :1]
    values, log_mass, own = np.empty((m, c - 1)), np.empty(m), np.empty(m)
    step = max(AT_ONCE // max(n * d, 1), 1)
    for start in range(0, m, step):
        rows = slice(start, min(start + step, m))
        itself = np.arange(rows.start, rows.stop) if leave_out else None
        near = nearby(x, columns[:, 0], width, kernel, q[rows], itself)
        middle, apart, inverse = lie(near)
        mean = near.share @ y
        pull = np.einsum("rn,rnd,rnk->rdk", near.share, apart, y[None] - mean[:, None])
        slope = inverse @ pull  # [r, d, k]
        values[rows] = mean - np.einsum("rd,rdk->rk", middle, slope)
        values[rows][np.isneginf(near.log_mass)] = np.nan
        bend = np.einsum("rd,rde,re->r", middle, inverse, middle)
        log_mass[rows] = near.log_mass
        with np.errstate(divide="ignore", invalid="ignore"):
            own[rows] = (1 + bend) / np.exp(log_mass[rows])
    return Lines(values, log_mass, own)

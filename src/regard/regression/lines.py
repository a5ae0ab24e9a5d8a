"""Local lines in several features: a small least squares problem for each query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regard.regression.kernels import Kernel
from regard.regression.sums.base import Array

__all__ = ["Lines", "local_lines"]

AT_ONCE = 1 << 21  # pairs of query and point in memory
FLAT = 1e-10  # directions with less than this share of the spread are left flat


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
        u = (q[rows, None, :] - x[None]) / width  # [r, n, d]
        log_k = kernel.log_k(u).sum(-1)
        if leave_out:
            here = np.arange(rows.start, rows.stop)
            log_k[here - rows.start, here] = -np.inf
        top = log_k.max(-1, keepdims=True, initial=-np.inf)
        weight = np.exp(log_k - np.where(np.isfinite(top), top, 0)) * columns[:, 0]
        total = weight.sum(-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = weight / total
            log_mass[rows] = np.log(total[:, 0]) + np.where(np.isfinite(top), top, 0)[:, 0]
        share = np.where(total > 0, share, 0)
        middle = np.einsum("rn,rnd->rd", share, u)
        apart = u - middle[:, None]
        spread = np.einsum("rn,rnd,rne->rde", share, apart, apart)
        mean = share @ y
        pull = np.einsum("rn,rnd,rnk->rdk", share, apart, y[None] - mean[:, None])
        inverse = np.linalg.pinv(spread, rcond=FLAT, hermitian=True)
        slope = inverse @ pull  # [r, d, k]
        values[rows] = mean - np.einsum("rd,rdk->rk", middle, slope)
        values[rows][total[:, 0] == 0] = np.nan
        bend = np.einsum("rd,rde,re->r", middle, inverse, middle)
        with np.errstate(divide="ignore", invalid="ignore"):
            own[rows] = (1 + bend) / np.exp(log_mass[rows])
    return Lines(values, log_mass, own)

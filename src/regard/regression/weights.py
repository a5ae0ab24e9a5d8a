"""The attention weights of kernel regression, written out."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from regard.regression.kernels import Kernel
from regard.regression.nearby import lie, nearby
from regard.regression.sums.base import Array

__all__ = ["hat_rows"]

AT_ONCE = 1 << 22


def hat_rows(
    x: Array, weight: Array, width: Array, kernel: Kernel, q: Array, degree: int
) -> Array | sparse.csr_array:
    """[m, n]: what each prediction takes from each point; sparse for a kernel with an edge."""
    n, m = len(x), len(q)
    step = max(AT_ONCE // max(n * x.shape[1], 1), 1)
    rows: list[Array | sparse.csr_array] = []
    for start in range(0, m, step):
        some = q[start : start + step]
        dense = _rows(x, weight, width, kernel, some, degree)
        rows.append(sparse.csr_array(dense) if np.isfinite(kernel.support) else dense)
    if not rows:
        empty = np.zeros((0, n))
        return sparse.csr_array(empty) if np.isfinite(kernel.support) else empty
    if np.isfinite(kernel.support):
        return sparse.csr_array(sparse.vstack(rows))
    return np.concatenate(rows)


def _rows(x: Array, weight: Array, width: Array, kernel: Kernel, q: Array, degree: int) -> Array:
    near = nearby(x, weight, width, kernel, q)
    if not degree:
        return near.share
    middle, apart, inverse = lie(near)
    tilt = 1 - np.einsum("md,mde,mne->mn", middle, inverse, apart)
    return near.share * tilt

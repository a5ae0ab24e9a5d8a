"""The attention weights of kernel regression, written out."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from regard.regression.kernels import Kernel
from regard.regression.sums.base import Array

__all__ = ["hat_rows"]

AT_ONCE = 1 << 22
FLAT = 1e-10


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
    u = (q[:, None] - x) / width  # [m, n, d]
    log_k = kernel.log_k(u).sum(-1)
    top = log_k.max(-1, keepdims=True, initial=-np.inf)
    k = np.exp(log_k - np.where(np.isfinite(top), top, 0)) * weight
    total = k.sum(-1, keepdims=True)
    share = np.divide(k, total, out=np.zeros_like(k), where=total > 0)
    if not degree:
        return share
    middle = np.einsum("mn,mnd->md", share, u)
    apart = u - middle[:, None]
    spread = np.einsum("mn,mnd,mne->mde", share, apart, apart)
    inverse = np.linalg.pinv(spread, rcond=FLAT, hermitian=True)
    tilt = 1 - np.einsum("md,mde,mne->mn", middle, inverse, apart)
    return share * tilt

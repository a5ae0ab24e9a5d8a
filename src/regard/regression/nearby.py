"""What each point counts at each query, written out, and how the points lie around it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regard.regression.kernels import Kernel
from regard.regression.sums.base import Array, Index

__all__ = ["Lie", "Nearby", "lie", "nearby"]

FLAT = 1e-10  # directions with less than this share of the spread are left flat


class Nearby(NamedTuple):
    """Of every pair of a query and a point."""

    u: Array  # [m, n, d], how far the query is from the point, in widths
    share: Array  # [m, n], of the point in the kernel's sum; 0 where no data are in reach
    log_mass: Array  # [m], the logarithm of that sum; -inf where no data are in reach


def nearby(
    x: Array, weight: Array, width: Array, kernel: Kernel, q: Array, own: Index | None = None
) -> Nearby:
    """``own``: which point each query is, and leaves out."""
    u = (q[:, None] - x) / width
    log_k = kernel.log_k(u).sum(-1)
    if own is not None:
        log_k[np.arange(len(q)), own] = -np.inf
    top = log_k.max(-1, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    k = np.exp(log_k - top) * weight
    total = k.sum(-1, keepdims=True)
    share = np.divide(k, total, out=np.zeros_like(k), where=total > 0)
    with np.errstate(divide="ignore"):
        return Nearby(u, share, (np.log(total) + top)[:, 0])


class Lie(NamedTuple):
    """How the points lie around each query: what a line through them is made of."""

    middle: Array  # [m, d], the mean of u
    apart: Array  # [m, n, d], u without it
    inverse: Array  # [m, d, d], of the spread of u; 0 across a line or plane that all lie on


def lie(near: Nearby) -> Lie:
    """The least squares problem of a line around each query, but for the values."""
    middle = np.einsum("mn,mnd->md", near.share, near.u)
    apart = near.u - middle[:, None]
    spread = np.einsum("mn,mnd,mne->mde", near.share, apart, apart)
    return Lie(middle, apart, np.linalg.pinv(spread, rcond=FLAT, hermitian=True))

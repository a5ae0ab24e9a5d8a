"""Which data lie nearest, measured in widths."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.regression.sums.base import Array

__all__ = ["nearest"]


def nearest(x: Array, q: Array, width: Array) -> NDArray[np.int64]:
    """The index of the point nearest to each query; of two as near, the one that comes first."""
    scale = np.where(np.isfinite(width), width, 1.0)
    if x.shape[1] == 1:
        order = np.argsort(x[:, 0], kind="stable")
        line = x[order, 0]
        right = np.searchsorted(line, q[:, 0]).clip(1, max(len(line) - 1, 1))
        if len(line) == 1:
            return np.zeros(len(q), dtype=np.int64)
        left = right - 1
        closer = np.where(q[:, 0] - line[left] <= line[right] - q[:, 0], left, right)
        return order[closer]
    from scipy.spatial import cKDTree  # noqa: PLC0415 - slow to import, and rarely needed

    found = cKDTree(x / scale).query(q / scale)[1]
    return np.asarray(found, dtype=np.int64)

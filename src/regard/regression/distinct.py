"""Data at equal places as one."""

from __future__ import annotations

import numpy as np

from regard.regression.sums.base import Array

__all__ = ["merged"]


def merged(x: Array, y: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Add up the weights and average the values of points at the same place.

    No prediction changes by it. Leaving one out then leaves out all that lies at its place, so that
    repeated data do not tell each other, and a point of weight 2 is two points.
    """
    order = np.argsort(x[:, 0], kind="stable") if x.shape[1] == 1 else np.lexsort(x.T[::-1])
    here = x[order]
    first = np.concatenate(([True], (here[1:] != here[:-1]).any(1)))
    if first.all():
        return x, y, weight
    starts = np.flatnonzero(first)
    total = np.add.reduceat(weight[order], starts)
    sums = np.add.reduceat(weight[order, None] * y[order], starts, axis=0)
    return here[starts], sums / total[:, None], total

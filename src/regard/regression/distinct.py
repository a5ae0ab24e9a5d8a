"""Data at equal places as one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regard.regression.plain import ones
from regard.regression.sums.base import Array, Index

__all__ = ["Places", "merged"]


class Places(NamedTuple):
    """Points at places that differ."""

    x: Array
    y: Array
    weight: Array | None  # None: 1 each
    of: Index | None  # which place each of the points before was at; None: they were these


def merged(x: Array, y: Array, weight: Array | None) -> Places:
    """Add up the weights and average the values of points at the same place.

    No prediction changes by it. Leaving one out then leaves out all that lies at its place, so that
    repeated data do not tell each other, and a point of weight 2 is two points. ``weight`` may be
    None, for 1 each, and stays so where all places differ.
    """
    if x.shape[1] == 1:
        line = np.sort(x[:, 0])  # several times as fast as to find the order
        if not (line[1:] == line[:-1]).any():
            return Places(x, y, weight, None)
        order = np.argsort(x[:, 0], kind="stable")
    else:
        order = np.lexsort(x.T[::-1])
    here = x[order]
    first = np.concatenate(([True], (here[1:] != here[:-1]).any(1)))
    if first.all():
        return Places(x, y, weight, None)
    if weight is None:
        weight = ones(len(x))
    starts = np.flatnonzero(first)
    total = np.add.reduceat(weight[order], starts)
    sums = np.add.reduceat(weight[order, None] * y[order], starts, axis=0)
    of = np.empty(len(x), np.int64)
    of[order] = np.cumsum(first) - 1
    return Places(here[starts], sums / total[:, None], total, of)

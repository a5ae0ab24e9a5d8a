"""The loops that put points in order and find where others stand among them."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["all_count", "ends", "gather", "is_ordered", "pack", "place", "scatter", "unpack"]

_options = {"nogil": True, "cache": True, "error_model": "numpy"}
_AT_ONCE = 1024


@njit(**_options)
def is_ordered(x):
    before, after = x[:-1], x[1:]
    for start in range(0, before.size, _AT_ONCE):
        low, high = before[start : start + _AT_ONCE], after[start : start + _AT_ONCE]
        falls = 0  # counted, not left at the first: several are compared at once
        for i in range(low.size):
            falls += low[i] > high[i]
        if falls:
            return False
    return True


@njit(**_options, fastmath={"nnan", "nsz"})  # which lets several be compared at once
def ends(x, first, last):
    """The least and the largest of finite numbers."""
    low = high = x[first]
    for i in range(first, last):
        low = min(low, x[i])
        high = max(high, x[i])
    return low, high


@njit(**_options)
def _bits(n):
    bits = 0
    while (1 << bits) < n:
        bits += 1
    return bits


@njit(**_options)
def pack(x, packed):
    low = high = x[0]
    for i in range(x.size):
        low = x[i] if x[i] < low else low
        high = x[i] if x[i] > high else high
    bits = _bits(x.size)
    scale = 2.0 ** (62 - bits) / (high - low)
    if not scale < np.inf or not scale > 0.0:
        return False
    for i in range(x.size):
        packed[i] = (np.int64((x[i] - low) * scale) << bits) | i
    return True


@njit(**_options)
def unpack(x, packed, out):
    """From packed integers in order to indices and points in order; False if that takes long."""
    mask = (1 << _bits(x.size)) - 1
    for i in range(x.size):
        packed[i] &= mask
        out[i] = x[packed[i]]
    left = x.size
    for i in range(1, x.size):
        if out[i - 1] <= out[i]:
            continue
        value, index = out[i], packed[i]
        j = i
        while j > 0 and out[j - 1] > value:
            out[j] = out[j - 1]
            packed[j] = packed[j - 1]
            j -= 1
        out[j] = value
        packed[j] = index
        left -= i - j
        if left < 0:
            return False
    return True


@njit(**_options)
def place(first, step, size, x, q, width, limit, closed, out):
    """For each sorted q the first j with (x_j - q) / width above ``limit``, or on it if closed.

    The quotient is the definition's, rounding and all, so that both mean the same points. Strides
    double, so that a step to a neighbour costs little and one across all a logarithm.
    """
    n = x.size
    for start in range(first * size, q.size, step * size):
        low = 0
        for i in range(start, min(start + size, q.size)):
            stride = 1
            while low + stride <= n:
                u = (x[low + stride - 1] - q[i]) / width
                if u > limit or (closed and u == limit):
                    break
                low += stride
                stride *= 2
            high = min(low + stride - 1, n)
            while low < high:
                middle = (low + high) // 2
                u = (x[middle] - q[i]) / width
                if u > limit or (closed and u == limit):
                    high = middle
                else:
                    low = middle + 1
            out[i] = low


@njit(**_options)
def all_count(columns):
    """Whether every weight is above 0."""
    for i in range(columns.shape[0]):  # noqa: SIM110 - not for numba
        if not columns[i, 0] > 0.0:
            return False
    return True


@njit(**_options)
def gather(columns, order, out):
    for i in range(order.size):
        for a in range(columns.shape[1]):
            out[i, a] = columns[order[i], a]


@njit(**_options)
def scatter(sums, order, out):
    for i in range(order.size):
        for kind in range(sums.shape[1]):
            for a in range(sums.shape[2]):
                out[order[i], kind, a] = sums[i, kind, a]

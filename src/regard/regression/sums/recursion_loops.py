"""The loops of the two-sided recursion: what lies left of a query, and what lies right of it.

With z the distance in decay lengths, every sum is one of f(z) exp(-z) c, f a polynomial. Going
through the points in order, the moments of s^p exp(-s) c are kept, s the distance from an anchor
back to each point; then z = v + s with v from anchor to query, and f(v + s) is a short sum of
E_p(v) s^p. All terms are of one sign, so nothing cancels.

The anchor is moved when points are more than one decay length beyond it, not at every point: a
factor exp(-step) at each would add up a million roundings, all alike where points are equally far
apart. Going down is going up with indices and signs turned round.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = ["STRIDE", "checkpoints", "nearest", "sweep"]

_options = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"contract"}}
_BLOCK = 128  # points a partial sum: rounding that always goes one way grows with n / 128 + 128
STRIDE = 512  # points between kept moments, from which a query far on may start


@njit(**_options)
def _clear(table):
    for a in range(table.shape[0]):
        for p in range(table.shape[1]):
            table[a, p] = 0.0


@njit(**_options)
def _join(some, moments):
    """Add ``some`` to the moments and begin it anew."""
    for a in range(moments.shape[0]):
        for p in range(moments.shape[1]):
            moments[a, p] += some[a, p]
            some[a, p] = 0.0


@njit(**_options)
def _move(some, moments, delta):
    """Add ``some`` to the moments and move their anchor on by ``delta``."""
    _join(some, moments)
    decay = math.exp(-delta)
    if decay == 0.0:
        _clear(moments)  # before delta^p might be inf
        return
    for a in range(moments.shape[0]):
        for p in range(moments.shape[1] - 1, 0, -1):
            total = 0.0
            ways = 1.0
            for r in range(p + 1):  # from delta^p to delta^0, by Horner
                total = total * delta + ways * moments[a, r]
                ways = ways * (p - r) / (r + 1)
            moments[a, p] = total
        for p in range(moments.shape[1]):
            moments[a, p] *= decay


@njit(**_options)
def _take(x, columns, scale, down, begin, end, anchor, held, some, moments):
    """Add points begin to end, counted in the direction of going; the new anchor, the new held."""
    for k in range(begin, end):
        j = x.size - 1 - k if down else k
        s = abs(anchor - x[j]) * scale
        if s > 1.0 or k == 0:
            _move(some, moments, s if k > 0 else 0.0)
            anchor, held, s = x[j], 0, 0.0
        weight = math.exp(s)
        for a in range(columns.shape[1]):
            c = weight * columns[j, a]
            some[a, 0] += c
            for p in range(1, some.shape[1]):
                c *= -s
                some[a, p] += c
        held += 1
        if held == _BLOCK:
            _join(some, moments)
            held = 0
    return anchor, held


@njit(**_options)
def checkpoints(first, step, x, columns, scale, anchors, states):
    """The moments after each STRIDE points, going up and going down."""
    for down in range(first, 2, step):
        some = np.zeros((states.shape[2], states.shape[3]))
        moments = np.zeros((states.shape[2], states.shape[3]))
        anchor, held = 0.0, 0
        for block in range(1, states.shape[1]):
            begin = (block - 1) * STRIDE
            anchor, held = _take(
                x, columns, scale, down, begin, begin + STRIDE, anchor, held, some, moments
            )
            anchors[down, block] = anchor
            for a in range(columns.shape[1]):
                for p in range(moments.shape[1]):
                    states[down, block, a, p] = moments[a, p] + some[a, p]


@njit(**_options)
def nearest(first, step, size, x, scale, q, left, right, out):
    """How far the nearest of the points before left and from right on is; 0 where there is none."""
    for start in range(first * size, q.size, step * size):
        for i in range(start, min(start + size, q.size)):
            near = np.inf
            if left[i] > 0:
                near = (q[i] - x[left[i] - 1]) * scale
            if right[i] < x.size:
                near = min(near, (x[right[i]] - q[i]) * scale)
            out[i] = near if near < np.inf else 0.0


@njit(**_options)
def sweep(
    first, step, size, x, columns, scale, anchors, states, q, left, right, near,
    tables, degrees, odd, sums,
):  # fmt: skip
    """Sums [m, kinds, columns] over points before left and from right on, times exp(near)."""
    count = 0
    for kind in range(degrees.size):
        count = max(count, degrees[kind] + 1)
    some = np.empty((columns.shape[1], count))
    moments = np.empty_like(some)
    factors = np.empty(count)
    for start in range(first * size, q.size, step * size):
        stop = min(start + size, q.size)
        for down in range(2):
            sign = -1.0 if down else 1.0
            taken, anchor, held = 0, 0.0, 0
            _clear(some)
            _clear(moments)
            for n in range(stop - start):
                i = stop - 1 - n if down else start + n
                aim = x.size - right[i] if down else left[i]
                if aim == 0:
                    continue
                if aim - taken > STRIDE:
                    block = aim // STRIDE
                    taken, anchor, held = block * STRIDE, anchors[down, block], 0
                    _clear(some)
                    for a in range(columns.shape[1]):
                        for p in range(count):
                            moments[a, p] = states[down, block, a, p]
                anchor, held = _take(
                    x, columns, scale, down, taken, aim, anchor, held, some, moments
                )
                taken = aim
                last = x[x.size - aim] if down else x[aim - 1]
                beyond = sign * (last - anchor) * scale
                distance = sign * (q[i] - last) * scale
                v = distance + beyond
                decay = math.exp(near[i] - distance - beyond)
                if decay == 0.0:
                    continue
                for kind in range(degrees.size):
                    degree = degrees[kind]
                    for p in range(degree + 1):
                        e = tables[kind, p, degree - p]
                        for r in range(degree - p - 1, -1, -1):
                            e = e * v + tables[kind, p, r]
                        factors[p] = e
                    turned = -decay if down and odd[kind] else decay
                    for a in range(columns.shape[1]):
                        total = 0.0
                        for p in range(degree + 1):
                            total += factors[p] * (moments[a, p] + some[a, p])
                        sums[i, kind, a] += turned * total

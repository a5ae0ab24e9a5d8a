"""The loops of ``gaussian_line`` over points in order, where a box is a stretch of neighbours.

Then a box's powers are added up, and its polynomial is evaluated, for many points at once: a third
of the time of points that jump from box to box.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["left_out", "moments"]

_loose = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz"},
}
_TILE = 256  # points, whose powers fit into the nearest cache


@njit(**_loose)
def _place(x, origin, scale, boxes, box, place):
    """The box of each point and where in it from -1 to 1; box -1 for those that have none."""
    for t in range(len(x)):
        y = (x[t] - origin) * scale
        inside = y >= 0.0 and y < boxes
        y = y if inside else 0.0
        box[t] = np.int64(y) if inside else -1
        place[t] = 2.0 * (y - np.int64(y)) - 1.0


@njit(**_loose)
def _end(box, start, size):
    """Where the stretch of equal boxes that begins at ``start`` ends."""
    here = box[start]
    if box[size - 1] == here:
        return size
    end = start + 1
    while box[end] == here:
        end += 1
    return end


@njit(**_loose)
def moments(x, columns, plain, first, last, origin, scale, out):
    """As ``gaussian_loops.moments``, for sorted x."""
    boxes, c, degree = out.shape
    box, place, power = np.empty(_TILE, np.int64), np.empty(_TILE), np.empty(_TILE)
    for start in range(first, last, _TILE):
        size = min(last - start, _TILE)
        _place(x[start : start + size], origin, scale, boxes, box, place)
        low = 0
        while low < size:
            high = _end(box, low, size)
            b = box[low]
            v, p = place[low:high], power[low:high]
            for j in range(c if b >= 0 else 0):
                if j < plain:
                    p[:] = 1.0
                else:
                    p[:] = columns[j - plain, start + low : start + high]
                row = out[b, j]
                for k in range(0, degree, 4):
                    m0, m1, m2, m3 = 0.0, 0.0, 0.0, 0.0
                    for t in range(len(p)):
                        s, g = v[t], p[t]
                        m0 += g
                        g *= s
                        m1 += g
                        g *= s
                        m2 += g
                        g *= s
                        m3 += g
                        p[t] = g * s
                    row[k] += m0
                    row[k + 1] += m1
                    row[k + 2] += m2
                    row[k + 3] += m3
            low = high


@njit(**_loose)
def left_out(x, columns, plain, first, last, origin, scale, poly, least, rest):
    """Each point told by the others: weighted squared errors and their derivative by log width.

    x is sorted, weights are above 0; poly [b, 2, c, P] are those of ``k`` and ``udk``. Points
    without a box, or with a first sum below least[b] when they are left out, are not served: their
    indices go to ``rest``, from ``first`` on. Returns the sum of squares, the sum of miss times the
    derivative of what is told, and how many points are not served.
    """
    boxes, kinds, c, degree = poly.shape
    box, place = np.empty(_TILE, np.int64), np.empty(_TILE)
    sums = np.empty((kinds, c, _TILE))
    weight, share = np.ones(_TILE), np.empty(_TILE)
    squares, slope, refused = 0.0, 0.0, 0
    for start in range(first, last, _TILE):
        size = min(last - start, _TILE)
        _place(x[start : start + size], origin, scale, boxes, box, place)
        low = 0
        while low < size:
            high = _end(box, low, size)
            b = box[low]
            s = place[low:high]
            for kind in range(kinds if b >= 0 else 0):
                for j in range(c):
                    row, f = poly[b, kind, j], sums[kind, j, low:high]
                    f[:] = 0.0
                    for k in range(degree - 4, -1, -4):
                        a0, a1, a2, a3 = row[k], row[k + 1], row[k + 2], row[k + 3]
                        for t in range(len(f)):
                            v = s[t]
                            f[t] = (((f[t] * v + a3) * v + a2) * v + a1) * v + a0
            low = high
        if not plain:
            weight[:size] = columns[0, start : start + size]
        below, grown, bad = sums[0, 0], sums[1, 0], 0
        for t in range(size):
            rest_of = below[t] - weight[t]
            good = box[t] >= 0 and rest_of >= least[max(box[t], 0)]
            share[t] = 1.0 / rest_of if good else 0.0
            bad += 0 if good else 1
        if bad:
            for t in range(size):
                if share[t] == 0.0:
                    rest[first + refused] = start + t
                    refused += 1
        for j in range(1, c):
            column, above, moved = columns[j - plain, start : start + size], sums[0, j], sums[1, j]
            for t in range(size):
                told = (above[t] - column[t]) * share[t]
                miss = told - column[t] / weight[t]
                by_width = (told * grown[t] - moved[t]) * share[t]
                served = share[t] > 0.0  # what stands at the others was never computed
                squares += weight[t] * miss * miss if served else 0.0
                slope += weight[t] * miss * by_width if served else 0.0
    return squares, slope, refused

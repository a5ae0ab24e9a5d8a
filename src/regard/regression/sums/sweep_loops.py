"""The loops of the sweep over sorted points: running moments, and sums one by one.

A window's kernel is a function F(u) on a run of sorted points. About a centre near those points,
u = v - t with v of the query and t of the point, and F(v - t) is a short sum of E_p(v) phi_p(t):
phi_p(t) = t^p for polynomials; t^p cos(a t) and t^p sin(a t) for the cosine. So what a run of
points adds to a query is E(v) times the run's moments, the sums of phi_p(t_j) c_j.

Queries are taken in groups less than a width across. Points that all their windows share are
summed once; what windows have left of that grows from the last query to the first, what they have
right of it from the first to the last. Nothing is ever taken away from a sum, so nothing cancels.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = ["sweep"]

_options = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"contract"}}
_BLOCK = 128  # points a partial sum: rounding that always goes one way grows with n / 128 + 128
_FEW_QUERIES = 3  # groups and windows in which sums one by one are as fast as moments
_FEW_POINTS = 12
_DIRECT = 64  # points that are summed one by one, at once, where moments lose digits
_QUARTER = math.pi / 2


@njit(**_options)
def _kernel(code, u):
    """K(u) and K'(u) for |u| <= 1, in the form that keeps its digits near 1."""
    r = abs(u)
    sign = 1.0 if u > 0.0 else (-1.0 if u < 0.0 else 0.0)
    if code == 0:  # boxcar
        return 1.0, 0.0
    if code == 1:  # triangular
        return 1.0 - r, -sign
    if code == 5:  # tricube
        left = 1.0 - r * r * r
        return left * left * left, -9.0 * u * r * left * left
    if code == 6:  # cosine; at the edge 0, not what is left of pi / 2
        value = math.cos(_QUARTER * u) if r < 1.0 else 0.0
        return value, -_QUARTER * math.sin(_QUARTER * u)
    left = 1.0 - u * u
    if code == 2:  # epanechnikov
        return left, -2.0 * u
    if code == 3:  # biweight
        return left * left, -4.0 * u * left
    return left * left * left, -6.0 * u * left * left  # triweight


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
def _one_by_one(code, kinds, x, columns, q, width, begin, end, i, some, sums):
    """Add F((q - x_j) / width) c_j of the points from begin to end to sums[i]."""
    for low in range(begin, end, _BLOCK):
        high = min(low + _BLOCK, end)
        _clear(some)
        for j in range(low, high):
            u = (q - x[j]) / width
            value, slope = _kernel(code, u)
            for kind in range(kinds.shape[0]):
                f = slope if kinds[kind, 0] else value
                for _ in range(kinds[kind, 1]):
                    f *= u
                for a in range(columns.shape[1]):
                    some[kind, a] += f * columns[j, a]
        for kind in range(kinds.shape[0]):
            for a in range(columns.shape[1]):
                sums[i, kind, a] += some[kind, a]


@njit(**_options, forceinline=True)
def _add_points(trig, x, columns, centre, per_width, begin, end, moments):
    """Add the moments of points begin to end; their weights to the last of the first column."""
    last = moments.shape[1] - 2
    for j in range(begin, end):
        t = (x[j] - centre) * per_width
        if trig:
            cos, sin = math.cos(_QUARTER * t), math.sin(_QUARTER * t)
            for a in range(columns.shape[1]):
                c, s = cos * columns[j, a], sin * columns[j, a]
                for p in range(0, last, 2):
                    moments[a, p] += c
                    moments[a, p + 1] += s
                    c *= t
                    s *= t
            moments[0, last + 1] += columns[j, 0]
        else:
            for a in range(columns.shape[1]):
                c = columns[j, a]
                moments[a, 0] += c
                for p in range(1, last + 1):
                    c *= t
                    moments[a, p] += c


@njit(**_options, forceinline=True)
def _add_query(trig, table, degrees, kinds, edge, v, some, moments, factors, i, sums):
    """Add E(v) times the moments (``some`` and ``moments`` together) to sums[i].

    With an ``edge`` of 1 or -1 E goes by powers of the distance to it, small where K is.
    """
    w = 1.0 - edge * v if edge else v
    for kind in range(sums.shape[1]):
        degree = degrees[kind]
        if trig:
            _trig_factors(kinds[kind, 0], kinds[kind, 1], edge, v, w, factors)
        else:
            for p in range(degree + 1):
                e = table[kind, p, degree - p]
                for r in range(degree - p - 1, -1, -1):
                    e = e * w + table[kind, p, r]
                factors[p] = e
        for a in range(sums.shape[2]):
            total = 0.0
            for p in range(degree + 1):
                total += factors[p] * (moments[a, p] + some[a, p])
            sums[i, kind, a] += total


@njit(**_options)
def _trig_factors(slope, power, edge, v, w, factors):
    """E(v) of u^power cos(a u), or of its slope's: binomials in v and -t, times cos and sin."""
    cos, sin = math.cos(_QUARTER * w), math.sin(_QUARTER * w)
    if edge:
        cos, sin = sin, edge * cos
    if slope:
        cos, sin = -_QUARTER * sin, _QUARTER * cos
    for p in range(power + 1):
        ways = 2.0 if power == 2 and p == 1 else 1.0
        e = ways if p % 2 == 0 else -ways
        for _ in range(power - p):
            e *= v
        factors[2 * p] = e * cos
        factors[2 * p + 1] = e * sin


@njit(**_options)
def _piece(
    trig, table, degrees, kinds, x, columns, q, width, begin, end, start, stop,
    edge, fold, some, moments, factors, sums, mass,
):  # fmt: skip
    """Add to queries start to stop the points begin[i] to end[i].

    The last query's begin is at most the first one's end.
    """
    weight = moments.shape[1] - 1 if trig else 0  # the moment that is the sum of the weights
    per_width = 1.0 / width
    for part in range(1 if fold else 0, 3):  # what they share; right of it; left of it
        if part == 0:
            near, far = begin[stop - 1], end[start]
        elif part == 1:
            near, far = begin[stop - 1] if fold else end[start], end[stop - 1]
        else:
            near, far = begin[start], begin[stop - 1]
        if near >= far:
            continue
        centre = 0.5 * x[near] + 0.5 * x[far - 1]
        _clear(some)
        _clear(moments)
        held = 0  # points in ``some``
        done = far if part == 2 else near
        for k in range(stop - start):
            i = stop - 1 - k if part == 2 else start + k
            aim = far if part == 0 else (end[i] if part == 1 else begin[i])
            while done != aim:
                room = _BLOCK - held
                if part == 2:
                    low, high = max(aim, done - room), done
                    done = low
                else:
                    low, high = done, min(aim, done + room)
                    done = high
                _add_points(trig, x, columns, centre, per_width, low, high, some)
                held += high - low
                if held == _BLOCK:
                    _join(some, moments)
                    held = 0
            if done != (far if part == 2 else near):
                v = (q[i] - centre) * per_width
                _add_query(trig, table, degrees, kinds, edge, v, some, moments, factors, i, sums)
                mass[i - start] += moments[0, weight] + some[0, weight]


@njit(**_options)
def sweep(
    first, step, size, code, order, tables, degrees, kinds, span, fold, at_edge, x, columns, q,
    width, lo, left, right, hi, halves, sums, again,
):  # fmt: skip
    """Sums [m, kinds, columns] over the points lo to left and right to hi of each sorted query.

    With ``halves`` of 1 left is hi, and there is nothing from right on. ``span`` is how far groups
    reach, in widths: below 2, at most 1 with two halves; 0 sums one by one. ``fold`` takes what
    windows share together with what is right of it: one evaluation less, about a centre further
    away. Where most of the mass lies at the edge, so that moments lose digits, again[i] is set;
    ``at_edge`` says that the queries are such ones.
    """
    trig = code == 6
    # mass within s of the edge has a mean K of s^order: digits go where s is far below span
    enough = (0.1 * min(span, 1.0)) ** order
    count = 0
    for kind in range(degrees.size):
        count = max(count, degrees[kind] + 1)
    some = np.empty((columns.shape[1], count + 1))  # one more: the weights, for the cosine
    moments = np.empty_like(some)
    factors = np.empty(count)
    few = np.empty((sums.shape[1], sums.shape[2]))
    mass = np.empty(size)
    for unit in range(first * size, q.size, step * size):
        last = min(unit + size, q.size)
        start = unit
        while start < last:
            stop = start + 1
            while stop < last and (q[stop] - q[start]) / width <= span:
                stop += 1
            by_moments = (
                span > 0.0
                and stop - start > _FEW_QUERIES
                and hi[stop - 1] - lo[start] > _FEW_POINTS
            )
            if by_moments:
                for i in range(stop - start):
                    mass[i] = 0.0
                for half in range(halves):
                    begin, end = (right, hi) if half else (lo, left)
                    edge = (1 - 2 * half) if at_edge else 0
                    table = tables[half + 2] if at_edge else tables[half]
                    _piece(
                        trig, table, degrees, kinds, x, columns, q, width, begin, end,
                        start, stop, edge, fold, some, moments, factors, sums, mass,
                    )  # fmt: skip
            for i in range(start, stop):
                if by_moments:
                    if not sums[i, 0, 0] < enough * mass[i - start]:
                        continue
                    if hi[i] - lo[i] > _DIRECT:
                        again[i] = True
                        continue
                    for kind in range(sums.shape[1]):
                        for a in range(sums.shape[2]):
                            sums[i, kind, a] = 0.0
                elif i > start and q[i] == q[i - 1] and left[i] == left[i - 1]:
                    for kind in range(sums.shape[1]):
                        for a in range(sums.shape[2]):
                            sums[i, kind, a] = sums[i - 1, kind, a]
                    continue
                _one_by_one(code, kinds, x, columns, q[i], width, lo[i], left[i], i, few, sums)
                _one_by_one(code, kinds, x, columns, q[i], width, right[i], hi[i], i, few, sums)
            start = stop

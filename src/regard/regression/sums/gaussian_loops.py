"""The loops of ``gaussian_line``: over points, boxes and queries, for numba's compiler."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from regard.attention.cpu.elementary import exp64

__all__ = ["average", "evaluate", "moments", "translate", "windows"]

_options = {"nogil": True, "cache": True, "error_model": "numpy"}
_contract = {**_options, "fastmath": {"contract"}}
_loose = {**_options, "fastmath": {"contract", "reassoc", "nsz"}}

_TILE = 256  # points whose kernels are computed before they are summed
_PAYS = 4  # queries, from which on a shared pass takes less time than one each
_CANCELLED = 64 * 2.0**-53  # rounding of a sum, as a share of it


@njit(**_contract)
def moments(x, columns, plain, first, last, origin, scale, out):
    """out[b, j, k] += column j v^k, v from -1 to 1 across the box b of x[i], if it has one.

    With ``plain`` = 1 the first column is 1 everywhere, and ``columns`` [c, n] begins with the
    second; else ``plain`` is 0.
    """
    boxes, c = out.shape[:2]
    blocks = out.shape[2] // 4
    for i in range(first, last):
        y = (x[i] - origin) * scale
        if not (y >= 0.0 and y < boxes):
            continue
        b = np.uint64(np.int64(y))  # not signed, or each index would be tested for its sign
        v = 2.0 * (y - np.int64(y)) - 1.0
        v2 = v * v
        v4 = v2 * v2
        for j in range(c):
            p = 1.0 if j < plain else columns[j - plain, i]
            for k in range(0, 4 * blocks, 4):
                pv = p * v
                out[b, j, k] += p
                out[b, j, k + 1] += pv
                out[b, j, k + 2] += p * v2
                out[b, j, k + 3] += pv * v2
                p *= v4


@njit(**_loose)
def translate(power, error, parity, m, weight, first, last, out, wrong):
    """Add up what all boxes in reach contribute to the boxes first..last, and the error they make.

    power [J, P, P] and error [J] belong to a kernel with K(-u) = parity K(u); m [c, P, J + B + J]
    and weight [J + B + J] have empty boxes around them; out [c, P, B] and wrong [B] are filled.
    """
    reach = len(error) - 1
    c, degree, boxes = m.shape[0], m.shape[1], m.shape[2] - 2 * reach
    nearest, farthest = max(-reach, first - boxes + 1), min(reach, last - 1)  # that has any box
    # slices counted from 0: other indices are tested for their sign, one number at a time
    here = wrong[first:last]
    here[:] = 0.0
    for j in range(nearest, farthest + 1):
        e, there = error[abs(j)], weight[first + reach - j : last + reach - j]
        for b in range(len(here)):
            here[b] += e * there[b]
    for i in range(c):
        for a in range(degree):
            sums = out[i, a, first:last]
            sums[:] = 0.0
            for j in range(nearest, farthest + 1):
                sign, odd = 1.0, 1.0
                if j < 0:  # seen in a mirror
                    sign, odd = parity * (1.0 - 2.0 * (a % 2)), -1.0
                low, high = first + reach - j, last + reach - j
                for k in range(0, degree, 4):
                    p0 = sign * power[abs(j), a, k]
                    p1 = odd * sign * power[abs(j), a, k + 1]
                    p2 = sign * power[abs(j), a, k + 2]
                    p3 = odd * sign * power[abs(j), a, k + 3]
                    m0, m1 = m[i, k, low:high], m[i, k + 1, low:high]
                    m2, m3 = m[i, k + 2, low:high], m[i, k + 3, low:high]
                    for b in range(len(sums)):
                        sums[b] += (p0 * m0[b] + p1 * m1[b]) + (p2 * m2[b] + p3 * m3[b])


@njit(**_contract)
def evaluate(q, own, plain, leave_out, first, last, origin, scale, poly, least, out):
    """out[kind, i, c] from the polynomials poly[b, kind, c, P]; how many queries it must not serve.

    Those have no box, or a first sum below least[b]: their out[0, i, 0] is NaN. ``own`` are the
    columns as in ``moments``, of which each query leaves its own out.
    """
    boxes, kinds, c, degree = poly.shape
    refused = 0
    box, place = np.empty(_TILE, np.int64), np.empty(_TILE)
    for start in range(first, last, _TILE):
        stop = min(last - start, _TILE)
        for t in range(stop):
            y = (q[start + t] - origin) * scale
            inside = y >= 0.0 and y < boxes
            y = y if inside else 0.0
            box[t] = np.int64(y)
            place[t] = 2.0 * (y - np.int64(y)) - 1.0 if inside else np.nan
        for kind in range(kinds):
            for j in range(c):
                # long loops inside, short ones outside: half the time of the other way round
                for t in range(stop):
                    row = poly[np.uint64(box[t]), kind, j]
                    s = place[t]
                    s2 = s * s
                    s4 = s2 * s2
                    value = (row[0] + row[1] * s) + (row[2] + row[3] * s) * s2
                    power = s4
                    for k in range(4, degree, 4):
                        value += power * (
                            (row[k] + row[k + 1] * s) + (row[k + 2] + row[k + 3] * s) * s2
                        )
                        power *= s4
                    out[kind, start + t, j] = value
        if leave_out:
            for t in range(stop):
                for j in range(c):
                    out[0, start + t, j] -= 1.0 if j < plain else own[j - plain, start + t]
        for t in range(stop):
            if not out[0, start + t, 0] >= least[np.uint64(box[t])]:
                out[0, start + t, 0] = np.nan
                refused += 1
    return refused


@njit(**_contract)
def average(q, middle, level, first, last, origin, scale, poly, least, out):
    """out[i] = level + second sum / first sum at q[i] - middle; how many queries it must not serve.

    Those as in ``evaluate``: their out[i] is NaN. poly [b, P, 2] has the highest power first, and
    both sums' coefficients side by side: one line of the cache serves both.
    """
    boxes, degree = np.float64(poly.shape[0]), np.uint64(poly.shape[1])
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    refused = 0
    for i in range(first, last):
        y = ((q[i] - middle) - origin) * scale
        if not (y >= 0.0 and y < boxes):
            out[i] = np.nan
            refused += 1
            continue
        b = np.uint64(np.int64(y))
        s = 2.0 * (y - np.int64(y)) - 1.0
        below, above = 0.0, 0.0
        for k in range(np.uint64(0), degree, four):
            below = below * s + poly[b, k, 0]
            above = above * s + poly[b, k, 1]
            below = below * s + poly[b, k + one, 0]
            above = above * s + poly[b, k + one, 1]
            below = below * s + poly[b, k + two, 0]
            above = above * s + poly[b, k + two, 1]
            below = below * s + poly[b, k + three, 0]
            above = above * s + poly[b, k + three, 1]
        if below >= least[b]:
            out[i] = level + above / below
        else:
            out[i] = np.nan
            refused += 1
    return refused


@njit(**_options)
def _nearest(x, q, skip):
    """Where in sorted x the point nearest to q is, leaving out ``skip``; -1 if there is none."""
    low, high = 0, len(x)
    while low < high:
        mid = (low + high) // 2
        if x[mid] < q:
            low = mid + 1
        else:
            high = mid
    below = low - 1
    if below == skip:
        below -= 1
    if low == skip:
        low += 1
    if low >= len(x):
        return below
    if below < 0 or x[low] - q < q - x[below]:
        return low
    return below


@njit(**_options)
def _first_at(x, value):
    """The first of sorted x that is not below the value."""
    low, high = 0, len(x)
    while low < high:
        mid = (low + high) // 2
        if x[mid] < value:
            low = mid + 1
        else:
            high = mid
    return low


@njit(**_options)
def _window(x, q, near, width, cut):
    """The points x with (q - x)^2 < (q - near)^2 + 2 cut width^2, as first and last + 1."""
    z = abs(q - near) / width
    reach = math.sqrt(z * z + 2.0 * cut)
    beyond = 2.0 * cut / (z + reach) * width  # reach - z, which would cancel
    if q >= near:
        low, high = near - beyond, q + reach * width
    else:
        low, high = q - reach * width, near + beyond
    return _first_at(x, low), _first_at(x, np.nextafter(high, np.inf))


@njit(**_loose)
def _gather(x, columns, low, high, skip, near, z, width, size, out, e, v):
    """out[c, k] = sum of columns times exp(v z - v^2/2) (v / size)^k / k!, v = (x - near) / width.

    That is exp(((q - near)^2 - (q - x)^2) / 2) for the query at z widths from ``near``.
    """
    c, terms = out.shape
    for i in range(c):
        for k in range(terms):
            out[i, k] = 0.0
    for start in range(low, high, _TILE):
        stop = min(high - start, _TILE)
        for t in range(stop):
            v[t] = (x[start + t] - near) / width
        for t in range(stop):
            e[t] = exp64(v[t] * (z - 0.5 * v[t]))
        if start <= skip < start + stop:
            e[skip - start] = 0.0
        for k in range(terms):
            if k > 0:
                by = 1.0 / (size * k)
                for t in range(stop):
                    e[t] *= v[t] * by
            for i in range(c):
                total = 0.0
                for t in range(stop):
                    total += e[t] * columns[i, start + t]
                out[i, k] += total


@njit(**_options)
def _cut(total, tol, weight):
    """How much smaller than the nearest point's, in logarithms, a kernel may be left out.

    All that is left out is then at most tol / 10 of that point's share, even times
    u^2 / (1 + z^2), z the nearest point's u: that is at most 1 + 2 cut.
    """
    cut = math.log(10.0 * total / (tol * weight))
    return cut + math.log(1.0 + 4.0 * cut)


@njit(**_options)
def _alone(
    x, columns, total, width, tol, q, skip, orders, signs, index, out, log_scale, sums, e, v
):
    """One query, by the points of its window."""
    c = len(columns)
    at = _nearest(x, q, skip)
    if at < 0:  # nobody else
        out[:, index, :] = 0.0
        log_scale[index] = 0.0
        return
    near = x[at]
    low, high = _window(x, q, near, width, _cut(total, tol, columns[0, at]))
    z = (q - near) / width
    _gather(x, columns, low, high, skip, near, z, width, 1.0, sums, e, v)
    for j in range(c):
        f0, f1, f2 = sums[j, 0], sums[j, 1], 2.0 * sums[j, 2]
        for kind in range(len(orders)):
            out[kind, index, j] = signs[kind] * _turned(f0, f0, f1, f2, z, orders[kind])
    log_scale[index] = -0.5 * z * z


@njit(**_options)
def _turned(k, f0, f1, f2, z, order):
    """The sum of u^order K, from those of v^0, v^1, v^2 K: u = z - v."""
    if order == 0:
        return k
    if order == 1:
        return z * f0 - f1
    return z * z * f0 - 2.0 * z * f1 + f2


@njit(**_options)
def _together(x, columns, total, width, tol, q, first, last):
    """How many queries from the first on can share a pass, and that pass.

    Returns stop, low, high, middle, near, size; stop is first where sharing does not pay.
    """
    at = _nearest(x, q[first], -1)
    near = x[at]
    low, high = _window(x, q[first], near, width, _cut(total, tol, columns[0, at]))
    size = max(near - x[low], x[high - 1] - near) / width
    z = abs(q[first] - near) / width
    most = 2.0 * width * min(1.0 / max(size, 1e-300), 0.25 * max(z, 1.0))
    stop = first + 1
    while stop < last and q[stop] - q[first] <= most:
        stop += 1
    while stop >= first + _PAYS:
        middle = q[first] + 0.5 * (q[stop - 1] - q[first])
        at = _nearest(x, middle, -1)
        near = x[at]
        cut = _cut(total, tol, columns[0, at])
        # what is small at both ends is small between them: its logarithm is a straight line
        low, high = _window(x, q[first], near, width, cut)
        lower, higher = _window(x, q[stop - 1], near, width, cut)
        low, high = min(low, lower), max(high, higher)
        size = max(max(near - x[low], x[high - 1] - near) / width, 1e-300)
        if max(middle - q[first], q[stop - 1] - middle) / width * size <= 1.0:
            return stop, low, high, middle, near, size
        stop = first + (stop - first) // 2
    return first, low, high, near, near, size


@njit(**_options)
def windows(
    x, columns, total, width, tol, q, index, rank, first, last, terms, orders, signs,
    out, log_scale,
):  # fmt: skip
    """The sums at sorted queries first..last, from sorted points x, columns [c, n].

    Fills out[kind, index[i], :] for signs[kind] u^orders[kind] K, and log_scale[index[i]]. With
    rank, query i leaves out the point rank[i] (-1: none).

    Queries near each other share a pass over their window: with s from their middle to the query,
    K of each point changes by exp(s v), v the point's distance from the point nearest to the
    middle. As long as |s v| <= 1, ``terms`` of its series will do; each point's error is relative
    to its own contribution, so nothing has to be assumed about the data.
    """
    c = len(columns)
    leave_out = len(rank) > 0
    sums, few = np.empty((c, terms + 2)), np.empty((c, 3))
    e, v = np.empty(_TILE), np.empty(_TILE)
    i = first
    while i < last:
        stop, low, high, middle, near, size = _together(x, columns, total, width, tol, q, i, last)
        if stop == i:
            skip = rank[i] if leave_out else -1
            _alone(
                x, columns, total, width, tol, q[i], skip,
                orders, signs, index[i], out, log_scale, few, e, v,
            )  # fmt: skip
            i += 1
            continue
        z = (middle - near) / width
        _gather(x, columns, low, high, -1, near, z, width, size, sums, e, v)
        while i < stop:
            s = (q[i] - middle) / width * size
            z = (q[i] - near) / width
            mine = rank[i] if leave_out else -1
            alone = False
            for j in range(c):
                f0, f1, f2 = 0.0, 0.0, 0.0
                for k in range(terms - 1, -1, -1):  # the series has 1 / k! in it
                    f0 = f0 * s + sums[j, k]
                    f1 = f1 * s + sums[j, k + 1] * (k + 1)
                    f2 = f2 * s + sums[j, k + 2] * ((k + 1) * (k + 2))
                f1 *= size
                f2 *= size * size
                rest = f0
                if mine >= 0:
                    rest -= math.exp(0.5 * z * z) * columns[j, mine]
                    if j == 0:
                        alone = rest * tol < _CANCELLED * f0
                for kind in range(len(orders)):
                    value = _turned(rest, f0, f1, f2, z, orders[kind])
                    out[kind, index[i], j] = signs[kind] * value
            log_scale[index[i]] = -0.5 * z * z
            if alone:
                _alone(
                    x, columns, total, width, tol, q[i], mine,
                    orders, signs, index[i], out, log_scale, few, e, v,
                )  # fmt: skip
            i += 1

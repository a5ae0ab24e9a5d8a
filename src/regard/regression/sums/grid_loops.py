"""Loops over points in boxes: sorting into boxes, moments of a box, a box's polynomial at queries.

Three axes always; with two features the first axis has one box and order 1. Powers are kept up to a
size along an axis and a degree in all. Points are taken LANES at a time: loops of a fixed length
become vector code.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["LANES", "assign", "bounds", "evaluate", "moments", "occupy", "pack", "scatter"]

_options = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"contract"}}
_loose = {**_options, "fastmath": {"contract", "reassoc"}}

LANES = 64  # shorter loops are unrolled before they can become vector code


@njit(**_options)
def bounds(x):
    """The least and the largest of each feature: a tenth of the time of two reductions."""
    low, high = x[0].copy(), x[0].copy()
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            low[k] = min(low[k], x[i, k])
            high[k] = max(high[k], x[i, k])
    return low, high


@njit(**_options)
def _cell(x, low, per_side):
    return np.floor((x - low) * per_side)


@njit(**_options)
def occupy(x, k, low, per_side, occupied):
    last = occupied.size - 1
    for i in range(x.shape[0]):
        cell = int(_cell(x[i, k], low, per_side))
        occupied[cell if cell < last else last] = True


@njit(**_options)
def assign(first, step, chunk, x, low, per_side, lookup, sizes, boxes, box, counts):
    """The box of each point, `boxes` for those in none, and how many of a chunk are in each."""
    d = x.shape[1]
    n = x.shape[0]
    for part in range(first, counts.shape[0], step):
        for i in range(part * chunk, min((part + 1) * chunk, n)):
            found = 0
            for k in range(d):
                cell = _cell(x[i, k], low[k], per_side[k])
                if cell == sizes[k, 0] and x[i, k] <= low[k] + cell / per_side[k]:
                    cell -= 1.0  # the upper edge of the last box belongs to it
                if not (cell >= 0.0 and cell < sizes[k, 0]):
                    found = -1
                    break
                at = lookup[k, int(cell)]
                if at < 0:
                    found = -1
                    break
                found = found * sizes[k, 1] + at
            found = boxes if found < 0 else found
            box[i] = found
            counts[part, found] += 1


@njit(**_options)
def scatter(first, step, chunk, box, offsets, order):
    """Write each point's index where its box begins, chunk after chunk."""
    n = box.size
    for part in range(first, offsets.shape[0], step):
        for i in range(part * chunk, min((part + 1) * chunk, n)):
            at = offsets[part, box[i]]
            order[at] = i
            offsets[part, box[i]] = at + 1


@njit(**_options)
def _powers(x, k, order, begin, end, centre, inverse, out):
    """Powers of the offsets of the points from begin to end, and of 0 behind them."""
    for lane in range(LANES):
        out[0, lane] = 1.0
    last = out.shape[0] - 1
    if last:
        for lane in range(end - begin):
            out[1, lane] = (x[order[begin + lane], k] - centre) * inverse
        for lane in range(end - begin, LANES):
            out[1, lane] = 0.0
    for a in range(2, last + 1):
        for lane in range(LANES):
            out[a, lane] = out[a - 1, lane] * out[1, lane]


@njit(**_loose)
def _moments(weight, p0, p1, p2, degree, some, parts, acc):
    size = p1.shape[0]
    for e in range(p0.shape[0]):
        for lane in range(LANES):
            some[lane] = weight[lane] * p0[e, lane]
        for f in range(min(size, degree - e)):
            for lane in range(LANES):
                parts[lane] = some[lane] * p1[f, lane]
            for g in range(min(size, degree - e - f)):
                total = 0.0
                for lane in range(LANES):
                    total += parts[lane] * p2[g, lane]
                acc[e, f, g] += total


@njit(**_options)
def moments(first, step, starts, order, x, columns, col, inverse, centres, degree, total):
    """Sums over a box of one column * product of v_k^a_k, where a_0 + a_1 + a_2 < degree.

    They go to `total` [n0, order0, n1, size, n2, size]; v is the offset from the box's
    centre in widths.
    """
    d = x.shape[1]
    order0, size = total.shape[1], total.shape[3]
    acc = np.zeros((order0, size, size))
    p0, p1, p2 = np.ones((order0, LANES)), np.ones((size, LANES)), np.ones((size, LANES))
    weight, some, parts = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    n1, n2 = total.shape[2], total.shape[4]
    for b in range(first, starts.size - 1, step):
        if starts[b] == starts[b + 1]:
            continue
        b0, b1, b2 = b // (n1 * n2), b // n2 % n1, b % n2
        acc[:] = 0.0
        for begin in range(starts[b], starts[b + 1], LANES):
            end = min(begin + LANES, starts[b + 1])
            _powers(x, 0, order, begin, end, centres[0, b0], inverse[0], p0)
            _powers(x, d - 2, order, begin, end, centres[1, b1], inverse[d - 2], p1)
            _powers(x, d - 1, order, begin, end, centres[2, b2], inverse[d - 1], p2)
            weight[:] = 0.0
            for lane in range(end - begin):
                weight[lane] = columns[order[begin + lane], col]
            _moments(weight, p0, p1, p2, degree, some, parts, acc)
        for e in range(order0):
            for f in range(min(size, degree - e)):
                for g in range(min(size, degree - e - f)):
                    total[b0, e, b1, f, b2, g] = acc[e, f, g]


@njit(**_options)
def pack(first, step, total, degree, col, local):
    """Of [n0, order0, n1, size, n2, size], what counts, to `local` [boxes, columns, terms]."""
    _, order0, n1, size, n2, _ = total.shape
    for b in range(first, local.shape[0], step):
        b0, b1, b2 = b // (n1 * n2), b // n2 % n1, b % n2
        at = 0
        for e in range(order0):
            for f in range(min(size, degree - e)):
                for g in range(min(size, degree - e - f)):
                    local[b, col, at] = total[b0, e, b1, f, b2, g]
                    at += 1


@njit(**_options)
def _contract(local, p0, p1, p2, degree, row, plane, out):
    size = local.shape[1]
    for lane in range(LANES):
        out[lane] = 0.0
    for e in range(local.shape[0]):
        for lane in range(LANES):
            plane[lane] = 0.0
        for f in range(min(size, degree - e)):
            for lane in range(LANES):
                row[lane] = 0.0
            for g in range(
                0, min(size, degree - e - f), 4
            ):  # a row is read and written once for four
                c0, c1 = local[e, f, g], local[e, f, g + 1]
                c2, c3 = local[e, f, g + 2], local[e, f, g + 3]
                for lane in range(LANES):
                    row[lane] += (c0 * p2[g, lane] + c1 * p2[g + 1, lane]) + (
                        c2 * p2[g + 2, lane] + c3 * p2[g + 3, lane]
                    )
            for lane in range(LANES):
                plane[lane] += row[lane] * p1[f, lane]
        for lane in range(LANES):
            out[lane] += plane[lane] * p0[e, lane]


@njit(**_options)
def _slopes(basis):
    for a in range(1, basis.shape[1]):
        for lane in range(LANES):
            basis[1, a, lane] = a * basis[0, a - 1, lane]
    for a in range(2, basis.shape[1]):
        for lane in range(LANES):
            basis[2, a, lane] = a * (a - 1) * basis[0, a - 2, lane]


@njit(**_options)
def evaluate(
    first, step, starts, order, q, inverse, centres, n1, n2, size, degree, local, least, own,
    once, twice, sure, k, uk, uuk,
):  # fmt: skip
    """The polynomials of each box at the queries in it.

    `sure` becomes True where the first column's sum, less the query's own part in `own`, is at
    least `least` of the box: below it the error of the polynomials may be seen. The sums of the
    others are left as they are.
    """
    d = q.shape[1]
    c = local.shape[1]
    order0 = size if d == 3 else 1
    padded = (size + 3) // 4 * 4
    box = np.zeros((c, order0, size, padded))
    basis0, basis1 = np.zeros((3, order0, LANES)), np.zeros((3, size, LANES))
    basis2 = np.zeros((3, padded, LANES))
    row, plane, value, slope = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    for b in range(first, local.shape[0], step):
        if starts[b] == starts[b + 1]:
            continue
        b0, b1, b2 = b // (n1 * n2), b // n2 % n1, b % n2
        for col in range(c):
            at = 0
            for e in range(order0):
                for f in range(min(size, degree - e)):
                    for g in range(min(size, degree - e - f)):
                        box[col, e, f, g] = local[b, col, at]
                        at += 1
        for begin in range(starts[b], starts[b + 1], LANES):
            end = min(begin + LANES, starts[b + 1])
            _powers(q, 0, order, begin, end, centres[0, b0], inverse[0], basis0[0])
            _powers(q, d - 2, order, begin, end, centres[1, b1], inverse[d - 2], basis1[0])
            _powers(q, d - 1, order, begin, end, centres[2, b2], inverse[d - 1], basis2[0])
            if once or twice:
                _slopes(basis0)
                _slopes(basis1)
                _slopes(basis2)
            for col in range(c):
                _contract(box[col], basis0[0], basis1[0], basis2[0], degree, row, plane, value)
                for lane in range(end - begin):
                    i = order[begin + lane]
                    rest = value[lane] - own[i, col] if own.shape[0] else value[lane]
                    if col == 0:
                        sure[i] = rest >= least[b]
                    if sure[i]:
                        k[i, col] = rest
                for times in range(1, 3):
                    if not (once if times == 1 else twice):
                        continue
                    for a in range(3 - d, 3):
                        _contract(
                            box[col],
                            basis0[times if a == 0 else 0],
                            basis1[times if a == 1 else 0],
                            basis2[times if a == 2 else 0],
                            degree,
                            row,
                            plane,
                            slope,
                        )
                        for lane in range(end - begin):
                            i = order[begin + lane]
                            if not sure[i]:
                                continue
                            if times == 1:
                                uk[i, col, a - 3 + d] = -slope[lane]
                            else:
                                uuk[i, col, a - 3 + d] = value[lane] + slope[lane]

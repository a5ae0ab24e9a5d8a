"""The loops over all pairs: kernels of a tile of points at one query, and the sums with them.

A kernel is a number, its formulas are branches around whole loops: each loop stays vector code, and
all are compiled once.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from regard.attention.cpu.elementary import exp64

__all__ = ["CODES", "TILE", "TOGETHER", "far", "near"]

_options = {"nogil": True, "cache": True, "error_model": "numpy"}
_exact = {**_options, "fastmath": {"contract"}}
_loose = {**_options, "fastmath": {"contract", "reassoc"}}

TILE = 256
TOGETHER = 8  # queries a thread takes at a time: a tile is read once for all of them
CODES = {
    "gaussian": 0,
    "laplace": 1,
    "matern32": 2,
    "matern52": 3,
    "epanechnikov": 4,
    "boxcar": 5,
    "triangular": 6,
    "tricube": 7,
    "biweight": 8,
    "triweight": 9,
    "cosine": 10,
}
EDGE = 4  # the first of those with an edge
_RATES = (0.0, 1.0, math.sqrt(3.0), math.sqrt(5.0))
_THIRDS = (0.0, 0.0, 0.0, 1.0 / 3.0)
_HALF_PI = math.pi / 2


@njit(**_exact)
def _inside(code, u):
    """K(u) of a kernel with an edge."""
    size = abs(u)
    if size > 1.0:
        return 0.0
    if code == 4:
        return 1.0 - u * u
    if code == 5:
        return 1.0
    if code == 6:
        return 1.0 - size
    if code == 7:
        return (1.0 - size * size * size) ** 3
    if code == 8:
        return (1.0 - u * u) ** 2
    if code == 9:
        return (1.0 - u * u) ** 3
    return np.cos(_HALF_PI * u)


@njit(**_exact)
def _inside_slope(code, u):
    size = abs(u)
    if size >= 1.0 or code == 5:
        return 0.0
    if code == 4:
        return -2.0 * u
    if code == 6:
        return -np.sign(u)
    if code == 7:
        return -9.0 * u * size * (1.0 - size * size * size) ** 2
    if code == 8:
        return -4.0 * u * (1.0 - u * u)
    if code == 9:
        return -6.0 * u * (1.0 - u * u) ** 2
    return -_HALF_PI * np.sin(_HALF_PI * u)


@njit(**_exact)
def _front(code, u):
    """The factor of a Matern kernel before its exponential."""
    s = _RATES[code] * abs(u)
    return 1.0 + s * (1.0 + _THIRDS[code] * s)


@njit(**_exact)
def _log(code, u):
    if code == 0:
        return -0.5 * u * u
    if code == 1:
        return -abs(u)
    return np.log(_front(code, u)) - _RATES[code] * abs(u)


@njit(**_exact)
def _log_step(code, u, step):
    """By how much log K grows from u to u + step: far away the logarithms have no digits for it."""
    if code == 0:
        return -step * (u + 0.5 * step)
    after = u + step
    one_side = u * after >= 0.0
    more = (step if u + after >= 0.0 else -step) if one_side else abs(after) - abs(u)
    if code == 1:
        return -more
    more *= _RATES[code]
    s = _RATES[code] * abs(u)
    ratio = more * (1.0 + _THIRDS[code] * (2.0 * s + more)) / (1.0 + s * (1.0 + _THIRDS[code] * s))
    if code == 2:
        ratio = more / (1.0 + s)
    return np.log1p(max(ratio, -1.0)) - more


@njit(**_exact)
def _log_slope(code, u):
    """K'(u) / K(u) of a kernel that is nowhere 0."""
    if code == 0:
        return -u
    side = np.sign(u)
    if code == 1:
        return -side
    s = _RATES[code] * abs(u)
    third = _THIRDS[code]
    return side * _RATES[code] * ((2.0 * third - 1.0) * s - third * s * s) / _front(code, u)


@njit(**_exact)
def _weigh(code, q, begin, size, xt, inverse, out, front):
    """K of the points from begin at a query."""
    for j in range(size):
        out[j] = 0.0
    d = q.size
    if code == 0:
        for k in range(d):
            at, factor = q[k], -0.5 * inverse[k] * inverse[k]
            row = xt[k, begin : begin + size]
            for j in range(size):
                apart = at - row[j]
                out[j] += apart * apart * factor
        for j in range(size):
            out[j] = exp64(out[j])
    elif code == 1:
        for k in range(d):
            at, factor = q[k], inverse[k]
            row = xt[k, begin : begin + size]
            for j in range(size):
                out[j] -= abs(at - row[j]) * factor
        for j in range(size):
            out[j] = exp64(out[j])
    elif code < EDGE:
        for j in range(size):
            front[j] = 1.0
        third = _THIRDS[code]
        for k in range(d):
            at, factor = q[k], inverse[k] * _RATES[code]
            row = xt[k, begin : begin + size]
            for j in range(size):
                s = abs(at - row[j]) * factor
                out[j] -= s
                front[j] *= 1.0 + s * (1.0 + third * s)
        for j in range(size):
            out[j] = exp64(out[j]) * front[j]
    else:
        for j in range(size):
            out[j] = 1.0
        for k in range(d):
            at, factor = q[k], inverse[k]
            row = xt[k, begin : begin + size]
            for j in range(size):
                out[j] *= _inside(code, (at - row[j]) * factor)


@njit(**_loose)
def _dot(a, b):
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@njit(**_exact)
def _slope(code, q, f, begin, size, xt, inverse, weights, out):
    """K' in feature f with the K of the others; at a query's own point it is 0."""
    for j in range(size):
        u = (q[f] - xt[f, begin + j]) * inverse[f]
        if code < EDGE:
            out[j] = weights[j] * _log_slope(code, u) if weights[j] != 0.0 else 0.0
        else:
            part = _inside_slope(code, u)
            for k in range(q.size):
                if k != f:
                    part *= _inside(code, (q[k] - xt[k, begin + j]) * inverse[k])
            out[j] = part


@njit(**_exact)
def _add(code, q, begin, size, xt, ct, inverse, weights, base, wanted, k, others):
    """Add a tile's part to the sums; `wanted` marks uk, uuk, dk, udk."""
    c = ct.shape[0]
    for col in range(c):
        k[col] += _dot(weights[:size], ct[col, begin : begin + size])
    for kind in range(4):
        if not wanted[kind]:
            continue
        for f in range(q.size):
            if kind >= 2:
                _slope(code, q, f, begin, size, xt, inverse, weights, base)
            else:
                for j in range(size):
                    base[j] = weights[j]
            for _ in range(0 if kind == 2 else (2 if kind == 1 else 1)):
                for j in range(size):
                    base[j] *= (q[f] - xt[f, begin + j]) * inverse[f]
            for col in range(c):
                others[kind, col, f] += _dot(base[:size], ct[col, begin : begin + size])


@njit(**_exact)
def near(first, step, code, q, leave_out, xt, ct, inverse, wanted, k, others):
    """Plain sums: for exponentials right as long as they are above 0 by far."""
    m, n = q.shape[0], xt.shape[1]
    weights, front, base = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    for row in range(first * TOGETHER, m, step * TOGETHER):
        for begin in range(0, n, TILE):
            size = min(TILE, n - begin)
            for i in range(row, min(row + TOGETHER, m)):
                _weigh(code, q[i], begin, size, xt, inverse, weights, front)
                leave = leave_out[i] if leave_out.size else -1
                if begin <= leave < begin + size:
                    weights[leave - begin] = 0.0
                _add(
                    code, q[i], begin, size, xt, ct, inverse, weights, base, wanted,
                    k[i], others[i],
                )  # fmt: skip


@njit(**_exact)
def far(first, step, code, which, q, leave_out, xt, ct, inverse, wanted, k, others, log_scale):
    """Sums relative to the point that counts most, by differences between points."""
    d, n = xt.shape
    weights, base = np.empty(TILE), np.empty(TILE)
    for s in range(first, which.size, step):
        i = which[s]
        leave = leave_out[i] if leave_out.size else -1
        k[i] = 0.0
        others[i] = 0.0
        best, most = -1, -np.inf
        for j in range(n):
            if j == leave:
                continue
            size = 0.0
            for f in range(d):
                size += _log(code, (q[i, f] - xt[f, j]) * inverse[f])
            if size > most or best < 0:
                best, most = j, size
        if best < 0:
            continue
        at, most = best, 0.0
        for j in range(n):
            size = 0.0
            for f in range(d):
                u = (q[i, f] - xt[f, best]) * inverse[f]
                size += _log_step(code, u, (xt[f, best] - xt[f, j]) * inverse[f])
            if size > most and j != leave:
                at, most = j, size
        log_scale[i] = 0.0
        for f in range(d):
            log_scale[i] += _log(code, (q[i, f] - xt[f, at]) * inverse[f])
        for begin in range(0, n, TILE):
            size = min(TILE, n - begin)
            for j in range(size):
                total = 0.0
                for f in range(d):
                    u = (q[i, f] - xt[f, at]) * inverse[f]
                    total += _log_step(code, u, (xt[f, at] - xt[f, begin + j]) * inverse[f])
                weights[j] = exp64(total) if begin + j != leave else 0.0
            _add(
                code, q[i], begin, size, xt, ct, inverse, weights, base, wanted,
                k[i], others[i],
            )  # fmt: skip

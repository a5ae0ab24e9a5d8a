"""What a kernel does with one formula, in one number type; ``build`` writes this file for each.

What changes from score to score stands between the two marks below and is generated. As it stands
here it is the dot product in float32.

Keys come in tiles, transposed, so that every inner loop runs along the keys of a tile, over
neighbouring numbers, and becomes vector code. Indices are unsigned: one that might be
negative means "from the end" in Python, and the test for it keeps a loop scalar.
"""

from __future__ import annotations

import numpy as np
from numba import cfunc, njit, types

# <formula>
REAL = np.float32
USES_P0 = False
USES_P1 = False

_inner = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
}


@njit(inline="always", **_inner)
def phi(q, k, p0, p1):
    return q * k


@njit(inline="always", **_inner)
def phi4(qa, qb, qc, qd, ka, kb, kc, kd, p0a, p0b, p0c, p0d, p1a, p1b, p1c, p1d):
    return (phi(qa, ka, p0a, p1a) + phi(qb, kb, p0b, p1b)) + (
        phi(qc, kc, p0c, p1c) + phi(qd, kd, p0d, p1d)
    )


@njit(inline="always", **_inner)
def phi_q(q, k, p0, p1):
    return k


@njit(inline="always", **_inner)
def phi_k(q, k, p0, p1):
    return q


@njit(inline="always", **_inner)
def phi_p0(q, k, p0, p1):
    return REAL(0.0)


@njit(inline="always", **_inner)
def phi_p1(q, k, p0, p1):
    return REAL(0.0)


# </formula>

ZERO = REAL(0.0)
NONE, NEXT, FOUR = np.uint64(0), np.uint64(1), np.uint64(4)
FEW = np.uint64(32)  # features whose sum REAL may hold
_real = types.float32 if REAL is np.float32 else types.float64
_int, _row, _tile = types.int64, types.Array(_real, 1, "C"), types.Array(_real, 2, "C")
_sum, _sums = types.Array(types.float64, 1, "C"), types.Array(types.float64, 2, "C")

SCORE = types.none(_tile, _int, _int, _tile, _int, _int, _row, _row, types.float64, _tile, _sums)
PULL = types.none(_tile, _tile, _int, _int, _tile, _int, _int, _row, _row, _sums, _tile, _sum, _sum)
_compiled = {key: value for key, value in _inner.items() if key != "nogil"}


@cfunc(SCORE, **_compiled)
def score_tile(q, i0, rows, kt, a, b, p0, p1, scale, part, s):
    """s[r, j] = scale * sum over features of phi, for the columns a to b of a tile.

    Two rows and four features at a time: each key that is loaded is used twice, each sum that is
    stored has taken four terms. A few features are added up in REAL, in the two rows of ``part``,
    and these sums in float64: a score keeps its digits however many features it has.
    """
    h, start, stop = np.uint64(kt.shape[0]), np.uint64(a), np.uint64(b)
    x, y = part[0], part[1]
    for r in range(0, rows, 2):
        last = min(r + 1, rows - 1)
        q0, q1 = q[i0 + r], q[i0 + last]
        s0, s1 = s[r], s[last]
        if h == NONE:
            for j in range(start, stop):
                s0[j] = 0.0
                s1[j] = 0.0
        for f0 in range(NONE, h, FEW):
            f_stop = min(f0 + FEW, h)
            fours = f_stop - (f_stop - f0) % FOUR
            for j in range(start, stop):
                x[j] = ZERO
                y[j] = ZERO
            for f in range(f0, fours, FOUR):
                f1, f2, f3 = f + NEXT, f + NEXT + NEXT, f + NEXT + NEXT + NEXT
                xa, xb, xc, xd = q0[f], q0[f1], q0[f2], q0[f3]
                ya, yb, yc, yd = q1[f], q1[f1], q1[f2], q1[f3]
                ka, kb, kc, kd = kt[f], kt[f1], kt[f2], kt[f3]
                ua, ub, uc, ud = p0[f], p0[f1], p0[f2], p0[f3]
                wa, wb, wc, wd = p1[f], p1[f1], p1[f2], p1[f3]
                for j in range(start, stop):
                    ja, jb, jc, jd = ka[j], kb[j], kc[j], kd[j]
                    x[j] += phi4(xa, xb, xc, xd, ja, jb, jc, jd, ua, ub, uc, ud, wa, wb, wc, wd)
                    y[j] += phi4(ya, yb, yc, yd, ja, jb, jc, jd, ua, ub, uc, ud, wa, wb, wc, wd)
            for f in range(fours, f_stop):
                xa, ya, ka, ua, wa = q0[f], q1[f], kt[f], p0[f], p1[f]
                for j in range(start, stop):
                    x[j] += phi(xa, ka[j], ua, wa)
                    y[j] += phi(ya, ka[j], ua, wa)
            if f0 == NONE:
                for j in range(start, stop):
                    s1[j] = scale * y[j]  # before s0: they may be one and the same
                for j in range(start, stop):
                    s0[j] = scale * x[j]
            else:
                for j in range(start, stop):
                    s0[j] += scale * x[j]
                if last > r:
                    for j in range(start, stop):
                        s1[j] += scale * y[j]


@cfunc(PULL, **_compiled)
def pull_tile(ds, q, i0, rows, kt, a, b, p0, p1, dq, gt, dp0, dp1):
    """Send ds back through phi: to the rows (dq), the keys (gt) and the parameters.

    A pair whose ds is 0 sends nothing, even where the slope of phi is infinite.
    """
    start, stop = np.uint64(a), np.uint64(b)
    for f in range(kt.shape[0]):
        k, g, u, w = kt[f], gt[f], p0[f], p1[f]
        for j in range(start, stop):
            g[j] = ZERO
        for r in range(rows):
            z, x = ds[r], q[i0 + r, f]
            to_q, to_p0, to_p1 = ZERO, ZERO, ZERO
            for j in range(start, stop):
                zj, kj = z[j], k[j]
                live = zj != ZERO
                by_q, by_k = zj * phi_q(x, kj, u, w), zj * phi_k(x, kj, u, w)
                to_q += by_q if live else ZERO
                g[j] += by_k if live else ZERO
                if USES_P0:
                    by_p0 = zj * phi_p0(x, kj, u, w)
                    to_p0 += by_p0 if live else ZERO
                if USES_P1:
                    by_p1 = zj * phi_p1(x, kj, u, w)
                    to_p1 += by_p1 if live else ZERO
            dq[r, f] += to_q
            dp0[f] += to_p0
            dp1[f] += to_p1

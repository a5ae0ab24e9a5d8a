"""The loops around a formula: tiles, softmax, averages and sums, for any score.

``build`` writes this file once for each pair of number types (the lines that say REAL and FINE);
the formula comes in as two function pointers, ``score`` and ``pull`` (``formula.py``), so a new
score compiles two small functions and not all of this.

Rows are taken ROWS at a time: the tile of scores [ROWS, COLS] is all that ever exists of the n x m
matrix. Sums inside a tile are made in REAL, sums across tiles in float64, so long sums do not lose
digits. Spans cut whole tiles; only what is left of a tile at a span's edge is hidden one by one.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, types

from regard.attention.cpu.elementary import exp32 as exp

REAL = np.float32
FINE = np.float32  # what scores are made of: where REAL would not do, float64

_inner = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
}
ROWS = 32
COLS = 128
# Rows are a little further apart than they are long: at a power of two, loads and stores of
# different arrays fall on the same 4 KiB residue and wait for each other.
PITCH = COLS + 8
MOST = np.finfo(np.float64).max
ZERO = REAL(0.0)
ONE = REAL(1.0)

_outer = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"contract"}}


@njit(**_outer)
def hide(s, i0, rows, j0, a, b, n, lo, hi, not_self, dense, table):
    """Add the bias by distance, then -inf wherever a query may not look."""
    for r in range(rows):
        i = i0 + r
        row = s[r][a:b]
        first = j0 + a
        if table.shape[0]:
            bias = table[first - i + n - 1 :][: b - a]
            for j in range(b - a):
                row[j] += bias[j]
        if lo[i] > first:
            row[: lo[i] - first] = -np.inf
        if hi[i] < j0 + b:
            row[max(hi[i] - first, 0) :] = -np.inf
        if not_self and 0 <= i - first < b - a:
            row[i - first] = -np.inf
        if dense.shape[0]:
            seen = dense[i][first : first + (b - a)]
            for j in range(b - a):
                row[j] = row[j] if seen[j] else -np.inf


@njit(**_outer)
def reach(lo, hi, i0, rows, m):
    """The keys that any of the rows may see."""
    start, stop = m, 0
    for i in range(i0, i0 + rows):
        if lo[i] < hi[i]:
            start = min(start, max(lo[i], 0))
            stop = max(stop, min(hi[i], m))
    return start, stop


@njit(**_inner)
def largest(row):
    """The largest score, and how many are NaN."""
    best, bad = row[0], 0
    for j in range(row.shape[0]):
        best = row[j] if row[j] > best else best
        bad += 1 if row[j] != row[j] else 0
    return min(best, MOST), bad  # scores that overflowed still have to compare


@njit(**_inner)
def weigh(row, top, w):
    """Turn scores into exp(score - top); none is above top, but for a rounding or an overflow."""
    for j in range(row.shape[0]):
        below = row[j] - top
        w[j] = exp(REAL(below if below < 0.0 else 0.0))


@njit(**_inner)
def added(row):
    total = ZERO
    for j in range(row.shape[0]):
        total += row[j]
    return total


@njit(**_outer)
def row_words(seed, row):
    """Two random words for a row: splitmix64 of the seed and the row's number."""
    x = np.uint64(seed) + np.uint64(row) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return np.uint32(x & np.uint64(0xFFFFFFFF)), np.uint32(x >> np.uint64(32))


@njit(**_outer)
def keep_row(low, high, first, least, scale, kept):
    """kept[j] = scale where dropout keeps key first + j, else 0: see ``attention/dropout.py``."""
    for j in range(kept.shape[0]):
        z = np.uint32(first + j) ^ low
        z = np.uint32((z ^ (z >> np.uint32(16))) * np.uint32(0x85EBCA6B))
        z = np.uint32((z ^ (z >> np.uint32(13))) * np.uint32(0xC2B2AE35))
        z = np.uint32((z ^ (z >> np.uint32(16))) + high)
        z = np.uint32((z ^ (z >> np.uint32(15))) * np.uint32(0x2C1B3C6D))
        z = np.uint32((z ^ (z >> np.uint32(12))) * np.uint32(0x297A2D39))
        z = np.uint32(z ^ (z >> np.uint32(15)))
        kept[j] = scale if z >= least else ZERO


@njit(**_inner)
def times(row, kept):
    for j in range(row.shape[0]):
        row[j] *= kept[j]


@njit(**_inner)
def add_values(w0, w1, v, part0, part1):
    """Add up w0 and w1 (two rows of weights) times the values, four keys at a time."""
    width, f = w0.shape[0], v.shape[1]
    for c in range(f):
        part0[c] = ZERO
        part1[c] = ZERO
    fours = width - width % 4
    for j in range(0, fours, 4):
        xa, xb, xc, xd = w0[j], w0[j + 1], w0[j + 2], w0[j + 3]
        ya, yb, yc, yd = w1[j], w1[j + 1], w1[j + 2], w1[j + 3]
        va, vb, vc, vd = v[j], v[j + 1], v[j + 2], v[j + 3]
        for c in range(f):
            part0[c] += (xa * va[c] + xb * vb[c]) + (xc * vc[c] + xd * vd[c])
            part1[c] += (ya * va[c] + yb * vb[c]) + (yc * vc[c] + yd * vd[c])
    for j in range(fours, width):
        xa, ya, va = w0[j], w1[j], v[j]
        for c in range(f):
            part0[c] += xa * va[c]
            part1[c] += ya * va[c]


@njit(**_inner)
def add_few_values(w, vt, a, part):
    """The same for narrow values, along the keys."""
    width = w.shape[0]
    for c in range(vt.shape[0]):
        column = vt[c][a : a + width]
        total = ZERO
        for j in range(width):
            total += w[j] * column[j]
        part[c] = total


@njit(**_outer)
def forward(
    score, first, step, q, kt, v, vt, p0, p1, scale, table, lo, hi, not_self, dense, least,
    keep_scale, seed, out, lse,
):  # fmt: skip
    """Blocks of ROWS queries, numbered over the batch: every step-th, from first on."""
    batch, n, m = q.shape[0], q.shape[1], v.shape[1]
    f = out.shape[2]
    blocks = (n + ROWS - 1) // ROWS
    s = np.empty((ROWS, PITCH), np.float64)
    w = np.empty((ROWS, PITCH), REAL)
    kept = np.empty(COLS, REAL)
    scratch = np.empty((2, PITCH), FINE)
    part = np.empty((2, f), REAL)
    acc = np.empty((ROWS, f), np.float64)
    top = np.empty(ROWS, np.float64)
    total = np.empty(ROWS, np.float64)
    spoiled = np.empty(ROWS, np.bool_)  # rows with a score that is no number
    for block in range(first, batch * blocks, step):
        bi = block // blocks
        i0 = (block % blocks) * ROWS
        rows = min(ROWS, n - i0)
        of_mask = bi // (batch // lo.shape[0])
        the_lo, the_hi = lo[of_mask], hi[of_mask]
        the_dense = dense[bi // (batch // dense.shape[0])]
        the_table = table[bi % table.shape[0]]
        the_p0, the_p1 = p0[bi % p0.shape[0]], p1[bi % p1.shape[0]]
        acc[:rows] = 0.0
        top[:rows] = -np.inf
        total[:rows] = 0.0
        spoiled[:rows] = False
        start, stop = reach(the_lo, the_hi, i0, rows, m)
        for tile in range(start // COLS, (stop + COLS - 1) // COLS):
            j0 = tile * COLS
            a, b = max(start - j0, 0), min(stop - j0, COLS)
            score(q[bi], i0, rows, kt[bi, tile], a, b, the_p0, the_p1, scale, scratch, s)
            hide(s, i0, rows, j0, a, b, n, the_lo, the_hi, not_self, the_dense, the_table)
            for r in range(rows):
                row = w[r][a:b]
                best, bad = largest(s[r][a:b])
                spoiled[r] |= bad > 0
                new = max(top[r], best)
                if new == -np.inf:  # a row that has seen nothing yet: -inf - -inf would be nan
                    row[:] = ZERO
                    continue
                if new > top[r]:
                    decay = math.exp(top[r] - new)
                    total[r] *= decay
                    for c in range(f):
                        acc[r, c] *= decay
                    top[r] = new
                weigh(s[r][a:b], new, row)
                total[r] += added(row)
                if keep_scale != ONE:
                    word0, word1 = row_words(seed, bi * n + i0 + r)
                    keep_row(word0, word1, j0 + a, least, keep_scale, kept[: b - a])
                    times(row, kept)
            if vt.shape[1]:
                for r in range(rows):
                    add_few_values(w[r][a:b], vt[bi, tile], a, part[0])
                    for c in range(f):
                        acc[r, c] += part[0, c]
            else:
                for r in range(0, rows, 2):
                    r1 = min(r + 1, rows - 1)
                    add_values(w[r][a:b], w[r1][a:b], v[bi][j0 + a :], part[0], part[1])
                    for c in range(f):
                        acc[r, c] += part[0, c]
                    if r1 > r:
                        for c in range(f):
                            acc[r1, c] += part[1, c]
        for r in range(rows):
            i = i0 + r
            seen = total[r] > 0.0  # else nothing to see: zeros
            for c in range(f):
                out[bi, i, c] = REAL(acc[r, c] / total[r]) if seen else ZERO
                out[bi, i, c] = REAL(np.nan) if spoiled[r] else out[bi, i, c]
            lse[bi, i] = top[r] + math.log(total[r]) if seen else -np.inf


@njit(**_outer)
def scores(
    score, first, step, q, kt, p0, p1, scale, table, lo, hi, not_self, dense, start_row, s_out
):
    """Whole rows of masked scores, for looking: s_out[row] for queries from start_row on."""
    batch, n, m = q.shape[0], q.shape[1], s_out.shape[2]
    wanted = s_out.shape[1]
    blocks = (wanted + ROWS - 1) // ROWS
    s = np.empty((ROWS, PITCH), np.float64)
    scratch = np.empty((2, PITCH), FINE)
    for block in range(first, batch * blocks, step):
        bi = block // blocks
        r0 = (block % blocks) * ROWS
        i0 = start_row + r0
        rows = min(ROWS, wanted - r0)
        of_mask = bi // (batch // lo.shape[0])
        the_lo, the_hi = lo[of_mask], hi[of_mask]
        the_dense = dense[bi // (batch // dense.shape[0])]
        the_table = table[bi % table.shape[0]]
        the_p0, the_p1 = p0[bi % p0.shape[0]], p1[bi % p1.shape[0]]
        start, stop = reach(the_lo, the_hi, i0, rows, m)
        for tile in range(start // COLS, (stop + COLS - 1) // COLS):
            j0 = tile * COLS
            a, b = max(start - j0, 0), min(stop - j0, COLS)
            score(q[bi], i0, rows, kt[bi, tile], a, b, the_p0, the_p1, scale, scratch, s)
            hide(s, i0, rows, j0, a, b, n, the_lo, the_hi, not_self, the_dense, the_table)
            for r in range(rows):
                row, out = s[r][a:b], s_out[bi, r0 + r][j0 + a :]
                for j in range(b - a):
                    out[j] = REAL(row[j])


@njit(**_inner)
def likes_tile(dout, out, i0, rows, vt, a, b, s):
    """s[r, j] = <dout[r], v[j] - out[r]>: how much more the loss likes value j than the average.

    Any centre would do (``settle`` takes the rest away); one near the values keeps the digits.
    """
    for r in range(rows):
        row, x, centre = s[r][a:b], dout[i0 + r], out[i0 + r]
        for j in range(b - a):
            row[j] = ZERO
        fours = vt.shape[0] - vt.shape[0] % 4
        for c in range(0, fours, 4):
            xa, xb, xc, xd = x[c], x[c + 1], x[c + 2], x[c + 3]
            oa, ob, oc, od = centre[c], centre[c + 1], centre[c + 2], centre[c + 3]
            va, vb, vc, vd = vt[c][a:b], vt[c + 1][a:b], vt[c + 2][a:b], vt[c + 3][a:b]
            for j in range(b - a):
                row[j] += (xa * (va[j] - oa) + xb * (vb[j] - ob)) + (
                    xc * (vc[j] - oc) + xd * (vd[j] - od)
                )
        for c in range(fours, vt.shape[0]):
            xa, oa, va = x[c], centre[c], vt[c][a:b]
            for j in range(b - a):
                row[j] += xa * (va[j] - oa)


@njit(**_inner)
def spread_tile(w, x, i0, rows, a, b, gt):
    """gt[f, j] = sum over rows of w[r, j] * x[i0 + r, f]: what the rows send to the keys."""
    fours = rows - rows % 4
    for f in range(gt.shape[0]):
        g = gt[f][a:b]
        for j in range(b - a):
            g[j] = ZERO
        for r in range(0, fours, 4):
            xa, xb, xc, xd = x[i0 + r, f], x[i0 + r + 1, f], x[i0 + r + 2, f], x[i0 + r + 3, f]
            wa, wb, wc, wd = w[r][a:b], w[r + 1][a:b], w[r + 2][a:b], w[r + 3][a:b]
            for j in range(b - a):
                g[j] += (xa * wa[j] + xb * wb[j]) + (xc * wc[j] + xd * wd[j])
        for r in range(fours, rows):
            xa, wa = x[i0 + r, f], w[r][a:b]
            for j in range(b - a):
                g[j] += xa * wa[j]


@njit(**_inner)
def gather_tile(w, rows, kt, a, b, dq):
    """dq[r, f] += sum over the tile's keys of w[r, j] * kt[f, j]."""
    fours = rows - rows % 4
    for f in range(kt.shape[0]):
        k = kt[f][a:b]
        for r in range(0, fours, 4):
            wa, wb, wc, wd = w[r][a:b], w[r + 1][a:b], w[r + 2][a:b], w[r + 3][a:b]
            xa, xb, xc, xd = ZERO, ZERO, ZERO, ZERO
            for j in range(b - a):
                xa += wa[j] * k[j]
                xb += wb[j] * k[j]
                xc += wc[j] * k[j]
                xd += wd[j] * k[j]
            dq[r, f] += xa
            dq[r + 1, f] += xb
            dq[r + 2, f] += xc
            dq[r + 3, f] += xd
        for r in range(fours, rows):
            wa, xa = w[r][a:b], ZERO
            for j in range(b - a):
                xa += wa[j] * k[j]
            dq[r, f] += xa


@njit(**_inner)
def add_to(sums, tile, a, b):
    """Add a tile's columns a to b to sums in float64."""
    for c in range(tile.shape[0]):
        x, y = sums[c][a:b], tile[c][a:b]
        for j in range(b - a):
            x[j] += y[j]


@njit(**_inner)
def drop_likes(likes, kept, delta):
    """<dout, kept * v - out> from <dout, v - out>; delta is <dout, out>."""
    for j in range(likes.shape[0]):
        likes[j] = kept[j] * likes[j] + (kept[j] - ONE) * delta


@njit(**_inner)
def mean_like(p, likes):
    """The sums of p and of p * likes, in float64.

    Where one weight is nearly 1, all but the last digits cancel in the next step.
    """
    total, weighted = 0.0, 0.0
    for j in range(p.shape[0]):
        total += np.float64(p[j])
        product = np.float64(p[j]) * np.float64(likes[j])
        weighted += product if p[j] != ZERO else 0.0  # a hidden value may have overflowed
    return total, weighted


@njit(**_outer)  # not _inner: free to reorder, a compiler makes it likes - (high + low), and
# high + low is high
def settle(p, likes, high, low, ds):
    """Ds = p * (likes - their mean): the derivative of the softmax.

    A weight of 0 has none, whatever its value; a weight of 1 leaves the others none to give.
    """
    for j in range(p.shape[0]):
        slope = p[j] * ((likes[j] - high) - low)
        ds[j] = slope if p[j] != ZERO and p[j] != ONE else ZERO


@njit(**_outer)
def backward(
    score, pull, linear, first, step, pieces, most, qf, ktf, p0f, p1f, q, kt, vt, p0, p1, scale,
    table, lo, hi, not_self, dense, least, keep_scale, seed, out, lse, dout, dq, dkt, dvt, dp0,
    dp1, dtable,
):  # fmt: skip
    """Slots are numbered over the batch, ``pieces`` to an entry: every step-th, from first on.

    The blocks of ``most`` queries of an entry go round its slots; a slot is a private set of
    float64 sums of what goes to keys, values and parameters, while dq is final. For the rows of a
    block weights and likes are kept for all keys (O(m)), because their mean must be known before
    anything is sent back. qf, ktf, p0f and p1f are for the scores. ``linear``: phi is q * k, and
    its two products need no pull.
    """
    batch, n, m = q.shape[0], q.shape[1], vt.shape[1] * COLS
    h, f = q.shape[2], vt.shape[2]
    s = np.empty((most, PITCH), np.float64)
    scratch = np.empty((2, PITCH), FINE)
    ds = np.empty((most, PITCH), REAL)
    kept = np.ones(COLS, REAL)
    gt = np.empty((h, PITCH), REAL)
    gvt = np.empty((f, PITCH), REAL)
    acc = np.empty((most, h), np.float64)
    mean = np.empty(most, np.float64)
    for slot in range(first, batch * pieces, step):
        bi, piece = slot // pieces, slot % pieces
        of_mask = bi // (batch // lo.shape[0])
        the_lo, the_hi = lo[of_mask], hi[of_mask]
        the_dense = dense[bi // (batch // dense.shape[0])]
        the_table = table[bi % table.shape[0]]
        the_p0, the_p1 = p0[bi % p0.shape[0]], p1[bi % p1.shape[0]]
        fine_p0, fine_p1 = p0f[bi % p0.shape[0]], p1f[bi % p1.shape[0]]
        widest = 0
        for i0 in range(piece * most, n, pieces * most):
            start, stop = reach(the_lo, the_hi, i0, min(most, n - i0), m)
            widest = max(widest, (stop + COLS - 1) // COLS - start // COLS)
        p = np.empty((widest, most, PITCH), REAL)
        likes = np.empty((widest, most, PITCH), REAL)
        for i0 in range(piece * most, n, pieces * most):
            rows = min(most, n - i0)
            start, stop = reach(the_lo, the_hi, i0, rows, m)
            tiles = range(start // COLS, (stop + COLS - 1) // COLS)
            for tile in tiles:
                j0, t = tile * COLS, tile - start // COLS
                a, b = max(start - j0, 0), min(stop - j0, COLS)
                score(qf[bi], i0, rows, ktf[bi, tile], a, b, fine_p0, fine_p1, scale, scratch, s)
                hide(s, i0, rows, j0, a, b, n, the_lo, the_hi, not_self, the_dense, the_table)
                for r in range(rows):
                    norm = lse[bi, i0 + r]
                    if norm == -np.inf:  # saw nothing: sends nothing
                        p[t, r][a:b] = ZERO
                    else:
                        weigh(s[r][a:b], norm, p[t, r][a:b])
                likes_tile(dout[bi], out[bi], i0, rows, vt[bi, tile], a, b, likes[t])
            for r in range(rows):
                delta = 0.0
                for c in range(f):
                    delta += np.float64(dout[bi, i0 + r, c]) * np.float64(out[bi, i0 + r, c])
                total, weighted = 0.0, 0.0
                for tile in tiles:
                    j0, t = tile * COLS, tile - start // COLS
                    a, b = max(start - j0, 0), min(stop - j0, COLS)
                    row, like = p[t, r][a:b], likes[t, r][a:b]
                    if keep_scale != ONE:
                        word0, word1 = row_words(seed, bi * n + i0 + r)
                        keep_row(word0, word1, j0 + a, least, keep_scale, kept[: b - a])
                        drop_likes(like, kept, REAL(delta))
                    some, more = mean_like(row, like)
                    total += some
                    weighted += more
                mean[r] = weighted / total if total > 0.0 else 0.0
            acc[:rows] = 0.0
            for tile in tiles:
                j0, t = tile * COLS, tile - start // COLS
                a, b = max(start - j0, 0), min(stop - j0, COLS)
                for r in range(rows):
                    row, like, slope = p[t, r][a:b], likes[t, r][a:b], ds[r][a:b]
                    high = REAL(mean[r])
                    settle(row, like, high, REAL(mean[r] - np.float64(high)), slope)
                    if the_table.shape[0]:
                        at = dtable[slot][j0 + a - (i0 + r) + n - 1 :]
                        for j in range(b - a):
                            at[j] += slope[j]
                    for j in range(b - a):
                        slope[j] *= REAL(scale)
                    if keep_scale != ONE:
                        word0, word1 = row_words(seed, bi * n + i0 + r)
                        keep_row(word0, word1, j0 + a, least, keep_scale, kept[: b - a])
                        times(row, kept)
                spread_tile(p[t], dout[bi], i0, rows, a, b, gvt)
                add_to(dvt[slot, tile], gvt, a, b)
                if linear:
                    gather_tile(ds, rows, kt[bi, tile], a, b, acc)
                    spread_tile(ds, q[bi], i0, rows, a, b, gt)
                else:
                    pull(
                        ds, q[bi], i0, rows, kt[bi, tile], a, b, the_p0, the_p1, acc, gt, dp0[slot],
                        dp1[slot],
                    )  # fmt: skip
                add_to(dkt[slot, tile], gt, a, b)
            for r in range(rows):
                for c in range(h):
                    dq[bi, i0 + r, c] = REAL(acc[r, c])


_real = types.float32 if REAL is np.float32 else types.float64
_fine = types.float32 if FINE is np.float32 else types.float64
_int, _flag, _word, _whole = types.int64, types.boolean, types.uint32, types.int64


def _axes(number: types.Type, count: int) -> types.Array:
    return types.Array(number, count, "C")


_score = types.FunctionType(
    types.none(
        *(_axes(_fine, 2), _int, _int, _axes(_fine, 2), _int, _int),
        *(_axes(_fine, 1), _axes(_fine, 1), types.float64, _axes(_fine, 2)),
        _axes(types.float64, 2),
    )
)
_pull = types.FunctionType(
    types.none(
        *(_axes(_real, 2), _axes(_real, 2), _int, _int, _axes(_real, 2), _int, _int),
        *(_axes(_real, 1), _axes(_real, 1), _axes(types.float64, 2), _axes(_real, 2)),
        *(_axes(types.float64, 1), _axes(types.float64, 1)),
    )
)
_beside = (  # scale, table, lo, hi, not_self, dense
    *(types.float64, _axes(_real, 2)),
    *(_axes(_int, 2), _axes(_int, 2), _flag, _axes(types.boolean, 3)),
)
_random = (_word, _real, _whole)
_double = types.float64
SIGNATURES = {  # given to the compiler before the first call: it cannot guess a function pointer
    "forward": (
        *(_score, _int, _int, _axes(_fine, 3), _axes(_fine, 4), _axes(_real, 3), _axes(_real, 4)),
        *(_axes(_fine, 2), _axes(_fine, 2), *_beside, *_random),
        *(_axes(_real, 3), _axes(_double, 2)),
    ),
    "scores": (
        *(_score, _int, _int, _axes(_fine, 3), _axes(_fine, 4)),
        *(_axes(_fine, 2), _axes(_fine, 2), *_beside, _int, _axes(_real, 3)),
    ),
    "backward": (
        *(_score, _pull, _flag, _int, _int, _int, _int),
        *(_axes(_fine, 3), _axes(_fine, 4), _axes(_fine, 2), _axes(_fine, 2)),
        *(_axes(_real, 3), _axes(_real, 4), _axes(_real, 4), _axes(_real, 2), _axes(_real, 2)),
        *(*_beside, *_random),
        *(_axes(_real, 3), _axes(_double, 2), _axes(_real, 3), _axes(_real, 3)),
        *(_axes(_double, 4), _axes(_double, 4), *[_axes(_double, 2)] * 3),
    ),
}

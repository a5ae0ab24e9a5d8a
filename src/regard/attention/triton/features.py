"""Kernels for scores that add up one function over the features; ``build`` writes it for each.

What changes from score to score stands between the two marks below and is generated. As it stands
here it is the dot product.

Operands of the scores are laid out feature by feature, q as [B, h, n] and k as [B, h, m], in
float32. ``tile`` says how a tile lies among the threads: in one way where there are few features
(KEYS_FIRST, in short F), in another where there are many.

The gradients go in panels: ``weigh`` and ``like`` write the weights of some rows against some
keys and how the loss likes them, ``tally`` adds up what ``settle`` needs to make of that the slopes
of the scores, and ``pull_rows`` and ``pull_keys`` send them
through phi with the *features* across the threads, so that no sum leaves its thread. Panels are
[entries, rows, keys] and bounded, whatever n and m are.

Sums over features are made a few at a time and then of these, so that roundings do not pile up;
sums over pairs likewise, the second step in float64. Where pairs are FEW, roundings do not average
out: their scores, and what the slopes of these send, are computed in float64, but for tanh and for
formulas with an edge.
"""

from __future__ import annotations

import triton
import triton.language as tl

from regard.attention.triton.additive import additive_tile
from regard.attention.triton.elementary import (  # noqa: F401 - for formulas
    PRODUCTS,
    added,
    exp2_of,
    larger,
    pinned,
    power,
    product,
    product_added,
    sign,
    smaller,
    tanh,
)
from regard.attention.triton.matrix import (
    of_distance,
    rows_of,
    settled,
    unfit,
    without,
)
from regard.attention.triton.tile import (
    at_keys,
    at_rows,
    by_key,
    in_line,
    key_numbers,
    keys_within,
    most_over_keys,
    no_scores,
    of_keys,
    of_rows,
    row_numbers,
    rows_within,
    sum_over_keys,
)
from regard.attention.triton.visible import (
    kept,
    nth_full,
    nth_masked,
    row_words,
    spans,
    tiles,
    visible,
)

__all__ = [
    "along",
    "forward",
    "like",
    "pull_keys",
    "pull_rows",
    "settle",
    "spread",
    "tally",
    "weigh",
]

LOG2E = tl.constexpr(1.4426950408889634)
DOWN = tl.constexpr(2.0**-20)  # of weights, so that a sum over values near the largest is finite
UP = tl.constexpr(2.0**20)
# the average of the values is in three products of tf32: six of bfloat16 would take twice as long,
# and few pairs have the time
QUICK = tl.constexpr("tf32x3")
EXACT = tl.constexpr(PRODUCTS)
CHUNK = tl.constexpr(32)  # keys of a product of weights and values
# numbers that follow from a length: compiled in, they would make kernels for some lengths alone
COUNTS = ["e_first", "i_count", "entries", "parts", "splits"]

# <formula>
EDGED = tl.constexpr(False)  # whether phi may be -inf


@triton.jit
def phi(q, k, p0, p1):
    return q * k


@triton.jit
def phi_q(q, k, p0, p1):
    return k


@triton.jit
def phi_k(q, k, p0, p1):
    return q


@triton.jit
def phi_p0(q, k, p0, p1):
    return q * 0.0


@triton.jit
def phi_p1(q, k, p0, p1):
    return q * 0.0


# </formula>


@triton.jit
def score_tile(
    q, k, p0, p1, kind, i0, j0, wide_n, wide_m, h,
    BM: tl.constexpr, BN: tl.constexpr, F: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """The sum over features of phi, for a tile; rows of q and k are filled up to whole tiles.

    SUM: 0 for any formula, 1 for the additive score, 2 for that with care, 3 where ``fours``
    takes the entries that it can; 4 for any formula where pairs are few, and s in float64.
    """
    at_q, at_k = at_rows(q + i0, BM, F), at_keys(k + j0, BN, F)
    s = no_scores(BM, BN, F)
    if SUM == 4:
        s = summed(s, at_q, at_k, p0, p1, wide_n, wide_m, h, F, True)
    elif SUM:
        s = additive_tile(s, at_q, at_k, p0, kind, wide_n, wide_m, h, F, SUM == 2)
    else:
        s = summed(s, at_q, at_k, p0, p1, wide_n, wide_m, h, F, False)
    return s


@triton.jit
def one_feature(at_q, at_k, p0, p1, F: tl.constexpr, FEW: tl.constexpr):
    """phi of one feature, for a tile. An edge is found in float32, as numbers that were float32
    find it: a distance just as far as a kernel reaches."""
    x, y, a, b = row_numbers(at_q, F), key_numbers(at_k, F), tl.load(p0), tl.load(p1)
    if FEW:
        REAL: tl.constexpr = tl.float32 if EDGED else tl.float64
        found = phi(x.to(REAL), y.to(REAL), a.to(REAL), b.to(REAL))
        return (tl.zeros_like(x) + found).to(tl.float64)  # it may be a number
    else:
        return phi(x, y, a, b)


@triton.jit
def summed(s, q, k, p0, p1, wide_n, wide_m, h, F: tl.constexpr, FEW: tl.constexpr):
    """s and the sum over the features of phi: four at a time, these with what their sum rounds
    off. FEW: s is of float64."""
    if FEW:
        s = s.to(tl.float64)
    rest = tl.zeros_like(s)
    fours = h // 4 * 4
    for f in range(0, fours, 4):
        at_q, at_k = q + tl.cast(f, tl.int64) * wide_n, k + tl.cast(f, tl.int64) * wide_m
        a = one_feature(at_q, at_k, p0 + f, p1 + f, F, FEW)
        b = one_feature(at_q + wide_n, at_k + wide_m, p0 + f + 1, p1 + f + 1, F, FEW)
        c = one_feature(at_q + 2 * wide_n, at_k + 2 * wide_m, p0 + f + 2, p1 + f + 2, F, FEW)
        d = one_feature(at_q + 3 * wide_n, at_k + 3 * wide_m, p0 + f + 3, p1 + f + 3, F, FEW)
        s, rest = added(s, rest, (a + b) + (c + d))
    for f in range(fours, h):
        at = tl.cast(f, tl.int64)
        s += one_feature(q + at * wide_n, k + at * wide_m, p0 + f, p1 + f, F, FEW)
    return s + tl.where(tl.abs(rest) < float("inf"), rest, 0.0)  # infinities leave no rest


@triton.jit
def comparable(s, FEW: tl.constexpr):
    """A score that is infinite still has to compare. -inf is that of an edge."""
    if FEW:
        return tl.minimum(s, 1.7e308, propagate_nan=tl.PropagateNan.ALL)
    else:
        return tl.minimum(pinned(s), 3.0e38, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def forward_tile(
    acc, total, top, scratch, q, k, v, p0, p1, kind, table, dense, i0, rows, first, last, low, high,
    n, m, wide_n, wide_m, h, dv, svm, svd, sdn, sdm, scale, least, keep_scale, tile,
    BM: tl.constexpr, BN: tl.constexpr, DV: tl.constexpr, MASKED: tl.constexpr,
    NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr, DROP: tl.constexpr,
    LONG: tl.constexpr, MODE: tl.constexpr, SUM: tl.constexpr, F: tl.constexpr,
):  # fmt: skip
    FEW: tl.constexpr = SUM == 4
    j = tile * BN + keys_within(BN, F)
    i, jj = of_rows(rows, F), of_keys(j, F)
    s = score_tile(
        q, k, p0, p1, kind, i0, tile * BN, wide_n, wide_m, h, BM, BN, F, SUM
    ) * scale  # fmt: skip
    if TABLE:
        s += of_distance(table, i, jj, n, of_rows(rows < n, F) & of_keys(j < m, F))
    s = comparable(s, FEW)
    if MASKED:
        seen = visible(i, jj, of_rows(first, F), of_rows(last, F), dense, sdn, sdm, NOT_SELF, DENSE)
        s = tl.where(seen, s, float("-inf"))
    new = tl.maximum(top, most_over_keys(s, F))
    unit = tl.where(new == float("-inf"), 0.0, new)  # nothing seen yet: -inf - -inf is NaN
    # subtracted first and then brought to base 2: what is left has lost no digits to its size
    if FEW:
        decay, p = exp2_of((top - unit) * LOG2E), exp2_of((s - of_rows(unit, F)) * LOG2E)
    else:
        decay, p = tl.exp2((top - unit) * LOG2E), tl.exp2((s - of_rows(unit, F)) * LOG2E)
    if MODE == 2:  # entropy: the mean of the distance from the top
        below = tl.where(p > 0.0, s - of_rows(unit, F), 0.0)
        fall = tl.where(top == float("-inf"), 0.0, top - unit)
        acc = (acc + fall.to(tl.float64) * total) * decay.to(tl.float64)
        acc += sum_over_keys(p * below, F).to(tl.float64)
    if LONG:
        total = total * decay.to(tl.float64) + sum_over_keys(p, F).to(tl.float64)
    else:
        total = total * decay + sum_over_keys(p, F)
    if MODE == 1:  # the average
        if DROP:
            stays = kept(of_rows(low, F), of_rows(high, F), jj, least)
            p = tl.where(stays, p * keep_scale, 0.0)
        if DV == 1:
            value = tl.load(v + j.to(tl.int64) * svm, mask=j < m, other=0.0)
            if MASKED:
                bad = value * 0.0 != 0.0
                value = tl.where(bad, 0.0, value)
                spoiled = most_over_keys((seen & of_keys(bad, F)).to(tl.int32), F) > 0
                total = tl.where(spoiled, float("nan"), total)
            part = sum_over_keys((p * DOWN) * of_keys(value, F), F)
            if LONG:
                acc = acc * decay.to(tl.float64) + part.to(tl.float64)
            else:
                acc = acc * decay + part
        else:
            # handed over through memory: as an operand all of it would have to be in registers
            tl.debug_barrier()
            at = scratch + of_rows(rows_within(BM, F), F) * BN + of_keys(keys_within(BN, F), F)
            tl.store(at, pinned(p) * DOWN)
            if MASKED:
                line = tile * BN + tl.arange(0, BN)
                bad_ones = tl.sum(rows_of(v, line, line < m, dv, svm, svd, DV) * 0.0, 1) != 0.0
                bad_ones = of_keys(by_key(bad_ones, BN, F), F)
                spoils = most_over_keys((seen & bad_ones).to(tl.int32), F) > 0
                total = tl.where(spoils, float("nan"), total)
            tl.debug_barrier()
            r = tl.arange(0, BM)
            decay = in_line(decay, BM, F)
            if LONG:
                acc = acc * decay.to(tl.float64)[:, None]
            else:
                acc = acc * decay[:, None]
            for c0 in range(0, BN, CHUNK):
                c = c0 + tl.arange(0, CHUNK)
                piece = tl.load(scratch + r[:, None] * BN + c[None, :])
                here = tile * BN + c
                values = rows_of(v, here, here < m, dv, svm, svd, DV)
                if MASKED:
                    values = without(values, unfit(values))
                if LONG:
                    acc += product(piece, values, QUICK).to(tl.float64)
                else:
                    acc = product_added(piece, values, acc, EXACT if FEW else QUICK)
    return acc, total, new


@triton.jit
def forward(
    q, k, v, p0, p1, kind, table, lo, hi, dense, seed, out, lse, scratch,
    svb, svm, svd, sdb, sdn, sdm, n, m, wide_n, wide_m, h, dv, per_mask, per_dense, tables, heads,
    scale, least, keep_scale,
    BM: tl.constexpr, BN: tl.constexpr, DV: tl.constexpr, SPANS: tl.constexpr,
    NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr, DROP: tl.constexpr,
    LONG: tl.constexpr, MODE: tl.constexpr, SUM: tl.constexpr, KEYS_FIRST: tl.constexpr,
):  # fmt: skip
    """lse [B, n] (natural, float64); MODE 1: and out [B, n, dv]; MODE 2: and the entropy [B, n]."""
    F: tl.constexpr = KEYS_FIRST
    blocks = tl.cdiv(n, BM)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    i0 = (blocks - 1 - tl.program_id(0) % blocks) * BM
    of_mask = entry // per_mask
    line = i0 + tl.arange(0, BM)
    first, last = spans(lo + of_mask * n, hi + of_mask * n, line, n, m, SPANS)
    start, stop, a, b, d0, d1 = tiles(first, last, line, i0, n, m, BM, BN, NOT_SELF, DENSE)
    rows = i0 + rows_within(BM, F)
    first, last = spans(lo + of_mask * n, hi + of_mask * n, rows, n, m, SPANS)
    the_kind = tl.load(kind + entry)
    if SUM == 3:
        if the_kind == 3:  # another kernel's
            return
    low, high = rows.to(tl.uint32), rows.to(tl.uint32)
    if DROP:
        low, high = row_words(tl.load(seed), entry * n + rows)
    nothing = tl.zeros_like(rows)
    total = nothing.to(tl.float64 if LONG else tl.float32)
    top = nothing.to(tl.float64 if SUM == 4 else tl.float32) + float("-inf")
    if MODE == 1 and DV > 1:
        acc = tl.zeros([BM, DV], tl.float64 if LONG else tl.float32)
    else:
        acc = nothing.to(tl.float64 if LONG or MODE == 2 else tl.float32)
    at_q, at_k, at_v = q + entry * wide_n * h, k + entry * wide_m * h, v + entry * svb
    at_p0, at_p1 = p0 + (entry % heads) * h, p1 + (entry % heads) * h
    the_table = table + (entry % tables) * (n + m - 1)
    the_dense = dense + (entry // per_dense) * sdb
    for t in range((b - a) - (d1 - d0)):
        acc, total, top = forward_tile(
            acc, total, top, scratch + tl.program_id(0).to(tl.int64) * BM * BN, at_q, at_k, at_v,
            at_p0, at_p1, the_kind, the_table, the_dense, i0, rows, first, last, low, high, n, m,
            wide_n, wide_m, h, dv, svm, svd, sdn, sdm, scale,
            least, keep_scale, nth_full(t, a, d0, d1), BM, BN, DV, False, NOT_SELF, DENSE, TABLE,
            DROP, LONG, MODE, SUM, F,
        )  # fmt: skip
    for t in range((a - start) + (d1 - d0) + (stop - b)):
        acc, total, top = forward_tile(
            acc, total, top, scratch + tl.program_id(0).to(tl.int64) * BM * BN, at_q, at_k, at_v,
            at_p0, at_p1, the_kind, the_table, the_dense, i0, rows, first, last, low, high, n, m,
            wide_n, wide_m, h, dv, svm, svd, sdn, sdm, scale,
            least, keep_scale, nth_masked(t, start, a, b, d0, d1), BM, BN, DV, True, NOT_SELF,
            DENSE, TABLE, DROP, LONG, MODE, SUM, F,
        )  # fmt: skip
    there = rows < n
    none = total == 0.0
    total = tl.where(none, 1.0, total)
    norm = top.to(tl.float64) + tl.log(total.to(tl.float64))
    norm = tl.where(none, float("-inf"), norm)
    tl.store(lse + entry * n + rows, norm, mask=there)
    if MODE == 1:
        if DV == 1:
            acc = (acc / total) * UP
            acc = tl.where(tl.abs(acc) == float("inf"), float("nan"), acc)
            tl.store(out + entry * n + rows, acc.to(tl.float32), mask=there)
        else:
            acc = (acc / in_line(total, BM, F)[:, None]) * UP
            acc = tl.where(tl.abs(acc) == float("inf"), float("nan"), acc)
            c = tl.arange(0, DV)
            at = out + (entry * n + line)[:, None] * dv + c[None, :]
            tl.store(at, acc.to(tl.float32), mask=(line < n)[:, None] & (c < dv)[None, :])
    if MODE == 2:
        spread_out = tl.log(total.to(tl.float64)) - acc / total.to(tl.float64)
        spread_out = tl.where(none, 0.0, spread_out)
        tl.store(out + entry * n + rows, spread_out.to(tl.float32), mask=there)


@triton.jit(do_not_specialize=COUNTS)
def weigh(
    q, k, p0, p1, kind, table, lo, hi, dense, lse, weights,
    sdb, sdn, sdm, n, m, wide_n, wide_m, h, per_mask, per_dense, tables, heads, scale,
    e_first, i_first, i_count, j_first, j_count,
    BM: tl.constexpr, BN: tl.constexpr, SPANS: tl.constexpr, NOT_SELF: tl.constexpr,
    DENSE: tl.constexpr, TABLE: tl.constexpr, SUM: tl.constexpr, KEYS_FIRST: tl.constexpr,
):  # fmt: skip
    """A panel [entries, rows, keys] of weights."""
    F: tl.constexpr = KEYS_FIRST
    blocks, wide = tl.cdiv(i_count, BM), tl.cdiv(j_count, BN)
    local = (tl.program_id(0) // (blocks * wide)).to(tl.int64)
    entry = e_first + local
    rest = tl.program_id(0) % (blocks * wide)
    r0, c0 = (rest // wide) * BM, (rest % wide) * BN
    the_kind = tl.load(kind + entry)
    if SUM == 3:
        if the_kind == 3:  # another kernel's
            return
    of_mask = entry // per_mask
    line = r0 + tl.arange(0, BM)
    first, last = spans(lo + of_mask * n, hi + of_mask * n, i_first + line, n, m, SPANS)
    last = tl.where(line < i_count, last, 0)
    some = first < last
    begin = tl.min(tl.where(some, first, m), 0)
    end = tl.max(tl.where(some, last, 0), 0)
    r, c = r0 + rows_within(BM, F), c0 + keys_within(BN, F)
    rows, j = i_first + r, j_first + c
    there = r < i_count
    inside = of_rows(there, F) & of_keys(c < j_count, F)
    p = no_scores(BM, BN, F)
    if (j_first + c0 < end) & (j_first + c0 + BN > begin):
        low, high = spans(lo + of_mask * n, hi + of_mask * n, rows, n, m, SPANS)
        norm = tl.load(lse + entry * n + rows, mask=there, other=0.0)
        norm = tl.where(norm == float("-inf"), float("inf"), norm)  # who sees nothing: weights of 0
        i, jj = of_rows(rows, F), of_keys(j, F)
        s = score_tile(
            q + entry * wide_n * h, k + entry * wide_m * h, p0 + (entry % heads) * h,
            p1 + (entry % heads) * h, the_kind, i_first + r0, j_first + c0, wide_n,
            wide_m, h, BM, BN, F, SUM,
        ) * scale  # fmt: skip
        if TABLE:
            s += of_distance(table + (entry % tables) * (n + m - 1), i, jj, n, inside)
        s = comparable(s, SUM == 4)
        seen = inside & visible(
            i, jj, of_rows(low, F), of_rows(high, F), dense + (entry // per_dense) * sdb, sdn,
            sdm, NOT_SELF, DENSE,
        )  # fmt: skip
        below = (s.to(tl.float64) - of_rows(norm, F)) * LOG2E
        p = tl.where(seen, exp2_of(below), 0.0)
    at = (local * i_count + of_rows(r, F)) * j_count + of_keys(c, F)
    tl.store(weights + at, p, mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def like(
    dout, v, weights, likes, seed, svb, svm, svd, n, m, dv, least, keep_scale,
    e_first, i_first, i_count, j_first, j_count,
    BM: tl.constexpr, BN: tl.constexpr, DV: tl.constexpr, DROP: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """A panel of how much the loss likes each key: <dout, v>, of those that have a weight."""
    blocks, wide = tl.cdiv(i_count, BM), tl.cdiv(j_count, BN)
    local = (tl.program_id(0) // (blocks * wide)).to(tl.int64)
    entry = e_first + local
    rest = tl.program_id(0) % (blocks * wide)
    r = (rest // wide) * BM + tl.arange(0, BM)
    c = (rest % wide) * BN + tl.arange(0, BN)
    there, here = r < i_count, c < j_count
    douts = rows_of(dout + entry * n * dv, i_first + r, there, dv, dv, 1, DV)
    values = rows_of(v + entry * svb, j_first + c, here, dv, svm, svd, DV)
    g = product(douts, tl.trans(pinned(values)), PRECISION)
    if DROP:
        low, high = row_words(tl.load(seed), entry * n + i_first + r)
        stays = kept(low[:, None], high[:, None], (j_first + c)[None, :], least)
        g = tl.where(stays, g * keep_scale, 0.0)
    at = (local * i_count + r)[:, None] * j_count + c[None, :]
    inside = there[:, None] & here[None, :]
    p = tl.load(weights + at, mask=inside, other=0.0)
    tl.store(likes + at, tl.where(p > 0.0, g, 0.0), mask=inside)  # hidden, it may be anything


@triton.jit(do_not_specialize=COUNTS)
def tally(
    weights, likes, sums, n, e_first, i_first, i_count, j_count,
    BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """sums[i] += the sums of p and of p * likes over a panel's keys, in float64."""
    blocks = tl.cdiv(i_count, BM)
    local = (tl.program_id(0) // blocks).to(tl.int64)
    r = (tl.program_id(0) % blocks) * BM + tl.arange(0, BM)
    there = r < i_count
    total = tl.zeros([BM], tl.float64)
    weighted = tl.zeros([BM], tl.float64)
    for c0 in range(0, j_count, BN):
        c = c0 + tl.arange(0, BN)
        inside = there[:, None] & (c < j_count)[None, :]
        at = (local * i_count + r)[:, None] * j_count + c[None, :]
        p = tl.load(weights + at, mask=inside, other=0.0).to(tl.float64)
        g = tl.load(likes + at, mask=inside, other=0.0).to(tl.float64)
        total += tl.sum(p, 1)
        weighted += tl.sum(p * g, 1)
    at_sum = sums + ((e_first + local) * n + i_first + r) * 2
    tl.store(at_sum, tl.load(at_sum, mask=there, other=0.0) + total, mask=there)
    tl.store(at_sum + 1, tl.load(at_sum + 1, mask=there, other=0.0) + weighted, mask=there)


@triton.jit(do_not_specialize=COUNTS)
def settle(
    weights, likes, sums, seed, n, least, keep_scale, e_first, i_first, i_count, j_first, j_count,
    BM: tl.constexpr, BN: tl.constexpr, DROP: tl.constexpr,
):  # fmt: skip
    """In a panel: likes become slopes of the scores, weights become what dropout leaves of them."""
    blocks, wide = tl.cdiv(i_count, BM), tl.cdiv(j_count, BN)
    local = (tl.program_id(0) // (blocks * wide)).to(tl.int64)
    entry = e_first + local
    rest = tl.program_id(0) % (blocks * wide)
    r = (rest // wide) * BM + tl.arange(0, BM)
    c = (rest % wide) * BN + tl.arange(0, BN)
    inside = (r < i_count)[:, None] & (c < j_count)[None, :]
    at_sum = sums + (entry * n + i_first + r) * 2
    total = tl.load(at_sum, mask=r < i_count, other=0.0)
    weighted = tl.load(at_sum + 1, mask=r < i_count, other=0.0)
    mean = tl.where(total > 0.0, weighted / tl.where(total > 0.0, total, 1.0), 0.0)
    at = (local * i_count + r)[:, None] * j_count + c[None, :]
    p = tl.load(weights + at, mask=inside, other=0.0)
    g = tl.load(likes + at, mask=inside, other=0.0)
    tl.store(likes + at, settled(p, g, mean[:, None], True, False), mask=inside)
    if DROP:
        low, high = row_words(tl.load(seed), entry * n + i_first + r)
        stays = kept(low[:, None], high[:, None], (j_first + c)[None, :], least)
        tl.store(weights + at, tl.where(stays, p * keep_scale, 0.0), mask=inside)


@triton.jit
def pulled(ds, slope):
    """A pair whose ds is 0 sends nothing, whatever the slope of phi is."""
    return tl.where(ds != 0.0, ds * slope, 0.0)


@triton.jit(do_not_specialize=COUNTS)
def pull_rows(
    q, k, p0, p1, lo, hi, slopes, dq, sums0, sums1, n, m, h, per_mask, heads, e_first, i_first,
    i_count, j_first, j_count, entries, splits,
    SPANS: tl.constexpr, FEW: tl.constexpr, BI: tl.constexpr, BJ: tl.constexpr, BH: tl.constexpr,
    TO_P0: tl.constexpr, TO_P1: tl.constexpr,
):  # fmt: skip
    """dq[split, entry, i, f] = sum over some of the panel's keys of ds * dphi/dq; parameters' too.

    q and k here are [B, n, h] and [B, m, h]. A tile is [BI, BJ, BH], the features across threads;
    FEW: in float64.
    """
    REAL: tl.constexpr = tl.float64 if FEW and not EDGED else tl.float32
    blocks = tl.cdiv(i_count, BI)
    wide = tl.cdiv(h, BH)
    f = (tl.program_id(0) % wide) * BH + tl.arange(0, BH)
    split = (tl.program_id(0) // wide % splits).to(tl.int64)
    block = tl.program_id(0) // wide // splits % blocks
    local = (tl.program_id(0) // wide // splits // blocks).to(tl.int64)
    entry = e_first + local
    r = block * BI + tl.arange(0, BI)
    here = f < h
    there = (r < i_count)[:, None] & here[None, :]
    x = tl.load(q + (entry * n + i_first + r)[:, None] * h + f[None, :], mask=there, other=0.0)
    x = x.to(REAL)[:, None, :]
    a = tl.load(p0 + (entry % heads) * h + f, mask=here, other=0.0)[None, None, :]
    b = tl.load(p1 + (entry % heads) * h + f, mask=here, other=0.0)[None, None, :]
    a, b = a.to(REAL), b.to(REAL)
    nothing = tl.zeros([BI, BH], REAL)
    acc, rest = nothing, nothing
    to_p0, rest_p0, to_p1, rest_p1 = nothing, nothing, nothing, nothing
    of_mask = entry // per_mask
    first, last = spans(lo + of_mask * n, hi + of_mask * n, i_first + r, n, m, SPANS)
    last = tl.where(r < i_count, last, 0)
    begin = tl.maximum(tl.min(tl.where(first < last, first, m), 0) - j_first, 0) // BJ * BJ
    end = tl.minimum(tl.max(tl.where(first < last, last, 0), 0) - j_first, j_count)
    each = tl.cdiv(tl.cdiv(tl.maximum(end - begin, 0), BJ), splits) * BJ
    begin += split * each
    end = tl.minimum(begin + each, end)
    for c0 in range(begin, end, BJ):
        c = c0 + tl.arange(0, BJ)
        live = (r < i_count)[:, None] & (c < j_count)[None, :]
        at_ds = slopes + (local * i_count + r)[:, None] * j_count + c[None, :]
        ds = tl.load(at_ds, mask=live, other=0.0)[:, :, None]
        keys = (c < j_count)[:, None] & here[None, :]
        at_k = k + (entry * m + j_first + c)[:, None] * h + f[None, :]
        y = tl.load(at_k, mask=keys, other=0.0).to(REAL)[None, :, :]
        acc, rest = added(acc, rest, tl.sum(pulled(ds, phi_q(x, y, a, b)), 1))
        if TO_P0:
            to_p0, rest_p0 = added(to_p0, rest_p0, tl.sum(pulled(ds, phi_p0(x, y, a, b)), 1))
        if TO_P1:
            to_p1, rest_p1 = added(to_p1, rest_p1, tl.sum(pulled(ds, phi_p1(x, y, a, b)), 1))
    at = dq + ((split * entries + local) * i_count + r)[:, None] * h + f[None, :]
    tl.store(at, acc + rest, mask=there)
    at_sum = ((split * entries + local) * blocks + block) * h + f
    if TO_P0:
        total = tl.sum(to_p0.to(tl.float64), 0) + tl.sum(rest_p0.to(tl.float64), 0)
        tl.store(sums0 + at_sum, total, mask=here)
    if TO_P1:
        other = tl.sum(to_p1.to(tl.float64), 0) + tl.sum(rest_p1.to(tl.float64), 0)
        tl.store(sums1 + at_sum, other, mask=here)


@triton.jit(do_not_specialize=COUNTS)
def pull_keys(
    q, k, p0, p1, lo, hi, slopes, dk, n, m, h, per_mask, heads, e_first, i_first, i_count,
    j_first, j_count,
    SPANS: tl.constexpr, FEW: tl.constexpr, BI: tl.constexpr, BJ: tl.constexpr, BH: tl.constexpr,
):  # fmt: skip
    """dk[j, f] += sum over the panel's rows of ds * dphi/dk, in float64 across panels."""
    REAL: tl.constexpr = tl.float64 if FEW and not EDGED else tl.float32
    blocks = tl.cdiv(j_count, BJ)
    wide = tl.cdiv(h, BH)
    local = (tl.program_id(0) // (blocks * wide)).to(tl.int64)
    entry = e_first + local
    rest = tl.program_id(0) % (blocks * wide)
    c = (rest // wide) * BJ + tl.arange(0, BJ)
    f = (rest % wide) * BH + tl.arange(0, BH)
    here = f < h
    there = (c < j_count)[:, None] & here[None, :]
    y = tl.load(k + (entry * m + j_first + c)[:, None] * h + f[None, :], mask=there, other=0.0)
    y = y.to(REAL)[None, :, :]
    a = tl.load(p0 + (entry % heads) * h + f, mask=here, other=0.0)[None, None, :]
    b = tl.load(p1 + (entry % heads) * h + f, mask=here, other=0.0)[None, None, :]
    a, b = a.to(REAL), b.to(REAL)
    acc, lost = tl.zeros([BJ, BH], REAL), tl.zeros([BJ, BH], REAL)
    j0 = j_first + (rest // wide) * BJ
    of_mask = entry // per_mask
    for r0 in range(0, i_count, BI):
        r = r0 + tl.arange(0, BI)
        seen = 1
        if SPANS:
            first, last = spans(lo + of_mask * n, hi + of_mask * n, i_first + r, n, m, SPANS)
            sees = (r < i_count) & (first < j0 + BJ) & (last > j0) & (first < last)
            seen = tl.max(sees.to(tl.int32), 0)
        if seen > 0:
            live = (r < i_count)[:, None] & (c < j_count)[None, :]
            at_ds = slopes + (local * i_count + r)[:, None] * j_count + c[None, :]
            ds = tl.load(at_ds, mask=live, other=0.0)[:, :, None]
            rows = (r < i_count)[:, None] & here[None, :]
            at_q = q + (entry * n + i_first + r)[:, None] * h + f[None, :]
            x = tl.load(at_q, mask=rows, other=0.0).to(REAL)[:, None, :]
            acc, lost = added(acc, lost, tl.sum(pulled(ds, phi_k(x, y, a, b)), 0))
    at = dk + (local * m + j_first + c)[:, None] * h + f[None, :]
    tl.store(at, tl.load(at, mask=there, other=0.0) + (acc + lost), mask=there)


@triton.jit(do_not_specialize=COUNTS)
def spread(
    weights, dout, dv_out, n, m, dv, parts, entries, e_first, i_first, i_count, j_first, j_count,
    ROWS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, DV: tl.constexpr,
    PRECISION: tl.constexpr, FINE: tl.constexpr,
):  # fmt: skip
    """dv[part, entry, j] += sum over ROWS of the panel's rows of p * dout, in float64 across
    panels; FINE: what is rounded off among them is kept, too."""
    blocks = tl.cdiv(j_count, BN)
    part = tl.program_id(0) % parts
    local = (tl.program_id(0) // parts // blocks).to(tl.int64)
    entry = e_first + local
    c = (tl.program_id(0) // parts % blocks) * BN + tl.arange(0, BN)
    here = c < j_count
    acc, rest = tl.zeros([BN, DV], tl.float32), tl.zeros([BN, DV], tl.float32)
    for r0 in range(part * ROWS, tl.minimum(part * ROWS + ROWS, i_count), BM):
        r = r0 + tl.arange(0, BM)
        there = r < i_count
        at = (local * i_count + r)[:, None] * j_count + c[None, :]
        p = tl.load(weights + at, mask=there[:, None] & here[None, :], other=0.0)
        douts = rows_of(dout + entry * n * dv, i_first + r, there, dv, dv, 1, DV)
        dead = tl.max((p != 0.0).to(tl.int32), 1) == 0  # who sees nothing may be given anything
        douts = pinned(without(douts, dead))  # before Hopper Triton cannot hand over single bits
        if FINE:
            some = tl.zeros([BN, DV], tl.float32)
            some = product_added(tl.trans(pinned(p)), douts, some, PRECISION)
            acc, rest = added(acc, rest, some)
        else:
            acc = product_added(tl.trans(pinned(p)), douts, acc, PRECISION)
    total = acc.to(tl.float64)
    if FINE:
        total += rest.to(tl.float64)
    f = tl.arange(0, DV)
    at_out = dv_out + ((part * entries + local) * m + j_first + c)[:, None] * dv + f[None, :]
    inside = here[:, None] & (f < dv)[None, :]
    tl.store(at_out, tl.load(at_out, mask=inside, other=0.0) + total, mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def along(
    slopes, dtable, n, m, e_first, e_count, i_first, i_count, j_first, j_count, tables,
    WIDTH: tl.constexpr,
):  # fmt: skip
    """dtable[t] += the slopes at the distance j - i = t - (n - 1), of all entries of a table."""
    which = (tl.program_id(1)).to(tl.int64)
    t = (tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)).to(tl.int64)
    distance = t - (n - 1)
    acc = tl.zeros([WIDTH], tl.float64)
    for local in range(e_count):
        if (e_first + local) % tables == which:
            for r in range(i_count):
                c = distance + (i_first + r) - j_first
                inside = (c >= 0) & (c < j_count)
                at = (local * i_count + r) * j_count + c
                acc += tl.load(slopes + at, mask=inside, other=0.0).to(tl.float64)
    at_table = dtable + which * (n + m - 1) + t
    there = t < n + m - 1
    tl.store(at_table, tl.load(at_table, mask=there, other=0.0) + acc, mask=there)

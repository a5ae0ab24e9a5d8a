"""The dot product's kernels: scores, averages and all their gradients as matrix products.

A block of threads takes BM queries and goes through the tiles of BN keys they see; the tile of
scores [BM, BN] is all that exists of the n x m matrix. Scores are in base 2 (``scale`` has log2(e)
in it), because the hardware's exponential is. In float32 long sums are carried in float64.

A masked key is absent. Its score is -inf and its weight 0, but 0 * NaN is NaN. Kernels do not look
out for it; they note which of their results are not finite, and a second launch does those again,
CAREFUL: in a tile that hides anything, rows of k and v that are not finite are zeroed, and the
queries that do see one are given their NaN by hand. It also holds scores and sums beyond float32,
by powers of two. Where nothing was noted, all it does is look at the notes.
"""

from __future__ import annotations

import triton
import triton.language as tl

from regard.attention.triton.elementary import (
    accumulated,
    product,
    product_added,
    times,
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

__all__ = ["columns", "deltas", "forward", "means", "to_keys", "to_queries"]

# One kernel for all lengths: a training on sentences would wait for a compiler at every new one.
LENGTHS = ["n", "m"]
LN2 = tl.constexpr(0.6931471805599453)
LOG2E = tl.constexpr(1.4426950408889634)
HUGE = tl.constexpr(2.0**30)  # rows of q and k that CAREFUL makes smaller, and by how much
DOWN = tl.constexpr(2.0**-70)
UP = tl.constexpr(2.0**70)
DOWN_V = tl.constexpr(2.0**-24)
UP_V = tl.constexpr(2.0**24)


@triton.jit
def rows_of(x, at, there, width, stride_row, stride_col, W: tl.constexpr):
    """x[at, :width] as [rows, W], zeros where there is nothing."""
    c = tl.arange(0, W)
    where = x + at.to(tl.int64)[:, None] * stride_row + c.to(tl.int64)[None, :] * stride_col
    return tl.load(where, mask=there[:, None] & (c < width)[None, :], other=0.0)


@triton.jit
def full_rows_of(x, at, width, stride_row, stride_col, W: tl.constexpr, EVEN: tl.constexpr):
    """The same where every row is there; EVEN: and every column."""
    c = tl.arange(0, W)
    where = x + at.to(tl.int64)[:, None] * stride_row + c.to(tl.int64)[None, :] * stride_col
    if EVEN:
        return tl.load(where)
    return tl.load(where, mask=(c < width)[None, :], other=0.0)


@triton.jit
def unfit(x):
    """Which rows of x hold something that is not finite."""
    return tl.sum(x.to(tl.float32) * 0.0, 1) != 0.0


@triton.jit
def without(x, rows):
    """x with some rows set to zero."""
    return tl.where(rows[:, None], tl.zeros_like(x), x)


@triton.jit
def scaled(x, by):
    """x times a power of two; half precision of the small range stays as it is."""
    if x.dtype == tl.float16:
        return x
    else:
        return (x.to(tl.float32) * by).to(x.dtype)


@triton.jit
def smaller_rows(x):
    """x with its huge rows made small, and what makes their products right again, [rows]."""
    size = tl.abs(x.to(tl.float32))
    huge = tl.max(tl.where(size < float("inf"), size, 0.0), 1) > HUGE
    down = tl.where(huge, DOWN, 1.0)
    return (x.to(tl.float32) * down[:, None]).to(x.dtype), tl.where(huge, UP, 1.0)


@triton.jit
def of_distance(table, i, j, n, there):
    """What the distance adds."""
    return tl.load(table + (j - i + (n - 1)).to(tl.int64), mask=there, other=0.0)


@triton.jit
def bias(table, i, j, n, there):
    """The same in base 2."""
    return of_distance(table, i, j, n, there) * LOG2E


@triton.jit
def below(s, factor, by, WIDE: tl.constexpr, CAREFUL: tl.constexpr):
    """s * factor - by, which both launches must round alike, or garbage could be told by a bit.

    In float32 the product is rounded first: the gradients' weights are of that, too. Else it is
    fused with the subtraction, but for huge scores: the largest that is subtracted is a rounded
    one, and of 1e38 the difference is 1e31.
    """
    if WIDE:
        less = times(s, factor) - by
    else:
        less = tl.fma(s, factor + tl.zeros_like(s), tl.zeros_like(s) - by)
        if CAREFUL:
            first = times(s, factor)
            apart = tl.minimum(first - by, 0.0, propagate_nan=tl.PropagateNan.ALL)
            less = tl.where(tl.abs(first) < HUGE, less, apart)
    return less


@triton.jit
def shifted(s, by, WIDE: tl.constexpr):
    """s - by: by is in float64, and in float32 s must not lose what it is good for."""
    if WIDE:
        return (s.to(tl.float64) - by).to(tl.float32)
    else:
        return s - by.to(tl.float32)


@triton.jit
def at_most_one(below):
    """A weight from its logarithm. Of a score of 1e20 the normaliser is off by thousands."""
    return tl.exp2(tl.minimum(below, 0.0, propagate_nan=tl.PropagateNan.ALL))


@triton.jit
def forward_tile(
    acc, total, top, q, k, v, table, dense, at_k, at_v, rows, first, last, low, high, n, m, d, dv,
    skm, skd, svm, svd, sdn, sdm, scale, least, keep_scale, tile,
    BN: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, EVEN: tl.constexpr, MASKED: tl.constexpr,
    NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr, DROP: tl.constexpr,
    LONG: tl.constexpr, VALUES: tl.constexpr, PRECISION: tl.constexpr, CAREFUL: tl.constexpr,
):  # fmt: skip
    j = tile * BN + tl.arange(0, BN)
    if MASKED:
        keys = rows_of(at_k, j, j < m, d, skm, skd, D)
    else:
        keys = full_rows_of(at_k, j, d, skm, skd, D, EVEN)
    if CAREFUL:
        queries, up_q = smaller_rows(q)
        keys, up_k = smaller_rows(keys)
        s = product(queries, tl.trans(keys), PRECISION) * up_q[:, None] * up_k[None, :]
    else:
        s = product(q, tl.trans(keys), PRECISION)  # [BM, BN]
    if TABLE:
        there = (rows < n)[:, None] & (j < m)[None, :]
        s = s * scale + bias(table, rows[:, None], j[None, :], n, there)
        factor = 1.0
    else:
        factor = scale
    if CAREFUL:
        most = 3.0e38 / tl.maximum(factor, 1.0)
        s = tl.minimum(s, most, propagate_nan=tl.PropagateNan.ALL)
    if MASKED:
        seen = visible(
            rows[:, None],
            j[None, :],
            first[:, None],
            last[:, None],
            dense,
            sdn,
            sdm,
            NOT_SELF,
            DENSE,
        )
        s = tl.where(seen, s, float("-inf"))
    new = tl.maximum(top, times(tl.max(s, 1), factor))
    if (MASKED or TABLE) or CAREFUL:
        unit = tl.where(new == float("-inf"), 0.0, new)  # nothing seen yet: -inf - -inf is NaN
    else:
        unit = new
    decay = tl.exp2(top - unit)
    p = tl.exp2(below(s, factor, unit[:, None], q.dtype == tl.float32, CAREFUL))
    if LONG:
        total = total * decay.to(tl.float64) + tl.sum(p, 1).to(tl.float64)
    else:
        total = total * decay + tl.sum(p, 1)
    if VALUES:
        if DROP:
            p = tl.where(kept(low[:, None], high[:, None], j[None, :], least), p * keep_scale, 0.0)
        if MASKED:
            values = rows_of(at_v, j, j < m, dv, svm, svd, DV)
            if CAREFUL:
                bad = unfit(values)
                values = without(values, bad)
                spoiled = tl.max((seen & bad[None, :]).to(tl.int32), 1) > 0
                total = tl.where(spoiled, float("nan"), total)
        else:
            values = full_rows_of(at_v, j, dv, svm, svd, DV, EVEN)
        if CAREFUL:
            values = scaled(values, DOWN_V)
        if LONG:
            part = product(p.to(values.dtype), values, PRECISION)
            acc = acc * decay.to(tl.float64)[:, None] + part.to(tl.float64)
        else:
            acc = product_added(p.to(values.dtype), values, acc * decay[:, None], PRECISION)
    return acc, total, new


@triton.jit(do_not_specialize=LENGTHS)
def forward(
    q, k, v, table, lo, hi, dense, seed, out, lse, notes,
    sqb, sqn, sqd, skb, skm, skd, svb, svm, svd, sdb, sdn, sdm,
    n, m, d, dv, per_mask, per_dense, tables, scale, least, keep_scale,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, EVEN: tl.constexpr,
    SPANS: tl.constexpr, NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr,
    DROP: tl.constexpr, LONG: tl.constexpr, VALUES: tl.constexpr, NEGATIVE: tl.constexpr,
    PRECISION: tl.constexpr, CAREFUL: tl.constexpr,
):  # fmt: skip
    """out [B, n, dv] and lse [B, n] (natural, float64); VALUES off: lse alone."""
    if CAREFUL:
        if tl.load(notes + tl.program_id(0)) == 0:
            return
    blocks = tl.cdiv(n, BM)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    i0 = (blocks - 1 - tl.program_id(0) % blocks) * BM  # under a causal mask the long ones first
    rows = i0 + tl.arange(0, BM)
    of_mask = entry // per_mask
    first, last = spans(lo + of_mask * n, hi + of_mask * n, rows, n, m, SPANS)
    at_k, at_v = k + entry * skb, v + entry * svb
    the_dense = dense + (entry // per_dense) * sdb
    the_table = table + (entry % tables) * (n + m - 1)
    queries = rows_of(q + entry * sqb, rows, rows < n, d, sqn, sqd, D)
    if NEGATIVE:
        queries = (-queries.to(tl.float32)).to(queries.dtype)
    low, high = rows.to(tl.uint32), rows.to(tl.uint32)
    if DROP:
        low, high = row_words(tl.load(seed), entry * n + rows)
    if LONG:
        acc = tl.zeros([BM, DV], tl.float64)
        total = tl.zeros([BM], tl.float64)
    else:
        acc = tl.zeros([BM, DV], tl.float32)
        total = tl.zeros([BM], tl.float32)
    top = tl.full([BM], float("-inf"), tl.float32)
    start, stop, a, b, d0, d1 = tiles(first, last, rows, i0, n, m, BM, BN, NOT_SELF, DENSE)
    for t in range((b - a) - (d1 - d0)):
        acc, total, top = forward_tile(
            acc, total, top, queries, k, v, the_table, the_dense, at_k, at_v, rows, first, last,
            low, high, n, m, d, dv, skm, skd, svm, svd, sdn, sdm, scale, least, keep_scale,
            nth_full(t, a, d0, d1), BN, D, DV, EVEN, False, NOT_SELF, DENSE, TABLE, DROP, LONG,
            VALUES, PRECISION, CAREFUL,
        )  # fmt: skip
    for t in range((a - start) + (d1 - d0) + (stop - b)):
        acc, total, top = forward_tile(
            acc, total, top, queries, k, v, the_table, the_dense, at_k, at_v, rows, first, last,
            low, high, n, m, d, dv, skm, skd, svm, svd, sdn, sdm, scale, least, keep_scale,
            nth_masked(t, start, a, b, d0, d1), BN, D, DV, EVEN, True, NOT_SELF, DENSE, TABLE, DROP,
            LONG, VALUES, PRECISION, CAREFUL,
        )  # fmt: skip
    there = rows < n
    nothing = total == 0.0
    total = tl.where(nothing, 1.0, total)
    norm = top.to(tl.float64) * LN2 + tl.log(total.to(tl.float64))
    norm = tl.where(nothing, float("-inf"), norm)
    tl.store(lse + entry * n + rows, norm, mask=there)
    wrong = tl.max((norm != norm).to(tl.int32), 0)
    if VALUES:
        acc = acc / total[:, None]
        if CAREFUL:
            if q.dtype.element_ty != tl.float16:
                acc = acc * UP_V
            acc = tl.where(tl.abs(acc) == float("inf"), float("nan"), acc)  # it saw an infinity
        wrong = tl.max(tl.max((acc - acc != 0.0).to(tl.int32), 1), 0)
        c = tl.arange(0, DV)
        at = out + (entry * n + rows)[:, None] * dv + c[None, :]
        tl.store(at, acc.to(out.dtype.element_ty), mask=there[:, None] & (c < dv)[None, :])
    if not CAREFUL:
        tl.store(notes + tl.program_id(0), wrong)


@triton.jit
def base_two(norm):
    """A row's normaliser in base 2; of one that saw nothing, what makes all its weights 0."""
    return tl.where(norm == float("-inf"), float("inf"), norm * LOG2E)


@triton.jit(do_not_specialize=["count"])
def deltas(out, dout, lse, mean, norms, dv, count, BM: tl.constexpr, DV: tl.constexpr):
    """mean[r] = <dout[r], out[r]>: the mean of the likes, as good as half precision knows it."""
    rows = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    c = tl.arange(0, DV)
    at = rows[:, None] * dv + c[None, :]
    there = (rows < count)[:, None] & (c < dv)[None, :]
    x = tl.load(out + at, mask=there, other=0.0).to(tl.float32)
    y = tl.load(dout + at, mask=there, other=0.0).to(tl.float32)
    norm = base_two(tl.load(lse + rows, mask=rows < count, other=0.0))
    found = tl.sum(x * y, 1)
    found = tl.where(norm == float("inf"), 0.0, found)  # who sees nothing may be given anything
    tl.store(mean + rows, found, mask=rows < count)
    tl.store(norms + rows, norm.to(tl.float32), mask=rows < count)


@triton.jit
def slopes_tile(
    q, dout, norm, mean, table, dense, at_k, at_v, rows, first, last, low, high, n, m, d, dv,
    skm, skd, svm, svd, sdn, sdm, scale, least, keep_scale, tile,
    BN: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, EVEN: tl.constexpr, MASKED: tl.constexpr,
    NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr, DROP: tl.constexpr,
    WIDE: tl.constexpr, PRECISION: tl.constexpr, CAREFUL: tl.constexpr,
):  # fmt: skip
    """Weights, how much the loss likes each key, and the keys, for a tile [BM, BN]."""
    j = tile * BN + tl.arange(0, BN)
    if MASKED:
        keys = rows_of(at_k, j, j < m, d, skm, skd, D)
        values = rows_of(at_v, j, j < m, dv, svm, svd, DV)
    else:
        keys = full_rows_of(at_k, j, d, skm, skd, D, EVEN)
        values = full_rows_of(at_v, j, dv, svm, svd, DV, EVEN)
    if CAREFUL:
        few, up_q = smaller_rows(q)
        keys_small, up_k = smaller_rows(keys)
        s = product(few, tl.trans(keys_small), PRECISION) * up_q[:, None] * up_k[None, :]
        most = 3.0e38 / tl.maximum(scale, 1.0)
        s = tl.minimum(s, most, propagate_nan=tl.PropagateNan.ALL)
    else:
        s = product(q, tl.trans(keys), PRECISION)
    if TABLE:
        there = (rows < n)[:, None] & (j < m)[None, :]
        s = s * scale + bias(table, rows[:, None], j[None, :], n, there)
        p = at_most_one(shifted(s, norm[:, None], WIDE))
    elif WIDE:
        p = at_most_one(shifted(s * scale, norm[:, None], WIDE))
    else:
        p = tl.exp2(below(s, scale, norm[:, None], False, CAREFUL))
    likes = product(dout, tl.trans(values), PRECISION)
    if DROP:
        likes = tl.where(
            kept(low[:, None], high[:, None], j[None, :], least), likes * keep_scale, 0.0
        )
    if MASKED:
        seen = visible(
            rows[:, None],
            j[None, :],
            first[:, None],
            last[:, None],
            dense,
            sdn,
            sdm,
            NOT_SELF,
            DENSE,
        )
        p = tl.where(seen, p, 0.0)
        likes = tl.where(seen, likes, 0.0)
        if CAREFUL:
            keys = without(keys, unfit(keys))
    return p, likes, keys


@triton.jit(do_not_specialize=LENGTHS)
def means(
    q, k, v, dout, table, lo, hi, dense, seed, lse, mean, norms,
    sqb, sqn, sqd, skb, skm, skd, svb, svm, svd, sdb, sdn, sdm,
    n, m, d, dv, per_mask, per_dense, tables, scale, least, keep_scale,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, EVEN: tl.constexpr,
    SPANS: tl.constexpr, NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr,
    DROP: tl.constexpr, NEGATIVE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The mean of the likes from the likes themselves, in float64, for float32.

    <dout, out> is the same up to a rounding of ``out``, and where one weight is near 1, the slope
    of the softmax is the difference of two numbers that agree in all digits but that one.
    """
    blocks = tl.cdiv(n, BM)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    i0 = (blocks - 1 - tl.program_id(0) % blocks) * BM
    rows = i0 + tl.arange(0, BM)
    there = rows < n
    of_mask = entry // per_mask
    first, last = spans(lo + of_mask * n, hi + of_mask * n, rows, n, m, SPANS)
    at_k, at_v = k + entry * skb, v + entry * svb
    the_dense = dense + (entry // per_dense) * sdb
    the_table = table + (entry % tables) * (n + m - 1)
    queries = rows_of(q + entry * sqb, rows, there, d, sqn, sqd, D)
    if NEGATIVE:
        queries = (-queries.to(tl.float32)).to(queries.dtype)
    douts = rows_of(dout + entry * n * dv, rows, there, dv, dv, 1, DV)
    norm = base_two(tl.load(lse + entry * n + rows, mask=there, other=0.0))
    low, high = rows.to(tl.uint32), rows.to(tl.uint32)
    if DROP:
        low, high = row_words(tl.load(seed), entry * n + rows)
    total = tl.zeros([BM], tl.float64)
    weighted = tl.zeros([BM], tl.float64)
    start, stop, a, b, d0, d1 = tiles(first, last, rows, i0, n, m, BM, BN, NOT_SELF, DENSE)
    for t in range((b - a) - (d1 - d0)):
        p, likes, _ = slopes_tile(
            queries, douts, norm, norm, the_table, the_dense, at_k, at_v, rows, first, last, low,
            high, n, m, d, dv, skm, skd, svm, svd, sdn, sdm, scale, least, keep_scale,
            nth_full(t, a, d0, d1), BN, D, DV, EVEN, False, NOT_SELF, DENSE, TABLE, DROP, True,
            PRECISION, False,
        )  # fmt: skip
        total += tl.sum(p.to(tl.float64), 1)
        weighted += tl.sum(p.to(tl.float64) * likes.to(tl.float64), 1)
    for t in range((a - start) + (d1 - d0) + (stop - b)):
        p, likes, _ = slopes_tile(
            queries, douts, norm, norm, the_table, the_dense, at_k, at_v, rows, first, last, low,
            high, n, m, d, dv, skm, skd, svm, svd, sdn, sdm, scale, least, keep_scale,
            nth_masked(t, start, a, b, d0, d1), BN, D, DV, EVEN, True, NOT_SELF, DENSE, TABLE, DROP,
            True, PRECISION, False,
        )  # fmt: skip
        total += tl.sum(p.to(tl.float64), 1)
        weighted += tl.sum(p.to(tl.float64) * likes.to(tl.float64), 1)
    found = tl.where(total > 0.0, weighted / tl.where(total > 0.0, total, 1.0), 0.0)
    tl.store(mean + entry * n + rows, found, mask=there)
    tl.store(norms + entry * n + rows, norm, mask=there)


@triton.jit
def settled(p, likes, mean, WIDE: tl.constexpr, CAREFUL: tl.constexpr):
    """ds = p * (likes - their mean).

    A weight of 0 has no slope, whatever its value: who has seen a NaN sends none to a key that is
    hidden. In float32 one of 1 leaves others none to give.
    """
    ds = p * shifted(likes, mean, WIDE)
    if WIDE:
        ds = tl.where((p == 0.0) | (p == 1.0), 0.0, ds)
    elif CAREFUL:  # the first time such a NaN is what is noted
        ds = tl.where(p == 0.0, 0.0, ds)
    return ds


@triton.jit(do_not_specialize=LENGTHS)
def to_queries(
    q, k, v, dout, table, lo, hi, dense, seed, norms, mean, dq, notes,
    sqb, sqn, sqd, skb, skm, skd, svb, svm, svd, sdb, sdn, sdm,
    n, m, d, dv, per_mask, per_dense, tables, scale, factor, least, keep_scale,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, EVEN: tl.constexpr,
    SPANS: tl.constexpr, NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr,
    DROP: tl.constexpr, WIDE: tl.constexpr, LONG: tl.constexpr, NEGATIVE: tl.constexpr,
    PRECISION: tl.constexpr, CAREFUL: tl.constexpr,
):  # fmt: skip
    """dq = factor * ds @ k."""
    if CAREFUL:
        if tl.load(notes + tl.program_id(0)) == 0:
            return
    blocks = tl.cdiv(n, BM)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    i0 = (blocks - 1 - tl.program_id(0) % blocks) * BM
    rows = i0 + tl.arange(0, BM)
    there = rows < n
    of_mask = entry // per_mask
    first, last = spans(lo + of_mask * n, hi + of_mask * n, rows, n, m, SPANS)
    at_k, at_v = k + entry * skb, v + entry * svb
    the_dense = dense + (entry // per_dense) * sdb
    the_table = table + (entry % tables) * (n + m - 1)
    queries = rows_of(q + entry * sqb, rows, there, d, sqn, sqd, D)
    if NEGATIVE:
        queries = (-queries.to(tl.float32)).to(queries.dtype)
    douts = rows_of(dout + entry * n * dv, rows, there, dv, dv, 1, DV)
    norm = tl.load(norms + entry * n + rows, mask=there, other=float("inf"))
    middle = tl.load(mean + entry * n + rows, mask=there, other=0.0)
    low, high = rows.to(tl.uint32), rows.to(tl.uint32)
    if DROP:
        low, high = row_words(tl.load(seed), entry * n + rows)
    if LONG:
        acc = tl.zeros([BM, D], tl.float64)
    else:
        acc = tl.zeros([BM, D], tl.float32)
    start, stop, a, b, d0, d1 = tiles(first, last, rows, i0, n, m, BM, BN, NOT_SELF, DENSE)
    for t in range((b - a) - (d1 - d0)):
        p, likes, keys = slopes_tile(
            queries, douts, norm, middle, the_table, the_dense, at_k, at_v, rows, first, last, low,
            high, n, m, d, dv, skm, skd, svm, svd, sdn, sdm, scale, least, keep_scale,
            nth_full(t, a, d0, d1), BN, D, DV, EVEN, False, NOT_SELF, DENSE, TABLE, DROP, WIDE,
            PRECISION, CAREFUL,
        )  # fmt: skip
        ds = settled(p, likes, middle[:, None], WIDE, CAREFUL)
        acc = accumulated(acc, ds, keys, WIDE, LONG, PRECISION)
    for t in range((a - start) + (d1 - d0) + (stop - b)):
        p, likes, keys = slopes_tile(
            queries, douts, norm, middle, the_table, the_dense, at_k, at_v, rows, first, last, low,
            high, n, m, d, dv, skm, skd, svm, svd, sdn, sdm, scale, least, keep_scale,
            nth_masked(t, start, a, b, d0, d1), BN, D, DV, EVEN, True, NOT_SELF, DENSE, TABLE, DROP,
            WIDE, PRECISION, CAREFUL,
        )  # fmt: skip
        ds = settled(p, likes, middle[:, None], WIDE, CAREFUL)
        acc = accumulated(acc, ds, keys, WIDE, LONG, PRECISION)
    c = tl.arange(0, D)
    at = dq + (entry * n + rows)[:, None] * d + c[None, :]
    tl.store(at, (acc * factor).to(dq.dtype.element_ty), mask=there[:, None] & (c < d)[None, :])
    if not CAREFUL:
        tl.store(notes + tl.program_id(0), tl.max(tl.max((acc - acc != 0.0).to(tl.int32), 1), 0))


@triton.jit(do_not_specialize=["n", "m", "blocks_n", "blocks_m"])
def columns(
    lo, hi, found, n, m, blocks_n, blocks_m,
    BM: tl.constexpr, BN: tl.constexpr, NOT_SELF: tl.constexpr, DENSE: tl.constexpr,
    SOME: tl.constexpr,
):  # fmt: skip
    """For a tile of keys: the blocks of queries that see it, from first to last, and among them a
    run that sees it whole. Four numbers a tile; O(n) looks, SOME blocks at a time, no n x m."""
    of_mask = (tl.program_id(0) // blocks_m).to(tl.int64)
    tile = tl.program_id(0) % blocks_m
    j0, j1 = tile * BN, tl.minimum(tile * BN + BN, m)
    first, last = blocks_n, 0
    whole, broken = blocks_n, blocks_n
    for start in range(0, blocks_n, SOME):
        block = start + tl.arange(0, SOME)
        rows = block[:, None] * BM + tl.arange(0, BM)[None, :]
        there = rows < n
        a = tl.maximum(tl.load(lo + of_mask * n + rows, mask=there, other=0), 0)
        b = tl.minimum(tl.load(hi + of_mask * n + rows, mask=there, other=0), m)
        sees = tl.max((there & (a < j1) & (b > j0) & (a < b)).to(tl.int32), 1) > 0
        misses = tl.max((there & ((a > j0) | (b < j1))).to(tl.int32), 1) > 0
        if NOT_SELF:
            misses = misses | ((block * BM < j1) & (block * BM + BM > j0))
        if DENSE:
            misses = misses | True
        misses = misses | (block * BM + BM > n)  # rows behind the end are hidden one by one
        first = tl.minimum(first, tl.min(tl.where(sees, block, blocks_n), 0))
        last = tl.maximum(last, tl.max(tl.where(sees, block + 1, 0), 0))
        # the first that sees it whole, and the first behind that which does not
        whole = tl.minimum(whole, tl.min(tl.where(sees & (misses == 0), block, blocks_n), 0))
        broken = tl.minimum(broken, tl.min(tl.where(misses & (block > whole), block, blocks_n), 0))
    last = tl.maximum(first, last)
    whole = tl.minimum(tl.maximum(whole, first), last)
    broken = tl.minimum(tl.maximum(broken, whole), last)
    at = found + tl.program_id(0).to(tl.int64) * 4
    tl.store(at, first)
    tl.store(at + 1, last)
    tl.store(at + 2, whole)
    tl.store(at + 3, broken)


@triton.jit
def keys_tile(
    dk, dv_acc, k, v, q, dout, norms, mean, table, lo, hi, dense, seed_value, entry, block, j, n, m,
    d, dv, sqn, sqd, sdn, sdm, scale, least, keep_scale,
    BM: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, EVEN: tl.constexpr,
    MASKED: tl.constexpr, SPANS: tl.constexpr, NOT_SELF: tl.constexpr, DENSE: tl.constexpr,
    TABLE: tl.constexpr, DROP: tl.constexpr, WIDE: tl.constexpr, LONG: tl.constexpr,
    NEGATIVE: tl.constexpr, PRECISION: tl.constexpr, CAREFUL: tl.constexpr,
):  # fmt: skip
    rows = block * BM + tl.arange(0, BM)
    there = rows < n
    if MASKED:
        queries = rows_of(q, rows, there, d, sqn, sqd, D)
        douts = rows_of(dout, rows, there, dv, dv, 1, DV)
        norm = tl.load(norms + rows, mask=there, other=float("inf"))
        middle = tl.load(mean + rows, mask=there, other=0.0)
    else:
        queries = full_rows_of(q, rows, d, sqn, sqd, D, EVEN)
        douts = full_rows_of(dout, rows, dv, dv, 1, DV, EVEN)
        norm = tl.load(norms + rows)
        middle = tl.load(mean + rows)
    if CAREFUL:
        # a query may hold anything where it sees nothing
        queries = without(queries, unfit(queries))
        douts = without(douts, norm == float("inf"))
    if NEGATIVE:
        queries = (-queries.to(tl.float32)).to(queries.dtype)
    if CAREFUL:
        few, up_q = smaller_rows(queries)
        keys_small, up_k = smaller_rows(k)
        if WIDE:
            s = tl.trans(product(few, tl.trans(keys_small), PRECISION))
        else:
            s = product(keys_small, tl.trans(few), PRECISION)
        s = s * up_k[:, None] * up_q[None, :]
        most = 3.0e38 / tl.maximum(scale, 1.0)
        s = tl.minimum(s, most, propagate_nan=tl.PropagateNan.ALL)
    elif WIDE:  # the very sums of the forward pass: its normalisers fit no others
        s = tl.trans(product(queries, tl.trans(k), PRECISION))
    else:
        s = product(k, tl.trans(queries), PRECISION)  # [BN, BM]
    if TABLE:
        there = there[None, :] & (j < m)[:, None]
        s = s * scale + bias(table, rows[None, :], j[:, None], n, there)
        p = at_most_one(shifted(s, norm[None, :], WIDE))
    elif WIDE:
        p = at_most_one(shifted(s * scale, norm[None, :], WIDE))
    else:
        p = tl.exp2(below(s, scale, norm[None, :], False, CAREFUL))
    likes = product(v, tl.trans(douts), PRECISION)
    if MASKED:
        first, last = spans(lo, hi, rows, n, m, SPANS)
        seen = visible(
            rows[None, :],
            j[:, None],
            first[None, :],
            last[None, :],
            dense,
            sdn,
            sdm,
            NOT_SELF,
            DENSE,
        )
        p = tl.where(seen, p, 0.0)
        likes = tl.where(seen, likes, 0.0)
    given = p
    if DROP:
        low, high = row_words(seed_value, entry * n + rows)
        stays = kept(low[None, :], high[None, :], j[:, None], least)
        given = tl.where(stays, p * keep_scale, 0.0)
        likes = tl.where(stays, likes * keep_scale, 0.0)
    ds = settled(p, likes, middle[None, :], WIDE, CAREFUL)
    dv_acc = accumulated(dv_acc, given, douts, WIDE, LONG, PRECISION)
    dk = accumulated(dk, ds, queries, WIDE, LONG, PRECISION)
    return dk, dv_acc


@triton.jit(do_not_specialize=LENGTHS)
def to_keys(
    q, k, v, dout, table, lo, hi, dense, seed, norms, mean, found, dk, dv_out, notes,
    sqb, sqn, sqd, skb, skm, skd, svb, svm, svd, sdb, sdn, sdm,
    n, m, d, dv, per_mask, per_dense, tables, scale, factor, least, keep_scale,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, EVEN: tl.constexpr,
    SPANS: tl.constexpr, NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr,
    DROP: tl.constexpr, WIDE: tl.constexpr, LONG: tl.constexpr, NEGATIVE: tl.constexpr,
    PRECISION: tl.constexpr, CAREFUL: tl.constexpr,
):  # fmt: skip
    """dk = factor * ds^T @ q, dv = p^T @ dout."""
    if CAREFUL:
        if tl.load(notes + tl.program_id(0)) == 0:
            return
    blocks = tl.cdiv(m, BN)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    tile = tl.program_id(0) % blocks
    j = tile * BN + tl.arange(0, BN)
    of_mask = entry // per_mask
    at = found + (of_mask * blocks + tile) * 4
    begin, end, whole, broken = tl.load(at), tl.load(at + 1), tl.load(at + 2), tl.load(at + 3)
    keys = rows_of(k + entry * skb, j, j < m, d, skm, skd, D)
    values = rows_of(v + entry * svb, j, j < m, dv, svm, svd, DV)
    seed_value = entry
    if DROP:
        seed_value = tl.load(seed)
    if LONG:
        acc_k = tl.zeros([BN, D], tl.float64)
        acc_v = tl.zeros([BN, DV], tl.float64)
    else:
        acc_k = tl.zeros([BN, D], tl.float32)
        acc_v = tl.zeros([BN, DV], tl.float32)
    for block in range(whole, broken):
        acc_k, acc_v = keys_tile(
            acc_k, acc_v, keys, values, q + entry * sqb, dout + entry * n * dv, norms + entry * n,
            mean + entry * n, table + (entry % tables) * (n + m - 1), lo + of_mask * n,
            hi + of_mask * n, dense + (entry // per_dense) * sdb, seed_value, entry, block, j, n, m,
            d, dv, sqn, sqd, sdn, sdm, scale, least, keep_scale, BM, D, DV, EVEN, False, SPANS,
            NOT_SELF, DENSE, TABLE, DROP, WIDE, LONG, NEGATIVE, PRECISION, CAREFUL,
        )  # fmt: skip
    for t in range((whole - begin) + (end - broken)):
        block = tl.where(begin + t < whole, begin + t, broken + t - (whole - begin))
        acc_k, acc_v = keys_tile(
            acc_k, acc_v, keys, values, q + entry * sqb, dout + entry * n * dv, norms + entry * n,
            mean + entry * n, table + (entry % tables) * (n + m - 1), lo + of_mask * n,
            hi + of_mask * n, dense + (entry // per_dense) * sdb, seed_value, entry, block, j, n, m,
            d, dv, sqn, sqd, sdn, sdm, scale, least, keep_scale, BM, D, DV, EVEN, True, SPANS,
            NOT_SELF, DENSE, TABLE, DROP, WIDE, LONG, NEGATIVE, PRECISION, CAREFUL,
        )  # fmt: skip
    there = (j < m)[:, None]
    c = tl.arange(0, D)
    at = dk + (entry * m + j)[:, None] * d + c[None, :]
    tl.store(at, (acc_k * factor).to(dk.dtype.element_ty), mask=there & (c < d)[None, :])
    c = tl.arange(0, DV)
    at = dv_out + (entry * m + j)[:, None] * dv + c[None, :]
    tl.store(at, acc_v.to(dv_out.dtype.element_ty), mask=there & (c < dv)[None, :])
    if not CAREFUL:
        wrong = tl.max(tl.max((acc_k - acc_k != 0.0).to(tl.int32), 1), 0)
        wrong = tl.maximum(wrong, tl.max(tl.max((acc_v - acc_v != 0.0).to(tl.int32), 1), 0))
        tl.store(notes + tl.program_id(0), wrong)

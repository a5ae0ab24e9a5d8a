"""The additive score's own arithmetic: w tanh(q + k) without a tanh, forward and backward.

``substitution`` has turned q and k into what can be computed once a token and says in ``kind`` into
what: exponentials (2), hyperbolic tangents (1), or nothing (0). See ``attention/README.md``.
"""

from __future__ import annotations

import triton
import triton.language as tl

from regard.attention.triton.elementary import reciprocal, tanh, tanh_slope
from regard.attention.triton.visible import spans

__all__ = ["added", "additive_tile", "of_keys", "of_rows", "pull_keys", "pull_rows", "pulled"]

FEW = tl.constexpr(16)  # features whose sum float32 may hold


@triton.jit
def of_rows(x, KEYS_FIRST: tl.constexpr):
    """A number for each query, beside a tile."""
    return x[None, :] if KEYS_FIRST else x[:, None]


@triton.jit
def of_keys(x, KEYS_FIRST: tl.constexpr):
    """A number for each key, beside a tile."""
    return x[:, None] if KEYS_FIRST else x[None, :]


@triton.jit
def added(total, rest, part):
    """total + rest + part, and what the rounding of it took away: a long sum in two float32."""
    new = total + part
    took = new - total
    return new, rest + ((total - (new - took)) + (part - took))


@triton.jit
def pair_of_fractions(na, da, nb, db):
    """na / da + nb / db with one reciprocal."""
    return (na * db + nb * da) * reciprocal(da * db)


@triton.jit
def exp_pair(at_q, at_k, p0, wide_n, wide_m, F: tl.constexpr):
    """Two features of sum w (E F - 1) / (E F + 1)."""
    xa, xb = tl.load(at_q), tl.load(at_q + wide_n)
    ya, yb = tl.load(at_k), tl.load(at_k + wide_m)
    wa, wb = tl.load(p0), tl.load(p0 + 1)
    da = of_rows(xa, F) * of_keys(ya, F) + 1.0
    db = of_rows(xb, F) * of_keys(yb, F) + 1.0
    if F:  # the weight goes to the side of which a thread has one
        na = of_rows(wa * xa, F) * of_keys(ya, F) - wa
        nb = of_rows(wb * xb, F) * of_keys(yb, F) - wb
    else:
        na = of_rows(xa, F) * of_keys(wa * ya, F) - wa
        nb = of_rows(xb, F) * of_keys(wb * yb, F) - wb
    return pair_of_fractions(na, da, nb, db)


@triton.jit
def tanh_pair(at_q, at_k, p0, wide_n, wide_m, F: tl.constexpr):
    """Two features of sum w (A + B) / (1 + A B)."""
    xa, xb = tl.load(at_q), tl.load(at_q + wide_n)
    ya, yb = tl.load(at_k), tl.load(at_k + wide_m)
    wa, wb = tl.load(p0), tl.load(p0 + 1)
    da = of_rows(xa, F) * of_keys(ya, F) + 1.0
    db = of_rows(xb, F) * of_keys(yb, F) + 1.0
    na = of_rows(wa * xa, F) + of_keys(wa * ya, F)
    nb = of_rows(wb * xb, F) + of_keys(wb * yb, F)
    return pair_of_fractions(na, da, nb, db)


@triton.jit
def additive_tile(s, at_q, at_k, p0, kind, wide_n, wide_m, h, F: tl.constexpr):
    """Sum of w tanh(q + k): see ``substitution``, which says in ``kind`` what q and k are now.

    Two fractions are added over one denominator: one reciprocal serves two features; h is even.
    A few features at a time and then these, so that roundings do not pile up.
    """
    if kind == 2:  # exp(2 q), exp(2 k): (E F - 1) / (E F + 1)
        for f0 in range(0, h, FEW):
            part = tl.zeros_like(s)
            for f in range(f0, tl.minimum(f0 + FEW, h), 2):
                part += exp_pair(at_q, at_k, p0 + f, wide_n, wide_m, F)
                at_q += 2 * wide_n
                at_k += 2 * wide_m
            s += part
    elif kind == 1:  # tanh q, tanh k: (A + B) / (1 + A B)
        for f0 in range(0, h, FEW):
            part = tl.zeros_like(s)
            for f in range(f0, tl.minimum(f0 + FEW, h), 2):
                part += tanh_pair(at_q, at_k, p0 + f, wide_n, wide_m, F)
                at_q += 2 * wide_n
                at_k += 2 * wide_m
            s += part
    else:  # q and k as they are
        for f in range(h):
            x, y = of_rows(tl.load(at_q), F), of_keys(tl.load(at_k), F)
            s += tl.load(p0 + f) * tanh(x + y)
            at_q += wide_n
            at_k += wide_m
    return s


@triton.jit
def inverse(x, FINE: tl.constexpr):
    """1 / x; FINE: to half a unit in the last place, for two instructions more."""
    found = reciprocal(x)
    if FINE:
        found += found * (1.0 - x * found)
    return found


@triton.jit
def slopes_and_values(xa, ya, xb, yb, kind, FINE: tl.constexpr):
    """For two features tanh'(x + y), but for what depends on x alone (``own``), and tanh(x + y),
    for kind 2 times -1/2; x is the side that is kept, y the one that is summed over."""
    if kind == 2:
        ea, eb = xa * ya, xb * yb
        da, db = ea + 1.0, eb + 1.0
        both = inverse(da * db, FINE)
        ra, rb = db * both, da * both
        slope_a, slope_b = (ea * ra) * ra, (eb * rb) * rb  # not r - r^2, which cancels
        value_a, value_b = ra - 0.5, rb - 0.5
    elif kind == 1:
        da, db = xa * ya + 1.0, xb * yb + 1.0
        both = inverse(da * db, FINE)
        ra, rb = db * both, da * both
        slope_a, slope_b = (ra * (1.0 - ya * ya)) * ra, (rb * (1.0 - yb * yb)) * rb
        value_a, value_b = (xa + ya) * ra, (xb + yb) * rb
    else:
        slope_a, slope_b = tanh_slope(xa + ya), tanh_slope(xb + yb)
        value_a, value_b = tanh(xa + ya), tanh(xb + yb)
    return slope_a, slope_b, value_a, value_b


@triton.jit
def pulled(ds, slope):
    """A pair whose ds is 0 sends nothing, whatever the slope of phi is."""
    return tl.where(ds != 0.0, ds * slope, 0.0)


@triton.jit
def finished(total, rest, factor, ROWS: tl.constexpr, BH: tl.constexpr):
    """A slope's sum times what depends on its own side alone; nothing stays nothing."""
    found = total + rest
    return tl.where(found == 0.0, 0.0, found * tl.reshape(factor, [ROWS, BH]))


@triton.jit
def own(x, w, kind):
    """What a slope's sum is multiplied by in the end."""
    if kind == 2:
        factor = x * 0.0 + 4.0 * w
    elif kind == 1:
        factor = (1.0 - x * x) * w
    else:
        factor = x * 0.0 + w
    return factor


@triton.jit
def pull_rows(
    q, k, p0, kind, lo, hi, slopes, dq, sums, n, m, h, per_mask, heads, e_first, i_first, i_count,
    j_first, j_count, entries, splits,
    SPANS: tl.constexpr, FINE: tl.constexpr, BI: tl.constexpr, BJ: tl.constexpr,
    BH: tl.constexpr,
):  # fmt: skip
    """dq[split, entry, i, f] = sum over some of the panel's keys of ds * dphi/dq; w's likewise.

    q and k here are [B, n, h] and [B, m, h]. A tile is [BI, BJ, BH] twice, features across threads:
    a thread has a feature and the one BH further, and one reciprocal serves both.
    """
    blocks = tl.cdiv(i_count, BI)
    wide = tl.cdiv(h, 2 * BH)
    f = (tl.program_id(0) % wide) * 2 * BH + tl.arange(0, BH)
    split = (tl.program_id(0) // wide % splits).to(tl.int64)
    block = tl.program_id(0) // wide // splits % blocks
    local = (tl.program_id(0) // wide // splits // blocks).to(tl.int64)
    entry = e_first + local
    r = block * BI + tl.arange(0, BI)
    here_a, here_b = f < h, f + BH < h
    there_a = (r < i_count)[:, None] & here_a[None, :]
    there_b = (r < i_count)[:, None] & here_b[None, :]
    at = (entry * n + i_first + r)[:, None] * h + f[None, :]
    xa = tl.load(q + at, mask=there_a, other=0.0)[:, None, :]
    xb = tl.load(q + at + BH, mask=there_b, other=0.0)[:, None, :]
    wa = tl.load(p0 + (entry % heads) * h + f, mask=here_a, other=0.0)
    wb = tl.load(p0 + (entry % heads) * h + f + BH, mask=here_b, other=0.0)
    the_kind = tl.load(kind + entry)
    nothing = tl.zeros([BI, BH], tl.float32)
    acc_a, rest_a, acc_b, rest_b = nothing, nothing, nothing, nothing
    sum_a, more_a, sum_b, more_b = nothing, nothing, nothing, nothing
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
        at_k = k + (entry * m + j_first + c)[:, None] * h + f[None, :]
        keys = (c < j_count)[:, None]
        ya = tl.load(at_k, mask=keys & here_a[None, :], other=0.0)[None, :, :]
        yb = tl.load(at_k + BH, mask=keys & here_b[None, :], other=0.0)[None, :, :]
        sa, sb, va, vb = slopes_and_values(xa, ya, xb, yb, the_kind, FINE)
        acc_a, rest_a = added(acc_a, rest_a, tl.sum(pulled(ds, sa), 1))
        acc_b, rest_b = added(acc_b, rest_b, tl.sum(pulled(ds, sb), 1))
        sum_a, more_a = added(sum_a, more_a, tl.sum(pulled(ds, va), 1))
        sum_b, more_b = added(sum_b, more_b, tl.sum(pulled(ds, vb), 1))
    acc_a = finished(acc_a, rest_a, own(xa, wa[None, None, :], the_kind), BI, BH)
    acc_b = finished(acc_b, rest_b, own(xb, wb[None, None, :], the_kind), BI, BH)
    at_out = dq + ((split * entries + local) * i_count + r)[:, None] * h + f[None, :]
    tl.store(at_out, acc_a, mask=there_a)
    tl.store(at_out + BH, acc_b, mask=there_b)
    factor = tl.where(the_kind == 2, -2.0, 1.0)
    at_sum = sums + ((split * entries + local) * blocks + block) * h + f
    tl.store(
        at_sum,
        (tl.sum(sum_a.to(tl.float64), 0) + tl.sum(more_a.to(tl.float64), 0)) * factor,
        mask=here_a,
    )
    tl.store(
        at_sum + BH,
        (tl.sum(sum_b.to(tl.float64), 0) + tl.sum(more_b.to(tl.float64), 0)) * factor,
        mask=here_b,
    )


@triton.jit
def pull_keys(
    q, k, p0, kind, lo, hi, slopes, dk, n, m, h, per_mask, heads, e_first, i_first, i_count,
    j_first, j_count, SPANS: tl.constexpr, FINE: tl.constexpr, BI: tl.constexpr, BJ: tl.constexpr,
    BH: tl.constexpr,
):  # fmt: skip
    """dk[j, f] += sum over the panel's rows of ds * dphi/dk, in float64 across panels."""
    blocks = tl.cdiv(j_count, BJ)
    wide = tl.cdiv(h, 2 * BH)
    local = (tl.program_id(0) // (blocks * wide)).to(tl.int64)
    entry = e_first + local
    rest = tl.program_id(0) % (blocks * wide)
    c = (rest // wide) * BJ + tl.arange(0, BJ)
    f = (rest % wide) * 2 * BH + tl.arange(0, BH)
    here_a, here_b = f < h, f + BH < h
    there_a = (c < j_count)[:, None] & here_a[None, :]
    there_b = (c < j_count)[:, None] & here_b[None, :]
    at = (entry * m + j_first + c)[:, None] * h + f[None, :]
    ya = tl.load(k + at, mask=there_a, other=0.0)[None, :, :]
    yb = tl.load(k + at + BH, mask=there_b, other=0.0)[None, :, :]
    wa = tl.load(p0 + (entry % heads) * h + f, mask=here_a, other=0.0)
    wb = tl.load(p0 + (entry % heads) * h + f + BH, mask=here_b, other=0.0)
    the_kind = tl.load(kind + entry)
    nothing = tl.zeros([BJ, BH], tl.float32)
    acc_a, rest_a, acc_b, rest_b = nothing, nothing, nothing, nothing
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
            at_q = q + (entry * n + i_first + r)[:, None] * h + f[None, :]
            rows = (r < i_count)[:, None]
            xa = tl.load(at_q, mask=rows & here_a[None, :], other=0.0)[:, None, :]
            xb = tl.load(at_q + BH, mask=rows & here_b[None, :], other=0.0)[:, None, :]
            sa, sb, _, _ = slopes_and_values(ya, xa, yb, xb, the_kind, FINE)
            acc_a, rest_a = added(acc_a, rest_a, tl.sum(pulled(ds, sa), 0))
            acc_b, rest_b = added(acc_b, rest_b, tl.sum(pulled(ds, sb), 0))
    acc_a = finished(acc_a, rest_a, own(ya, wa[None, None, :], the_kind), BJ, BH)
    acc_b = finished(acc_b, rest_b, own(yb, wb[None, None, :], the_kind), BJ, BH)
    tl.store(dk + at, tl.load(dk + at, mask=there_a, other=0.0) + acc_a, mask=there_a)
    tl.store(dk + at + BH, tl.load(dk + at + BH, mask=there_b, other=0.0) + acc_b, mask=there_b)

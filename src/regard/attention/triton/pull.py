"""Slopes of the additive score, sent to the queries, the keys and w in one pass over the pairs.

A block of threads has ROWS queries and KEYS keys of a panel, a feature a thread, and goes through
them a few at a time. Sums over keys, and those for w, stay in registers. Sums over queries are
added to memory that nobody else writes to, in float64, a part for each block of queries; who calls
adds up the parts.

Two queries share a reciprocal: 1 / a = b / (a b). A pair then takes eleven instructions a feature
where exponentials stand for q and k (kind 2), which is two fifths of a pass for each side.
"""

from __future__ import annotations

import triton
import triton.language as tl

from regard.attention.triton.elementary import added, reciprocal, tanh, tanh_slope
from regard.attention.triton.visible import spans

__all__ = ["pull"]

EXACT = tl.constexpr(3)  # a kind of our own: q and k as they are, in float64


@triton.jit
def sent(ds, slope):
    """A pair whose ds is 0 sends nothing, whatever the slope is."""
    return tl.where(ds != 0.0, ds * slope, 0.0)


@triton.jit
def exact(z):
    """tanh and its slope in float64, and from there in float32."""
    t = tl.exp(-2.0 * tl.abs(z))
    near = (1.0 - t) / (1.0 + t)
    slope = 4.0 * t / ((1.0 + t) * (1.0 + t))
    return tl.where(z < 0.0, -near, near).to(tl.float32), slope.to(tl.float32)


@triton.jit
def inverse(x, FINE: tl.constexpr):
    """1 / x; FINE: to half a unit in the last place, for two instructions more."""
    found = reciprocal(x)
    if FINE:
        found += found * (1.0 - x * found)
    return found


@triton.jit
def inverses(a, b, FINE: tl.constexpr):
    """1 / a and 1 / b by one reciprocal; FINE of 2: by two, without the rounding of a product."""
    if FINE == 2:
        return inverse(a, True), inverse(b, True)
    else:
        both = inverse(a * b, FINE > 0)
        return b * both, a * both


@triton.jit
def slopes(xa, xb, y, dsa, dsb, KIND: tl.constexpr, FINE: tl.constexpr):
    """ds * tanh'(x + y), for kind 2 a quarter of it, and ds * tanh(x + y), for kind 2 of
    1 / (1 + exp(2 (x + y))), for two tiles of queries.

    With kind 2 rows are finite whoever sees them, so no pair has to be told from hidden ones.
    """
    if KIND == 2:
        ea, eb = xa * y, xb * y
        da, db = ea + 1.0, eb + 1.0
        ra, rb = inverses(da, db, FINE)
        va, vb = dsa * ra, dsb * rb
        sa, sb = va * (ea * ra), vb * (eb * rb)  # not r - r^2, which cancels
    elif KIND == 1:
        da, db = xa * y + 1.0, xb * y + 1.0
        ra, rb = inverses(da, db, FINE)
        va, vb = sent(dsa, (xa + y) * ra), sent(dsb, (xb + y) * rb)
        rest = 1.0 - y * y
        sa, sb = sent(dsa, (ra * rest) * ra), sent(dsb, (rb * rest) * rb)
        sa, sb = sa * (1.0 - xa * xa), sb * (1.0 - xb * xb)
    elif KIND == EXACT:
        ta, ra = exact(xa.to(tl.float64) + y.to(tl.float64))
        tb, rb = exact(xb.to(tl.float64) + y.to(tl.float64))
        va, vb = sent(dsa, ta), sent(dsb, tb)
        sa, sb = sent(dsa, ra), sent(dsb, rb)
    else:
        va, vb = sent(dsa, tanh(xa + y)), sent(dsb, tanh(xb + y))
        sa, sb = sent(dsa, tanh_slope(xa + y)), sent(dsb, tanh_slope(xb + y))
    return sa, sb, va, vb


@triton.jit
def finished(total, factor):
    """Nothing stays nothing."""
    return tl.where(total == 0.0, 0.0, total * factor)


@triton.jit
def block(
    at_q, at_k, at_ds, at_dq, at_dk, at_sums, w, rows, keys, stride,
    KIND: tl.constexpr, FINE: tl.constexpr, EVEN: tl.constexpr, H: tl.constexpr,
    BI: tl.constexpr, BJ: tl.constexpr, BH: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr,
    GROUP: tl.constexpr,
):  # fmt: skip
    """All pairs of a block: so many ``rows`` and ``keys``, EVEN: as many as fit."""
    factor = 4.0 * w if KIND == 2 else w
    i, j = tl.arange(0, BI), tl.arange(0, BJ)
    nothing = tl.zeros([BI, BH], tl.float32)
    sum_w, more_w = tl.zeros([BH], tl.float32), tl.zeros([BH], tl.float32)
    at_ds += i[:, None] * stride + j[None, :]
    at_k += j[:, None] * H
    at_dk += j[:, None] * H
    for r0 in range(0, ROWS if EVEN else rows, 2 * BI):
        at_x = r0 * H + i[:, None] * H
        here_a, here_b = (r0 + i < rows)[:, None], (r0 + BI + i < rows)[:, None]
        if EVEN:
            xa, xb = tl.load(at_q + at_x), tl.load(at_q + at_x + BI * H)
        else:
            xa = tl.load(at_q + at_x, mask=here_a, other=0.0)
            xb = tl.load(at_q + at_x + BI * H, mask=here_b, other=0.0)
        xa, xb = xa[:, None, :], xb[:, None, :]
        acc_a, rest_a, acc_b, rest_b = nothing, nothing, nothing, nothing
        for g in range(0, KEYS if EVEN else keys, GROUP):
            part_a, part_b, part_w = nothing, nothing, tl.zeros([BH], tl.float32)
            for c in range(g, g + GROUP, BJ):
                at_a = at_ds + r0 * stride + c
                at_b = at_a + BI * stride
                there = c + j < keys
                if EVEN:
                    dsa, dsb = tl.load(at_a), tl.load(at_b)
                    y, old = tl.load(at_k + c * H), tl.load(at_dk + c * H)
                else:
                    dsa = tl.load(at_a, mask=here_a & there[None, :], other=0.0)
                    dsb = tl.load(at_b, mask=here_b & there[None, :], other=0.0)
                    y = tl.load(at_k + c * H, mask=there[:, None], other=0.0)
                    old = tl.load(at_dk + c * H, mask=there[:, None], other=0.0)
                sa, sb, va, vb = slopes(
                    xa, xb, y[None, :, :], dsa[:, :, None], dsb[:, :, None], KIND, FINE
                )
                part_a += tl.sum(sa, 1)
                part_b += tl.sum(sb, 1)
                part_w += tl.sum(tl.sum(va, 1) + tl.sum(vb, 1), 0)
                part = finished(tl.sum(sa, 0) + tl.sum(sb, 0), factor[None, :])
                new = old + part.to(tl.float64)
                if EVEN:
                    tl.store(at_dk + c * H, new)
                else:
                    tl.store(at_dk + c * H, new, mask=there[:, None])
            acc_a, rest_a = added(acc_a, rest_a, part_a)
            acc_b, rest_b = added(acc_b, rest_b, part_b)
            sum_w, more_w = added(sum_w, more_w, part_w)
        found_a = finished(acc_a + rest_a, factor[None, :])
        found_b = finished(acc_b + rest_b, factor[None, :])
        if EVEN:
            tl.store(at_dq + at_x, found_a)
            tl.store(at_dq + at_x + BI * H, found_b)
        else:
            tl.store(at_dq + at_x, found_a, mask=here_a)
            tl.store(at_dq + at_x + BI * H, found_b, mask=here_b)
        tl.debug_barrier()  # whoever wrote the sums over queries: all see them
    # tanh is 1 - 2 r; what the loss sends to the scores of a query adds up to 0, and so do the ones
    total = (sum_w.to(tl.float64) + more_w.to(tl.float64)) * (-2.0 if KIND == 2 else 1.0)
    tl.store(at_sums, total)


@triton.jit(do_not_specialize=["zero", "e_first", "i_count", "entries"])
def pull(
    q, k, p0, kind, lo, hi, ds, dq, dk, sums, n, m, h, per_mask, heads, e_first, i_first, i_count,
    j_first, j_count, entries, zero,
    SPANS: tl.constexpr, FEW: tl.constexpr, FINE: tl.constexpr, EVEN: tl.constexpr,
    H: tl.constexpr, BI: tl.constexpr, BJ: tl.constexpr, BH: tl.constexpr, ROWS: tl.constexpr,
    KEYS: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """dq[blocks of keys, entry, i, f] and sums[blocks of keys, entry, blocks of queries, f] for w
    are written, dk[blocks of queries, entry, j, f] is added to.

    q is [B, n, H], k [B, m, H], with zeros from feature h on; FEW: nothing stands for them. Zero
    is 0. If the compiler knew, it would let each thread load four features beside each other, and
    then have the threads exchange them.
    """
    wide: tl.constexpr = H // BH
    blocks_i, blocks_j = tl.cdiv(i_count, ROWS), tl.cdiv(j_count, KEYS)
    f = (tl.program_id(0) % wide) * BH + tl.arange(0, BH) + zero
    block_j = tl.program_id(0) // wide % blocks_j
    block_i = tl.program_id(0) // wide // blocks_j % blocks_i
    local = (tl.program_id(0) // wide // blocks_j // blocks_i).to(tl.int64)
    entry = e_first + local
    i0, j0 = block_i * ROWS, block_j * KEYS
    rows, keys = tl.minimum(i_count - i0, ROWS), tl.minimum(j_count - j0, KEYS)
    w = tl.load(p0 + (entry % heads) * h + f, mask=f < h, other=0.0)
    at_q = q + (entry * n + i_first + i0) * H + f[None, :]
    at_k = k + (entry * m + j_first + j0) * H + f[None, :]
    at_ds = ds + (local * i_count + i0) * j_count + j0
    at_dq = dq + ((block_j * entries + local) * i_count + i0) * H + f[None, :]
    at_dk = dk + ((block_i * entries + local) * j_count + j0) * H + f[None, :]
    at_sums = sums + ((block_j * entries + local) * blocks_i + block_i) * H + f
    seen = 1
    if SPANS:
        r = tl.arange(0, ROWS)
        of_mask = (entry // per_mask) * n
        first, last = spans(lo + of_mask, hi + of_mask, i_first + i0 + r, n, m, SPANS)
        sees = (r < rows) & (first < j_first + j0 + keys) & (last > j_first + j0) & (first < last)
        seen = tl.max(sees.to(tl.int32), 0)
    the_kind = tl.load(kind + entry)
    if seen == 0:
        i = tl.arange(0, BI)[:, None]
        for r0 in range(0, rows, BI):
            nothing = tl.zeros([BI, BH], tl.float32)
            tl.store(at_dq + (r0 + i) * H, nothing, mask=r0 + i < rows)
        tl.store(at_sums, tl.zeros([BH], tl.float64))
    elif FEW:
        block(
            at_q, at_k, at_ds, at_dq, at_dk, at_sums, w, rows, keys, j_count,
            EXACT, FINE, EVEN, H, BI, BJ, BH, ROWS, KEYS, GROUP,
        )  # fmt: skip
    elif the_kind >= 2:
        block(
            at_q, at_k, at_ds, at_dq, at_dk, at_sums, w, rows, keys, j_count,
            2, FINE, EVEN, H, BI, BJ, BH, ROWS, KEYS, GROUP,
        )  # fmt: skip
    elif the_kind == 1:
        block(
            at_q, at_k, at_ds, at_dq, at_dk, at_sums, w, rows, keys, j_count,
            1, FINE, EVEN, H, BI, BJ, BH, ROWS, KEYS, GROUP,
        )  # fmt: skip
    else:
        block(
            at_q, at_k, at_ds, at_dq, at_dk, at_sums, w, rows, keys, j_count,
            0, FINE, EVEN, H, BI, BJ, BH, ROWS, KEYS, GROUP,
        )  # fmt: skip

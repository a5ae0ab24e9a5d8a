"""The pass of ``overview`` that sees scores once, with products under way meanwhile; in Gluon.

As ``skim`` in ``regard.attention.triton.looking``, and in its place: while exponentials are made of
one tile of scores, the matrix units make the next, and some of the exponentials may be polynomials
on the ordinary units, so that fewer wait for the special ones. Keys are read once, into
registers, and handed over through shared memory by turns.
"""

from __future__ import annotations

import triton.language as tl

from regard.attention.triton import layouts as gl

__all__ = ["skim"]

LEAST_TOTAL = tl.constexpr(2.0**-80)
# 1.5 * 2^23 and the exponent of 1: added to x, the last bits are what 2^x has for an exponent
ROUND = tl.constexpr(12582912.0 + 127.0)


@gl.jit
def by_polynomial(x):
    """2^x to 3e-6, for x from -127 up; 0 below, infinity from 128 on."""
    x = tl.minimum(x, 128.0, propagate_nan=tl.PropagateNan.ALL)
    x = tl.maximum(x, -127.0, propagate_nan=tl.PropagateNan.ALL)
    whole = x + ROUND
    z = x - (whole - ROUND)
    found = z * 0.009570101877576842 + 0.05591786178211193
    found = found * z + 0.24024744841444906
    found = found * z + 0.6931218145594769
    found = found * z + 0.9999992614376455
    return found * (whole.to(tl.int32, bitcast=True) << 23).to(tl.float32, bitcast=True)


@gl.jit
def eighths(x, BM: tl.constexpr, BN: tl.constexpr):
    """x [BM, BN] as [BM, BN / 8, 8]: a thread has whole columns of it, and reduces them alone."""
    return tl.reshape(x, [BM, BN // 8, 8])


@gl.jit
def halves(x, BM: tl.constexpr, GROUPS: tl.constexpr):
    """x [BM, 2 GROUPS, 8] as two of [BM, GROUPS, 8], of which a thread has the same columns."""
    return tl.split(tl.permute(tl.reshape(x, [BM, GROUPS, 2, 8]), (0, 1, 3, 2)))


@gl.jit
def parts(x, BM: tl.constexpr, GROUPS: tl.constexpr):
    """x [BM, 4 GROUPS, 8] as four."""
    one, other = halves(x, BM, 2 * GROUPS)
    a, b = halves(one, BM, GROUPS)
    c, d = halves(other, BM, GROUPS)
    return a, b, c, d


@gl.jit
def weights(x, BM: tl.constexpr, BN: tl.constexpr, SHARE: tl.constexpr):
    """The sum of 2^x over eighths; SHARE: one in so many by polynomial, 4 or 8 or (0) none."""
    if SHARE == 0:
        return tl.sum(tl.exp2(eighths(x, BM, BN)), 1)
    elif SHARE == 4:
        a, b, c, d = parts(eighths(x, BM, BN), BM, BN // 32)
        return tl.sum((tl.exp2(a) + tl.exp2(b)) + (tl.exp2(c) + by_polynomial(d)), 1)
    else:
        one, other = halves(eighths(x, BM, BN), BM, BN // 16)
        a, b, c, d = parts(one, BM, BN // 64)
        e, f, g, h = parts(other, BM, BN // 64)
        most = (tl.exp2(a) + tl.exp2(b)) + (tl.exp2(c) + tl.exp2(d))
        return tl.sum(most + ((tl.exp2(e) + tl.exp2(f)) + (tl.exp2(g) + by_polynomial(h))), 1)


@gl.jit
def no_weights(BM: tl.constexpr, BN: tl.constexpr, SHARE: tl.constexpr, TILE: tl.constexpr):
    """Zeros that lie as those sums."""
    x = eighths(gl.full([BM, BN], 0.0, tl.float32, TILE), BM, BN)
    if SHARE == 0:
        return tl.sum(x, 1)
    elif SHARE == 4:
        a, b, c, d = parts(x, BM, BN // 32)
        return tl.sum((a + b) + (c + d), 1)
    else:
        one, other = halves(x, BM, BN // 16)
        a, b, c, d = parts(one, BM, BN // 64)
        return tl.sum((a + b) + (c + d), 1)


@gl.jit
def keys_of(
    k, tile, tiles, d, skm, skd,
    BN: tl.constexpr, D: tl.constexpr, EVEN: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    """A tile's keys, on their way to registers; behind the last, the last once more."""
    r = gl.arange(0, BN, gl.SliceLayout(1, KEYS))[:, None]
    c = gl.arange(0, D, gl.SliceLayout(0, KEYS))[None, :]
    begin = k + tl.cast(tl.minimum(tile, tiles - 1) * BN, tl.int64) * skm
    where = begin + r.to(tl.int64) * skm + c.to(tl.int64) * skd
    if EVEN:
        return tl.load(where)
    else:
        return tl.load(where, mask=c < d, other=0.0)


@gl.jit
def product(queries, where, BM: tl.constexpr, BN: tl.constexpr, TILE: tl.constexpr):
    """Scores on their way."""
    gl.fence_async_shared()
    nothing = gl.full([BM, BN], 0.0, tl.float32, TILE)
    return gl.warpgroup_mma(queries, where.permute((1, 0)), nothing, use_acc=False, is_async=True)


@gl.jit
def skim(
    q, k, norms, cells, sqb, sqn, sqd, skb, skm, skd, d, scale, first_row, count, width,
    BM: tl.constexpr, BN: tl.constexpr, EACH: tl.constexpr, D: tl.constexpr, EVEN: tl.constexpr,
    MASS: tl.constexpr, NEGATIVE: tl.constexpr, PRECISION: tl.constexpr,
    WARPS: tl.constexpr, SHARE: tl.constexpr,
):  # fmt: skip
    """As ``looking.skim``; EACH is even."""
    TILE: tl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, BN, 16])
    LEFT: tl.constexpr = gl.DotOperandLayout(0, TILE, 2)
    KEYS: tl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [WARPS, 1], [1, 0])
    SHARED: tl.constexpr = gl.NVMMASharedLayout(2 * D, 16, 2)
    ROWS: tl.constexpr = gl.SliceLayout(1, TILE)
    blocks = tl.cdiv(count, BM)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    block = tl.program_id(0) % blocks
    r = block * BM + gl.arange(0, BM, gl.SliceLayout(1, LEFT))
    c = gl.arange(0, D, gl.SliceLayout(0, LEFT))[None, :]
    where = q + entry * sqb + (first_row + r).to(tl.int64)[:, None] * sqn + c.to(tl.int64) * sqd
    queries = tl.load(where, mask=(r < count)[:, None] & (c < d), other=0.0)
    if NEGATIVE:
        queries = (-queries.to(tl.float32)).to(queries.dtype)
    keys, tiles = k + entry * skb, width * EACH
    even = gl.allocate_shared_memory(q.dtype.element_ty, [BN, D], SHARED)
    odd = gl.allocate_shared_memory(q.dtype.element_ty, [BN, D], SHARED)
    even.store(keys_of(keys, 0, tiles, d, skm, skd, BN, D, EVEN, KEYS))
    odd.store(keys_of(keys, 1, tiles, d, skm, skd, BN, D, EVEN, KEYS))
    coming = keys_of(keys, 2, tiles, d, skm, skd, BN, D, EVEN, KEYS)
    s, queries = gl.warpgroup_mma_wait(0, deps=(product(queries, even, BM, BN, TILE), queries))
    at = block * BM + gl.arange(0, BM, ROWS)
    top = tl.max(s, 1) * scale
    total = gl.full([BM], 0.0, tl.float32, ROWS)
    for cell in range(width):
        some = no_weights(BM, BN, SHARE, TILE)
        most = tl.max(eighths(gl.full([BM, BN], float("-inf"), tl.float32, TILE), BM, BN), 1)
        for half in tl.static_range(EACH // 2):
            tile = cell * EACH + 2 * half
            under_way = product(queries, odd, BM, BN, TILE)
            some += weights(s * scale - top[:, None], BM, BN, SHARE)
            if not MASS:
                most = tl.maximum(most, tl.max(eighths(s, BM, BN), 1))
            even.store(coming)
            coming = keys_of(keys, tile + 3, tiles, d, skm, skd, BN, D, EVEN, KEYS)
            s, queries = gl.warpgroup_mma_wait(0, deps=(under_way, queries))
            under_way = product(queries, even, BM, BN, TILE)
            some += weights(s * scale - top[:, None], BM, BN, SHARE)
            if not MASS:
                most = tl.maximum(most, tl.max(eighths(s, BM, BN), 1))
            odd.store(coming)
            coming = keys_of(keys, tile + 4, tiles, d, skm, skd, BN, D, EVEN, KEYS)
            s, queries = gl.warpgroup_mma_wait(0, deps=(under_way, queries))
        here = gl.convert_layout(tl.sum(some, 1), ROWS)
        total += here
        if MASS:
            here = top + tl.log2(here)
        else:
            here = gl.convert_layout(tl.max(most, 1), ROWS) * scale
        tl.store(cells + (entry * width + cell) * count + at, here, mask=at < count)
    fit = (total > LEAST_TOTAL) & (total < float("inf"))
    norm = tl.where(fit, top + tl.log2(total), float("nan"))
    tl.store(norms + entry * count + at, norm, mask=at < count)

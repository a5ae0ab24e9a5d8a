"""A dot product of half precision, forward, products under way while weights are made; in Gluon.

While a thread makes weights of one tile, the product of the weights before with their values is
under way; the other group of warps has its turn at what is left of the matrix units. For whole
tiles of contiguous rows; spans, but no other mask, no bias and no dropout.
"""

from __future__ import annotations

import triton.language as tl

from benchmarks.trials.backward import halved, rows_at, times
from benchmarks.trials.copies import commit, copy, wait
from regard.attention.triton import layouts as gl
from regard.attention.triton.visible import nth_full, nth_masked, spans, tiles

__all__ = ["forward"]

LN2 = tl.constexpr(0.6931471805599453)


@gl.jit
def nth(t, start, a, b):
    """The tile that is visited t-th: the whole ones first."""
    whole = b - a
    return tl.where(t < whole, nth_full(t, a, b, b), nth_masked(t - whole, start, a, b, b, b))


@gl.jit
def softened(s, top, total, first, last, tile, scale, BN: tl.constexpr, TILE: tl.constexpr,
             MASKED: tl.constexpr):  # fmt: skip
    """Weights that refer to the largest score so far, and what those before have to fall by."""
    if MASKED:
        j = (tile * BN + gl.arange(0, BN, gl.SliceLayout(0, TILE)))[None, :]
        s = tl.where((first[:, None] <= j) & (j < last[:, None]), s, float("-inf"))
    new = tl.maximum(top, tl.max(s, 1) * scale)
    unit = tl.where(new == float("-inf"), 0.0, new) if MASKED else new
    decay = tl.exp2(top - unit)
    p = tl.exp2(s * scale - unit[:, None])
    return p, new, total * decay + tl.sum(p, 1), decay


@gl.jit
def step(
    acc, p, top, total, queries, keys, values, at_k, at_v, first, last, start, a, b, t, count, here,
    scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr,
    OUT: tl.constexpr, KEPT: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """The weights of the t-th tile; those of the one before meet their values meanwhile."""
    wait(0)
    gl.fence_async_shared()
    s = times(queries, keys.index(t % 2).permute((1, 0)), BM, BN, TILE)
    acc = gl.warpgroup_mma(p, values.index((t - 1) % 2), acc, is_async=True)
    s = gl.warpgroup_mma_wait(1, deps=(s,))
    tl.debug_barrier()  # for all warps
    after = nth(tl.minimum(t + 1, count - 1), start, a, b)
    copy(keys.index((t + 1) % 2), rows_at(at_k, after, here, BN, D, KEPT))
    tile = nth(t, start, a, b)
    copy(values.index(t % 2), rows_at(at_v, tile, here, BN, D, KEPT))
    commit()
    weights, top, total, decay = softened(s, top, total, first, last, tile, scale, BN, TILE, MASKED)
    acc, p = gl.warpgroup_mma_wait(0, deps=(acc, p))
    acc *= gl.convert_layout(decay, gl.SliceLayout(1, OUT))[:, None]
    return acc, halved(weights, at_k, OUT), top, total


@gl.jit
def forward(
    q, k, v, lo, hi, out, lse, n, m, scale, per_mask,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, WARPS: tl.constexpr, SPANS: tl.constexpr,
):  # fmt: skip
    """The output and the normalisers, in base e and float64; entries lie one behind the other."""
    TILE: tl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, BN, 16])
    OUT: tl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, D, 16])
    KEPT: tl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [WARPS, 1], [1, 0])
    SHARED: tl.constexpr = gl.NVMMASharedLayout(128, 16, 2)
    blocks, here = tl.cdiv(n, BM), tl.cdiv(m, BN)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    block = blocks - 1 - tl.program_id(0) % blocks  # under a causal mask the long ones first
    rows = block * BM + gl.arange(0, BM, gl.SliceLayout(1, TILE))
    of_mask = (entry // per_mask) * n
    first, last = spans(lo + of_mask, hi + of_mask, rows, n, m, SPANS)
    start, stop, a, b, d0, d1 = tiles(first, last, rows, block * BM, n, m, BM, BN, False, False)
    count = stop - start
    top = gl.full([BM], float("-inf"), tl.float32, gl.SliceLayout(1, TILE))
    total = gl.full([BM], 0.0, tl.float32, gl.SliceLayout(1, TILE))
    acc = gl.full([BM, D], 0.0, tl.float32, OUT)
    if count > 0:
        at_k, at_v = k + entry * m * D, v + entry * m * D
        queries = gl.allocate_shared_memory(q.dtype.element_ty, [BM, D], SHARED)
        keys = gl.allocate_shared_memory(q.dtype.element_ty, [2, BN, D], SHARED)
        values = gl.allocate_shared_memory(q.dtype.element_ty, [2, BN, D], SHARED)
        tile = nth(0, start, a, b)
        copy(queries, rows_at(q + entry * n * D, block, blocks, BM, D, KEPT))
        copy(keys.index(0), rows_at(at_k, tile, here, BN, D, KEPT))
        commit()
        second = nth(tl.minimum(1, count - 1), start, a, b)
        copy(keys.index(1), rows_at(at_k, second, here, BN, D, KEPT))
        copy(values.index(0), rows_at(at_v, tile, here, BN, D, KEPT))
        commit()
        wait(1)
        gl.fence_async_shared()
        s = times(queries, keys.index(0).permute((1, 0)), BM, BN, TILE)
        s = gl.warpgroup_mma_wait(0, deps=(s,))
        weights, top, total, decay = softened(
            s, top, total, first, last, tile, scale, BN, TILE, SPANS
        )
        p = halved(weights, q, OUT)
        for t in range(1, b - a):
            acc, p, top, total = step(
                acc, p, top, total, queries, keys, values, at_k, at_v, first, last, start, a, b, t,
                count, here, scale, BM, BN, D, TILE, OUT, KEPT, False,
            )  # fmt: skip
        if SPANS:
            for t in range(tl.maximum(b - a, 1), count):
                acc, p, top, total = step(
                    acc, p, top, total, queries, keys, values, at_k, at_v, first, last, start, a, b,
                    t, count, here, scale, BM, BN, D, TILE, OUT, KEPT, True,
                )  # fmt: skip
        wait(0)
        gl.fence_async_shared()
        acc = gl.warpgroup_mma(p, values.index((count - 1) % 2), acc, is_async=True)
        acc, p = gl.warpgroup_mma_wait(0, deps=(acc, p))
    nothing = total == 0.0
    total = tl.where(nothing, 1.0, total)
    norm = top.to(tl.float64) * LN2 + tl.log(total.to(tl.float64))
    tl.store(lse + entry * n + rows, tl.where(nothing, float("-inf"), norm))
    acc /= gl.convert_layout(total, gl.SliceLayout(1, OUT))[:, None]
    at = block * BM + gl.arange(0, BM, gl.SliceLayout(1, OUT))[:, None]
    where = out + (entry * n + at) * D + gl.arange(0, D, gl.SliceLayout(0, OUT))[None, :]
    tl.store(where, acc.to(out.dtype.element_ty))

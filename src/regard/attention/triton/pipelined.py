"""The dot product in half precision on Hopper's matrix units, products under way meanwhile.

As ``matrix``'s kernels, in Gluon: weights stay in registers, where products take them from; while
a thread makes those of one tile, the products of another are under way, and the rows of the tiles
after it on their way to shared memory. Three or four blocks of threads share a multiprocessor, and
what one waits for another computes.

For contiguous rows of D features and D values, with spans, and nothing else that hides keys or adds
to scores. What is not finite is noted, and ``matrix`` does it again with care, in tiles of the same
size: its roundings are these, or garbage in a hidden key could be told by a bit.
"""

from __future__ import annotations

import triton.language as tl

from regard.attention.triton import layouts as gl
from regard.attention.triton.visible import nth_full, nth_masked, spans, tiles

__all__ = ["forward", "to_keys", "to_queries"]

LENGTHS = ["n", "m"]  # one kernel for all of them: see ``matrix``
LN2 = tl.constexpr(0.6931471805599453)


@gl.jit
def rows_at(
    x, tile, count, ROWS: tl.constexpr, D: tl.constexpr, LAYOUT: tl.constexpr, EVEN: tl.constexpr
):
    """Where the rows of a tile are; behind the last, the last once more. EVEN: tiles are whole."""
    r = tile * ROWS + gl.arange(0, ROWS, gl.SliceLayout(1, LAYOUT))
    if not EVEN:
        r = tl.minimum(r, count - 1)
    c = gl.arange(0, D, gl.SliceLayout(0, LAYOUT))
    return x + (r.to(tl.int64) * D)[:, None] + c[None, :]


@gl.jit
def numbers_at(x, tile, count, ROWS: tl.constexpr, LINE: tl.constexpr, EVEN: tl.constexpr):
    """The same for what a row has one of."""
    r = tile * ROWS + gl.arange(0, ROWS, LINE)
    if not EVEN:
        r = tl.minimum(r, count - 1)
    return x + r


@gl.jit
def times(a, b, ROWS: tl.constexpr, COLUMNS: tl.constexpr, TILE: tl.constexpr):
    """A product on its way."""
    nothing = gl.full([ROWS, COLUMNS], 0.0, tl.float32, TILE)
    return gl.warpgroup_mma(a, b, nothing, use_acc=False, is_async=True)


@gl.jit
def halved(x, like, OUT: tl.constexpr):
    """x as the factor of a product that lies as OUT."""
    return gl.convert_layout(x.to(like.dtype.element_ty), gl.DotOperandLayout(0, OUT, 2))


@gl.jit
def nth(t, start, a, b):
    """The tile that is visited t-th: the whole ones, from a to b, first."""
    whole = b - a
    return tl.where(t < whole, nth_full(t, a, b, b), nth_masked(t - whole, start, a, b, b, b))


@gl.jit
def softened(
    s, top, total, first, last, tile, scale,
    BN: tl.constexpr, TILE: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Weights that refer to the largest score so far, and what those before have to fall by."""
    if MASKED:
        j = (tile * BN + gl.arange(0, BN, gl.SliceLayout(0, TILE)))[None, :]
        s = tl.where((first[:, None] <= j) & (j < last[:, None]), s, float("-inf"))
    new = tl.maximum(top, tl.max(s, 1) * scale)
    if MASKED:
        unit = tl.where(new == float("-inf"), 0.0, new)  # nothing seen yet: -inf - -inf is NaN
    else:
        unit = new
    decay = tl.exp2(top - unit)
    p = tl.exp2(tl.fma(s, scale, -unit[:, None]))
    return p, new, total * decay + tl.sum(p, 1), decay


@gl.jit
def coming(
    keys, values, at_k, at_v, t, count, start, a, b, m,
    BN: tl.constexpr, D: tl.constexpr, KEPT: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    """Begin to copy the keys and the values that products take two tiles later."""
    if t + 2 < count:
        tile = nth(t + 2, start, a, b)
        gl.copy(keys.index(t % 2), rows_at(at_k, tile, m, BN, D, KEPT, EVEN))
    if t + 1 < count:
        tile = nth(t + 1, start, a, b)
        gl.copy(values.index((t + 1) % 3), rows_at(at_v, tile, m, BN, D, KEPT, EVEN))
    gl.commit()


@gl.jit
def forward_step(
    acc, p, top, total, queries, keys, values, at_k, at_v, first, last, t, count, start, a, b, m,
    scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr,
    OUT: tl.constexpr, KEPT: tl.constexpr, EVEN: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """The weights of the t-th tile; those of the one before meet their values meanwhile."""
    gl.wait(1)
    gl.fence_async_shared()
    s = times(queries, keys.index(t % 2).permute((1, 0)), BM, BN, TILE)
    acc = gl.warpgroup_mma(p, values.index((t - 1) % 3), acc, is_async=True)
    s = gl.warpgroup_mma_wait(1, deps=(s,))
    tl.debug_barrier()  # the memory of these keys is free when all warps are here
    coming(keys, values, at_k, at_v, t, count, start, a, b, m, BN, D, KEPT, EVEN)
    tile = nth(t, start, a, b)
    weights, top, total, decay = softened(s, top, total, first, last, tile, scale, BN, TILE, MASKED)
    acc, p = gl.warpgroup_mma_wait(0, deps=(acc, p))
    acc *= gl.convert_layout(decay, gl.SliceLayout(1, OUT))[:, None]
    return acc, halved(weights, at_k, OUT), top, total


@gl.jit(do_not_specialize=LENGTHS)
def forward(
    q, k, v, lo, hi, out, lse, notes, n, m, scale, per_mask,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, WARPS: tl.constexpr, SPANS: tl.constexpr,
    EVEN: tl.constexpr,
):  # fmt: skip
    """out [B, n, D] and lse [B, n] (natural, float64)."""
    TILE: tl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, BN, 16])
    OUT: tl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, D, 16])
    KEPT: tl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [WARPS, 1], [1, 0])
    SHARED: tl.constexpr = gl.NVMMASharedLayout(2 * D, 16, 2)
    blocks = tl.cdiv(n, BM)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    block = blocks - 1 - tl.program_id(0) % blocks  # under a causal mask the long ones first
    rows = block * BM + gl.arange(0, BM, gl.SliceLayout(1, TILE))
    of_mask = (entry // per_mask) * n
    first, last = spans(lo + of_mask, hi + of_mask, rows, n, m, SPANS)
    start, stop, a, b, d0, d1 = tiles(first, last, rows, block * BM, n, m, BM, BN, False, False)
    top = gl.full([BM], float("-inf"), tl.float32, gl.SliceLayout(1, TILE))
    total = gl.full([BM], 0.0, tl.float32, gl.SliceLayout(1, TILE))
    acc = gl.full([BM, D], 0.0, tl.float32, OUT)
    count = stop - start
    if count > 0:
        at_k, at_v = k + entry * m * D, v + entry * m * D
        queries = gl.allocate_shared_memory(q.dtype.element_ty, [BM, D], SHARED)
        keys = gl.allocate_shared_memory(q.dtype.element_ty, [2, BN, D], SHARED)
        values = gl.allocate_shared_memory(q.dtype.element_ty, [3, BN, D], SHARED)
        tile = nth(0, start, a, b)
        gl.copy(queries, rows_at(q + entry * n * D, block, n, BM, D, KEPT, EVEN))
        gl.copy(keys.index(0), rows_at(at_k, tile, m, BN, D, KEPT, EVEN))
        gl.commit()
        if count > 1:
            tile = nth(1, start, a, b)
            gl.copy(keys.index(1), rows_at(at_k, tile, m, BN, D, KEPT, EVEN))
        tile = nth(0, start, a, b)
        gl.copy(values.index(0), rows_at(at_v, tile, m, BN, D, KEPT, EVEN))
        gl.commit()
        gl.wait(1)
        gl.fence_async_shared()
        s = times(queries, keys.index(0).permute((1, 0)), BM, BN, TILE)
        s = gl.warpgroup_mma_wait(0, deps=(s,))
        tl.debug_barrier()
        coming(keys, values, at_k, at_v, 0, count, start, a, b, m, BN, D, KEPT, EVEN)
        weights, top, total, decay = softened(
            s, top, total, first, last, tile, scale, BN, TILE, SPANS or not EVEN
        )
        p = halved(weights, q, OUT)
        for t in range(1, b - a):
            acc, p, top, total = forward_step(
                acc, p, top, total, queries, keys, values, at_k, at_v, first, last, t, count, start,
                a, b, m, scale, BM, BN, D, TILE, OUT, KEPT, EVEN, False,
            )  # fmt: skip
        if SPANS or not EVEN:
            for t in range(tl.maximum(b - a, 1), count):
                acc, p, top, total = forward_step(
                    acc, p, top, total, queries, keys, values, at_k, at_v, first, last, t, count,
                    start, a, b, m, scale, BM, BN, D, TILE, OUT, KEPT, EVEN, True,
                )  # fmt: skip
        gl.wait(0)
        gl.fence_async_shared()
        acc = gl.warpgroup_mma(p, values.index((count - 1) % 3), acc, is_async=True)
        acc, p = gl.warpgroup_mma_wait(0, deps=(acc, p))
    nothing = total == 0.0
    total = tl.where(nothing, 1.0, total)
    norm = top.to(tl.float64) * LN2 + tl.log(total.to(tl.float64))
    tl.store(lse + entry * n + rows, tl.where(nothing, float("-inf"), norm), mask=rows < n)
    acc /= gl.convert_layout(total, gl.SliceLayout(1, OUT))[:, None]
    at = block * BM + gl.arange(0, BM, gl.SliceLayout(1, OUT))[:, None]
    where = out + (entry * n + at) * D + gl.arange(0, D, gl.SliceLayout(0, OUT))[None, :]
    tl.store(where, acc.to(out.dtype.element_ty), mask=at < n)
    wrong = tl.max(tl.max((acc - acc != 0.0).to(tl.int32), 1), 0)
    tl.store(notes + tl.program_id(0), wrong)


@gl.jit
def query_step(
    dq, slopes, queries, douts, keys, values, at_k, at_v, norm, mean, first, last, t, count, start,
    a, b, m, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr,
    OUT: tl.constexpr, KEPT: tl.constexpr, EVEN: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """The t-th tile of keys: what it adds to dq."""
    gl.wait(1)
    gl.fence_async_shared()
    s = times(queries, keys.index(t % 3).permute((1, 0)), BM, BN, TILE)
    likes = times(douts, values.index(t % 3).permute((1, 0)), BM, BN, TILE)
    s, dq, slopes = gl.warpgroup_mma_wait(1, deps=(s, dq, slopes))
    tl.debug_barrier()  # the products of the tile before are done: its memory is free
    if t + 2 < count:
        tile = nth(t + 2, start, a, b)
        gl.copy(keys.index((t + 2) % 3), rows_at(at_k, tile, m, BN, D, KEPT, EVEN))
        gl.copy(values.index((t + 2) % 3), rows_at(at_v, tile, m, BN, D, KEPT, EVEN))
    gl.commit()
    p = tl.exp2(tl.fma(s, scale, -norm[:, None]))
    if MASKED:
        j = nth(t, start, a, b) * BN + gl.arange(0, BN, gl.SliceLayout(0, TILE))
        seen = (first[:, None] <= j[None, :]) & (j[None, :] < last[:, None])
        p = tl.where(seen, p, 0.0)
    likes, p = gl.warpgroup_mma_wait(0, deps=(likes, p))
    slopes = halved(p * (likes - mean[:, None]), at_k, OUT)
    dq = gl.warpgroup_mma(slopes, keys.index(t % 3), dq, is_async=True)
    return dq, slopes


@gl.jit(do_not_specialize=LENGTHS)
def to_queries(
    q, k, v, lo, hi, dout, norms, means, dq_out, notes, n, m, scale, factor, per_mask,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, WARPS: tl.constexpr, SPANS: tl.constexpr,
    EVEN: tl.constexpr,
):  # fmt: skip
    """dq = factor * ds @ k."""
    TILE: tl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, BN, 16])
    OUT: tl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, D, 16])
    KEPT: tl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [WARPS, 1], [1, 0])
    SHARED: tl.constexpr = gl.NVMMASharedLayout(2 * D, 16, 2)
    blocks = tl.cdiv(n, BM)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    block = blocks - 1 - tl.program_id(0) % blocks
    rows = block * BM + gl.arange(0, BM, gl.SliceLayout(1, TILE))
    of_mask = (entry // per_mask) * n
    first, last = spans(lo + of_mask, hi + of_mask, rows, n, m, SPANS)
    start, stop, a, b, d0, d1 = tiles(first, last, rows, block * BM, n, m, BM, BN, False, False)
    at = block * BM + gl.arange(0, BM, gl.SliceLayout(1, OUT))[:, None]
    where = dq_out + (entry * n + at) * D + gl.arange(0, D, gl.SliceLayout(0, OUT))[None, :]
    wrong = start * 0
    count = stop - start
    if count > 0:
        at_k, at_v = k + entry * m * D, v + entry * m * D
        norm = tl.load(norms + entry * n + rows, mask=rows < n, other=float("inf"))
        mean = tl.load(means + entry * n + rows, mask=rows < n, other=0.0)
        queries = gl.allocate_shared_memory(q.dtype.element_ty, [BM, D], SHARED)
        douts = gl.allocate_shared_memory(q.dtype.element_ty, [BM, D], SHARED)
        keys = gl.allocate_shared_memory(q.dtype.element_ty, [3, BN, D], SHARED)
        values = gl.allocate_shared_memory(q.dtype.element_ty, [3, BN, D], SHARED)
        gl.copy(queries, rows_at(q + entry * n * D, block, n, BM, D, KEPT, EVEN))
        gl.copy(douts, rows_at(dout + entry * n * D, block, n, BM, D, KEPT, EVEN))
        tile = nth(0, start, a, b)
        gl.copy(keys.index(0), rows_at(at_k, tile, m, BN, D, KEPT, EVEN))
        gl.copy(values.index(0), rows_at(at_v, tile, m, BN, D, KEPT, EVEN))
        gl.commit()
        if count > 1:
            tile = nth(1, start, a, b)
            gl.copy(keys.index(1), rows_at(at_k, tile, m, BN, D, KEPT, EVEN))
            gl.copy(values.index(1), rows_at(at_v, tile, m, BN, D, KEPT, EVEN))
        gl.commit()
        gl.wait(1)
        gl.fence_async_shared()
        # a product with nothing: in the loop a sum is on its way, which one that is there is not
        slopes = halved(gl.full([BM, BN], 0.0, tl.float32, TILE), q, OUT)
        dq = times(slopes, keys.index(0), BM, D, OUT)
        for t in range(b - a):
            dq, slopes = query_step(
                dq, slopes, queries, douts, keys, values, at_k, at_v, norm, mean, first, last, t,
                count, start, a, b, m, scale, BM, BN, D, TILE, OUT, KEPT, EVEN, False,
            )  # fmt: skip
        if SPANS or not EVEN:
            for t in range(b - a, count):
                dq, slopes = query_step(
                    dq, slopes, queries, douts, keys, values, at_k, at_v, norm, mean, first, last,
                    t, count, start, a, b, m, scale, BM, BN, D, TILE, OUT, KEPT, EVEN, True,
                )  # fmt: skip
        gl.wait(0)
        dq, slopes = gl.warpgroup_mma_wait(0, deps=(dq, slopes))
        tl.store(where, (dq * factor).to(dq_out.dtype.element_ty), mask=at < n)
        wrong = tl.max(tl.max((dq - dq != 0.0).to(tl.int32), 1), 0)
    else:
        nothing = gl.full([BM, D], 0.0, tl.float32, OUT)
        tl.store(where, nothing.to(dq_out.dtype.element_ty), mask=at < n)
    tl.store(notes + tl.program_id(0), wrong)


@gl.jit
def queries_coming(
    queries, douts, norms, means, los, his, q, g, norm, mean, lo, hi, block, slot, n,
    BM: tl.constexpr, D: tl.constexpr, KEPT: tl.constexpr, LINE: tl.constexpr,
    SPANS: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    """Begin to copy a block of queries and what belongs to them."""
    gl.copy(queries.index(slot), rows_at(q, block, n, BM, D, KEPT, EVEN))
    gl.copy(douts.index(slot), rows_at(g, block, n, BM, D, KEPT, EVEN))
    gl.copy(norms.index(slot), numbers_at(norm, block, n, BM, LINE, EVEN))
    gl.copy(means.index(slot), numbers_at(mean, block, n, BM, LINE, EVEN))
    if SPANS:
        gl.copy(los.index(slot), numbers_at(lo, block, n, BM, LINE, EVEN))
        gl.copy(his.index(slot), numbers_at(hi, block, n, BM, LINE, EVEN))


@gl.jit
def key_step(
    dk, dv, p, slopes, keys, values, queries, douts, norms, means, los, his, q, g, norm, mean, lo,
    hi, j, t, count, begin, whole, broken, n, m, scale,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr, OUT: tl.constexpr,
    KEPT: tl.constexpr, LINE: tl.constexpr, SPANS: tl.constexpr, EVEN: tl.constexpr,
    MASKED: tl.constexpr,
):  # fmt: skip
    """The t-th block of queries: what it adds to dk and dv."""
    ALONG: tl.constexpr = gl.SliceLayout(0, TILE)
    gl.wait(1)
    gl.fence_async_shared()
    s = times(keys, queries.index(t % 3).permute((1, 0)), BN, BM, TILE)
    likes = times(values, douts.index(t % 3).permute((1, 0)), BN, BM, TILE)
    s, dk, dv, p, slopes = gl.warpgroup_mma_wait(1, deps=(s, dk, dv, p, slopes))
    tl.debug_barrier()  # the products of the block before are done: its memory is free
    if t + 2 < count:
        queries_coming(
            queries, douts, norms, means, los, his, q, g, norm, mean, lo, hi,
            nth(t + 2, begin, whole, broken), (t + 2) % 3, n, BM, D, KEPT, LINE, SPANS, EVEN,
        )  # fmt: skip
    gl.commit()
    weight = tl.exp2(tl.fma(s, scale, -norms.index(t % 3).load(ALONG)[None, :]))
    if MASKED:
        i = nth(t, begin, whole, broken) * BM + gl.arange(0, BM, ALONG)
        seen = (i < n)[None, :] & (j < m)[:, None]
        if SPANS:
            first, last = los.index(t % 3).load(ALONG), his.index(t % 3).load(ALONG)
            seen = seen & (first[None, :] <= j[:, None]) & (j[:, None] < last[None, :])
        weight = tl.where(seen, weight, 0.0)
    p = halved(weight, q, OUT)
    dv = gl.warpgroup_mma(p, douts.index(t % 3), dv, is_async=True)
    likes, p = gl.warpgroup_mma_wait(1, deps=(likes, p))
    slopes = halved(weight * (likes - means.index(t % 3).load(ALONG)[None, :]), q, OUT)
    dk = gl.warpgroup_mma(slopes, queries.index(t % 3), dk, is_async=True)
    return dk, dv, p, slopes


@gl.jit(do_not_specialize=LENGTHS)
def to_keys(
    q, k, v, lo, hi, dout, norms, means, found, dk_out, dv_out, notes, n, m, scale, factor,
    per_mask, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, WARPS: tl.constexpr,
    SPANS: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    """dk = factor * ds^T @ q, dv = p^T @ dout."""
    TILE: tl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, BM, 16])
    OUT: tl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, D, 16])
    KEPT: tl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [WARPS, 1], [1, 0])
    SHARED: tl.constexpr = gl.NVMMASharedLayout(2 * D, 16, 2)
    LINE: tl.constexpr = gl.BlockedLayout([1], [32], [WARPS], [0])
    ROW: tl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    here = tl.cdiv(m, BN)
    entry = (tl.program_id(0) // here).to(tl.int64)
    tile = tl.program_id(0) % here
    of_mask = entry // per_mask
    at = found + (of_mask * here + tile) * 4
    begin, end, whole, broken = tl.load(at), tl.load(at + 1), tl.load(at + 2), tl.load(at + 3)
    j = tile * BN + gl.arange(0, BN, gl.SliceLayout(1, OUT))[:, None]
    c = gl.arange(0, D, gl.SliceLayout(0, OUT))[None, :]
    where = (entry * m + j) * D + c
    wrong = tile * 0
    count = end - begin
    if count > 0:
        q, g = q + entry * n * D, dout + entry * n * D
        norm, mean = norms + entry * n, means + entry * n
        lo, hi = lo + of_mask * n, hi + of_mask * n
        keys = gl.allocate_shared_memory(q.dtype.element_ty, [BN, D], SHARED)
        values = gl.allocate_shared_memory(q.dtype.element_ty, [BN, D], SHARED)
        queries = gl.allocate_shared_memory(q.dtype.element_ty, [3, BM, D], SHARED)
        douts = gl.allocate_shared_memory(q.dtype.element_ty, [3, BM, D], SHARED)
        the_norms = gl.allocate_shared_memory(tl.float32, [3, BM], ROW)
        the_means = gl.allocate_shared_memory(tl.float32, [3, BM], ROW)
        los, his = the_norms, the_means
        if SPANS:
            los = gl.allocate_shared_memory(tl.int32, [3, BM], ROW)
            his = gl.allocate_shared_memory(tl.int32, [3, BM], ROW)
        gl.copy(keys, rows_at(k + entry * m * D, tile, m, BN, D, KEPT, EVEN))
        gl.copy(values, rows_at(v + entry * m * D, tile, m, BN, D, KEPT, EVEN))
        for t in tl.static_range(2):
            if t < count:
                queries_coming(
                    queries, douts, the_norms, the_means, los, his, q, g, norm, mean, lo, hi,
                    nth(t, begin, whole, broken), t, n, BM, D, KEPT, LINE, SPANS, EVEN,
                )  # fmt: skip
            gl.commit()
        gl.wait(1)
        gl.fence_async_shared()
        # products with nothing: in the loop a sum is on its way, which one that is there is not
        p = halved(gl.full([BN, BM], 0.0, tl.float32, TILE), q, OUT)
        slopes = halved(gl.full([BN, BM], 0.0, tl.float32, TILE), q, OUT)
        dk = times(slopes, queries.index(0), BN, D, OUT)
        dv = times(p, douts.index(0), BN, D, OUT)
        rows = tile * BN + gl.arange(0, BN, gl.SliceLayout(1, TILE))
        for t in range(broken - whole):
            dk, dv, p, slopes = key_step(
                dk, dv, p, slopes, keys, values, queries, douts, the_norms, the_means, los, his, q,
                g, norm, mean, lo, hi, rows, t, count, begin, whole, broken, n, m, scale, BM, BN, D,
                TILE, OUT, KEPT, LINE, SPANS, EVEN, False,
            )  # fmt: skip
        if SPANS or not EVEN:
            for t in range(broken - whole, end - begin):
                dk, dv, p, slopes = key_step(
                    dk, dv, p, slopes, keys, values, queries, douts, the_norms, the_means, los, his,
                    q, g, norm, mean, lo, hi, rows, t, count, begin, whole, broken, n, m, scale, BM,
                    BN, D, TILE, OUT, KEPT, LINE, SPANS, EVEN, True,
                )  # fmt: skip
        gl.wait(0)
        dk, dv, p, slopes = gl.warpgroup_mma_wait(0, deps=(dk, dv, p, slopes))
        tl.store(dk_out + where, (dk * factor).to(dk_out.dtype.element_ty), mask=j < m)
        tl.store(dv_out + where, dv.to(dv_out.dtype.element_ty), mask=j < m)
        wrong = tl.max(tl.max((dk - dk != 0.0).to(tl.int32), 1), 0)
        wrong = tl.maximum(wrong, tl.max(tl.max((dv - dv != 0.0).to(tl.int32), 1), 0))
    else:
        nothing = gl.full([BN, D], 0.0, tl.float32, OUT).to(dk_out.dtype.element_ty)
        tl.store(dk_out + where, nothing, mask=j < m)
        tl.store(dv_out + where, nothing, mask=j < m)
    tl.store(notes + tl.program_id(0), wrong)

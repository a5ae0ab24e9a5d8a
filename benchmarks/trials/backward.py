"""The gradients of a plain dot product in half precision, in two passes as ``matrix``'s; in Gluon.

Weights and slopes stay in registers, where products take them from, and while a thread works on
one of them, the products of another are under way. For whole tiles of contiguous rows, without a
mask or a bias.
"""

from __future__ import annotations

import triton.language as tl

from benchmarks.trials.copies import commit, copy, wait
from regard.attention.triton import layouts as gl

__all__ = ["to_keys", "to_queries"]


@gl.jit
def rows_at(x, tile, tiles, ROWS: tl.constexpr, D: tl.constexpr, LAYOUT: tl.constexpr):
    """Where a tile of rows is; behind the last, the last once more."""
    r = gl.arange(0, ROWS, gl.SliceLayout(1, LAYOUT))[:, None]
    c = gl.arange(0, D, gl.SliceLayout(0, LAYOUT))[None, :]
    return x + tl.cast(tl.minimum(tile, tiles - 1) * ROWS, tl.int64) * D + (r * D + c)


@gl.jit
def times(a, b, ROWS: tl.constexpr, COLUMNS: tl.constexpr, TILE: tl.constexpr):
    """A product on its way."""
    nothing = gl.full([ROWS, COLUMNS], 0.0, tl.float32, TILE)
    return gl.warpgroup_mma(a, b, nothing, use_acc=False, is_async=True)


@gl.jit
def halved(x, like, OUT: tl.constexpr):
    """x as a product with a sum that lies as OUT takes it."""
    return gl.convert_layout(x.to(like.dtype.element_ty), gl.DotOperandLayout(0, OUT, 2))


@gl.jit
def key_step(
    dk, dv, p, slopes, keys, values, q_here, g_here, q_next, g_next, q, g, norms, means, block,
    blocks, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr,
    OUT: tl.constexpr, KEPT: tl.constexpr,
):  # fmt: skip
    """One tile of queries: what it adds to dk and dv; the next comes meanwhile."""
    i = block * BM + gl.arange(0, BM, gl.SliceLayout(0, TILE))
    wait(0)
    gl.fence_async_shared()
    s = times(keys, q_here.permute((1, 0)), BN, BM, TILE)
    likes = times(values, g_here.permute((1, 0)), BN, BM, TILE)
    norm, mean = tl.load(norms + i)[None, :], tl.load(means + i)[None, :]
    # what is older is done, too: the products of the tile before, and with them its memory is free
    s, dk, dv, p, slopes = gl.warpgroup_mma_wait(1, deps=(s, dk, dv, p, slopes))
    tl.debug_barrier()  # for all warps
    copy(q_next, rows_at(q, block + 1, blocks, BM, D, KEPT))
    copy(g_next, rows_at(g, block + 1, blocks, BM, D, KEPT))
    commit()
    weight = tl.exp2(s * scale - norm)
    p = halved(weight, q, OUT)
    dv = gl.warpgroup_mma(p, g_here, dv, is_async=True)
    (likes, p) = gl.warpgroup_mma_wait(1, deps=(likes, p))
    slopes = halved(weight * (likes - mean), q, OUT)
    dk = gl.warpgroup_mma(slopes, q_here, dk, is_async=True)
    return dk, dv, p, slopes


@gl.jit
def to_keys(
    q, k, v, g, norms, means, dk_out, dv_out, n, m, scale, factor,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, WARPS: tl.constexpr,
):  # fmt: skip
    """dk = factor * ds^T @ q, dv = p^T @ g; entries lie one behind the other."""
    TILE: tl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, BM, 16])
    OUT: tl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, D, 16])
    KEPT: tl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [WARPS, 1], [1, 0])
    SHARED: tl.constexpr = gl.NVMMASharedLayout(128, 16, 2)
    here, blocks = tl.cdiv(m, BN), tl.cdiv(n, BM)
    entry = (tl.program_id(0) // here).to(tl.int64)
    tile = tl.program_id(0) % here
    q, g = q + entry * n * D, g + entry * n * D
    norms, means = norms + entry * n, means + entry * n
    keys = gl.allocate_shared_memory(q.dtype.element_ty, [BN, D], SHARED)
    values = gl.allocate_shared_memory(q.dtype.element_ty, [BN, D], SHARED)
    q_even = gl.allocate_shared_memory(q.dtype.element_ty, [BM, D], SHARED)
    g_even = gl.allocate_shared_memory(q.dtype.element_ty, [BM, D], SHARED)
    q_odd = gl.allocate_shared_memory(q.dtype.element_ty, [BM, D], SHARED)
    g_odd = gl.allocate_shared_memory(q.dtype.element_ty, [BM, D], SHARED)
    copy(keys, rows_at(k + entry * m * D, tile, here, BN, D, KEPT))
    copy(values, rows_at(v + entry * m * D, tile, here, BN, D, KEPT))
    copy(q_even, rows_at(q, 0, blocks, BM, D, KEPT))
    copy(g_even, rows_at(g, 0, blocks, BM, D, KEPT))
    commit()
    wait(0)
    gl.fence_async_shared()
    # products with nothing, because a sum on its way is another thing than one that is there
    p = halved(gl.full([BN, BM], 0.0, tl.float32, TILE), q, OUT)
    slopes = halved(gl.full([BN, BM], 0.0, tl.float32, TILE), q, OUT)
    dk = times(slopes, q_even, BN, D, OUT)
    dv = times(p, g_even, BN, D, OUT)
    for block in range(0, blocks, 2):
        dk, dv, p, slopes = key_step(
            dk, dv, p, slopes, keys, values, q_even, g_even, q_odd, g_odd, q, g, norms, means,
            block, blocks, scale, BM, BN, D, TILE, OUT, KEPT,
        )  # fmt: skip
        dk, dv, p, slopes = key_step(
            dk, dv, p, slopes, keys, values, q_odd, g_odd, q_even, g_even, q, g, norms, means,
            block + 1, blocks, scale, BM, BN, D, TILE, OUT, KEPT,
        )  # fmt: skip
    wait(0)
    dk, dv, p, slopes = gl.warpgroup_mma_wait(0, deps=(dk, dv, p, slopes))
    j = tile * BN + gl.arange(0, BN, gl.SliceLayout(1, OUT))[:, None]
    at = (entry * m + j) * D + gl.arange(0, D, gl.SliceLayout(0, OUT))[None, :]
    tl.store(dk_out + at, (dk * factor).to(dk_out.dtype.element_ty))
    tl.store(dv_out + at, dv.to(dv_out.dtype.element_ty))


@gl.jit
def query_step(
    dq, slopes, queries, douts, k_here, v_here, k_next, v_next, k, v, norm, mean, tile, tiles,
    scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr,
    OUT: tl.constexpr, KEPT: tl.constexpr,
):  # fmt: skip
    """One tile of keys: what it adds to dq; the next comes meanwhile."""
    wait(0)
    gl.fence_async_shared()
    s = times(queries, k_here.permute((1, 0)), BM, BN, TILE)
    likes = times(douts, v_here.permute((1, 0)), BM, BN, TILE)
    s, dq, slopes = gl.warpgroup_mma_wait(1, deps=(s, dq, slopes))
    tl.debug_barrier()  # for all warps
    copy(k_next, rows_at(k, tile + 1, tiles, BN, D, KEPT))
    copy(v_next, rows_at(v, tile + 1, tiles, BN, D, KEPT))
    commit()
    p = tl.exp2(s * scale - norm[:, None])
    likes, p = gl.warpgroup_mma_wait(0, deps=(likes, p))
    slopes = halved(p * (likes - mean[:, None]), k, OUT)
    dq = gl.warpgroup_mma(slopes, k_here, dq, is_async=True)
    return dq, slopes


@gl.jit
def to_queries(
    q, k, v, g, norms, means, dq_out, n, m, scale, factor,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, WARPS: tl.constexpr,
):  # fmt: skip
    """dq = factor * ds @ k."""
    TILE: tl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, BN, 16])
    OUT: tl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, D, 16])
    KEPT: tl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [WARPS, 1], [1, 0])
    SHARED: tl.constexpr = gl.NVMMASharedLayout(128, 16, 2)
    here, tiles = tl.cdiv(n, BM), tl.cdiv(m, BN)
    entry = (tl.program_id(0) // here).to(tl.int64)
    block = tl.program_id(0) % here
    k, v = k + entry * m * D, v + entry * m * D
    i = block * BM + gl.arange(0, BM, gl.SliceLayout(1, TILE))
    norm, mean = tl.load(norms + entry * n + i), tl.load(means + entry * n + i)
    queries = gl.allocate_shared_memory(k.dtype.element_ty, [BM, D], SHARED)
    douts = gl.allocate_shared_memory(k.dtype.element_ty, [BM, D], SHARED)
    k_even = gl.allocate_shared_memory(k.dtype.element_ty, [BN, D], SHARED)
    v_even = gl.allocate_shared_memory(k.dtype.element_ty, [BN, D], SHARED)
    k_odd = gl.allocate_shared_memory(k.dtype.element_ty, [BN, D], SHARED)
    v_odd = gl.allocate_shared_memory(k.dtype.element_ty, [BN, D], SHARED)
    copy(queries, rows_at(q + entry * n * D, block, here, BM, D, KEPT))
    copy(douts, rows_at(g + entry * n * D, block, here, BM, D, KEPT))
    copy(k_even, rows_at(k, 0, tiles, BN, D, KEPT))
    copy(v_even, rows_at(v, 0, tiles, BN, D, KEPT))
    commit()
    wait(0)
    gl.fence_async_shared()
    slopes = halved(gl.full([BM, BN], 0.0, tl.float32, TILE), k, OUT)
    dq = times(slopes, k_even, BM, D, OUT)
    for tile in range(0, tiles, 2):
        dq, slopes = query_step(
            dq, slopes, queries, douts, k_even, v_even, k_odd, v_odd, k, v, norm, mean, tile,
            tiles, scale, BM, BN, D, TILE, OUT, KEPT,
        )  # fmt: skip
        dq, slopes = query_step(
            dq, slopes, queries, douts, k_odd, v_odd, k_even, v_even, k, v, norm, mean, tile + 1,
            tiles, scale, BM, BN, D, TILE, OUT, KEPT,
        )  # fmt: skip
    wait(0)
    dq, slopes = gl.warpgroup_mma_wait(0, deps=(dq, slopes))
    c = gl.arange(0, D, gl.SliceLayout(0, OUT))[None, :]
    at = (entry * n + block * BM + gl.arange(0, BM, gl.SliceLayout(1, OUT))[:, None]) * D + c
    tl.store(dq_out + at, (dq * factor).to(dq_out.dtype.element_ty))

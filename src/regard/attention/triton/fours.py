"""The additive score on the matrix units, four features multiplied out.

With E and F the exponentials of 2 q and 2 k, w tanh(q + k) is w (E F - 1) / (E F + 1). Over one
denominator, four of these have (1 + Ea Fa) (1 + Eb Fb) (1 + Ec Fc) (1 + Ed Fd) below: a sum over
the 16 choices of some of the four, of the product of the chosen E and that of the chosen F. Above
stands the same sum, each choice weighed by the chosen w less the others. Both are products of
matrices with 16 columns, made of six in bfloat16, and a pair takes one reciprocal for four
features.

A block of threads has ROWS queries, and in registers what the products need of them. What they
need of KEYS keys it hands over through shared memory, for four features while those before are
multiplied. All other arithmetic is that of ``features``, line by line: what changes there changes
here.

The matrix units add up sixteen products in one step and cut off what does not fit beside the
largest, where ordinary arithmetic rounds. Among many features that is little; ``WIDE`` in
``operands`` says how many.
"""

from __future__ import annotations

import triton.language as tl

from regard.attention.triton import layouts as gl
from regard.attention.triton.elementary import exp2_of, held, pieces, reciprocal, times
from regard.attention.triton.matrix import of_distance
from regard.attention.triton.visible import (
    kept,
    nth_full,
    nth_masked,
    row_words,
    spans,
    tiles,
    visible,
)

__all__ = ["COLUMNS", "KEYS", "LAUNCH", "ROWS", "forward", "weigh"]

WARPS, ROWS, KEYS = tl.constexpr(8), tl.constexpr(128), tl.constexpr(64)
LAUNCH = {"num_warps": WARPS.value}
COLUMNS = tl.constexpr(64)  # of the values, at a time
MANY = tl.constexpr(32)  # features whose sum float32 may hold before it meets the others
LOG2E = tl.constexpr(1.4426950408889634)
DOWN = tl.constexpr(2.0**-20)  # of weights, so that a sum over values near the largest is finite
UP = tl.constexpr(2.0**20)

# how tiles lie among the threads: scores; a factor of the queries; one of the keys, four choices a
# thread; a part of the output; values
_TILE = gl.NVMMADistributedLayout([3, 0], [WARPS.value, 1], [16, KEYS.value, 16])
_LEFT = gl.DotOperandLayout(0, _TILE, 2)
_RIGHT = gl.BlockedLayout([1, 4], [8, 4], [WARPS.value, 1], [1, 0])
_OUT = gl.NVMMADistributedLayout([3, 0], [WARPS.value, 1], [16, COLUMNS.value, 16])
_VALUES = gl.BlockedLayout([1, 8], [4, 8], [WARPS.value, 1], [1, 0])
TILE, TILE_ROWS = tl.constexpr(_TILE), tl.constexpr(gl.SliceLayout(1, _TILE))
TILE_KEYS = tl.constexpr(gl.SliceLayout(0, _TILE))
LEFT_ROWS = tl.constexpr(gl.SliceLayout(1, _LEFT))
LEFT_CHOICES = tl.constexpr(gl.SliceLayout(0, _LEFT))
RIGHT_KEYS = tl.constexpr(gl.SliceLayout(1, _RIGHT))
RIGHT_CHOICES = tl.constexpr(gl.SliceLayout(0, _RIGHT))
OUT, OUT_ROWS = tl.constexpr(_OUT), tl.constexpr(gl.SliceLayout(1, _OUT))
OUT_COLUMNS = tl.constexpr(gl.SliceLayout(0, _OUT))
LEFT_OUT = tl.constexpr(gl.DotOperandLayout(0, _OUT, 2))
VALUE_KEYS = tl.constexpr(gl.SliceLayout(1, _VALUES))
VALUE_COLUMNS = tl.constexpr(gl.SliceLayout(0, _VALUES))
# and in shared memory
FACTORS = tl.constexpr(gl.NVMMASharedLayout(32, 16, 2))
SHARED = tl.constexpr(gl.NVMMASharedLayout(128, 16, 2))
FOUND = tl.constexpr(gl.SwizzledSharedLayout(4, 1, 8, [1, 0]))


@gl.jit
def of_four(at, wide):
    """Four features, each from a line of its own."""
    return tl.load(at), tl.load(at + wide), tl.load(at + 2 * wide), tl.load(at + 3 * wide)


@gl.jit
def chosen(x, choice):
    """The product of the chosen of four, for each choice.

    The second and the third come first: which of them a query's number has depends on the thread,
    and the compiler knows of the other two.
    """
    a, b = tl.where(choice & 1 != 0, x[0], 1.0), tl.where(choice & 2 != 0, x[1], 1.0)
    c, d = tl.where(choice & 4 != 0, x[2], 1.0), tl.where(choice & 8 != 0, x[3], 1.0)
    return ((b * c) * a) * d


@gl.jit
def weight(at, choice, f, h):
    """The weights of the chosen, less the others'; behind the last feature there are none."""
    a, b = tl.load(at, mask=f < h, other=0.0), tl.load(at + 1, mask=f < h, other=0.0)
    c, d = tl.load(at + 2, mask=f < h, other=0.0), tl.load(at + 3, mask=f < h, other=0.0)
    ab = tl.where(choice & 1 != 0, a, -a) + tl.where(choice & 2 != 0, b, -b)
    return ab + (tl.where(choice & 4 != 0, c, -c) + tl.where(choice & 8 != 0, d, -d))


@gl.jit
def room(HEIGHT: tl.constexpr, WIDTH: tl.constexpr, LAYOUT: tl.constexpr):
    """Shared memory for the three pieces of a factor.

    One each, or the compiler takes all for the same and has threads wait between them.
    """
    return (
        gl.allocate_shared_memory(tl.bfloat16, [HEIGHT, WIDTH], LAYOUT),
        gl.allocate_shared_memory(tl.bfloat16, [HEIGHT, WIDTH], LAYOUT),
        gl.allocate_shared_memory(tl.bfloat16, [HEIGHT, WIDTH], LAYOUT),
    )


@gl.jit
def hand_over(where, x):
    """x in three pieces of bfloat16, to where all threads and the matrix units find it."""
    a, b, c = pieces(x)
    where[0].store(a)
    where[1].store(b)
    where[2].store(c)


@gl.jit
def product(a, b, acc):
    """Six products on their way, the smallest first; what acc was does not count."""
    acc = gl.warpgroup_mma(a[1], b[1], acc, use_acc=False, is_async=True)
    acc = gl.warpgroup_mma(a[2], b[0], acc, is_async=True)
    acc = gl.warpgroup_mma(a[0], b[2], acc, is_async=True)
    acc = gl.warpgroup_mma(a[1], b[0], acc, is_async=True)
    acc = gl.warpgroup_mma(a[0], b[1], acc, is_async=True)
    return gl.warpgroup_mma(a[0], b[0], acc, is_async=True)


@gl.jit
def turned(where):
    """The pieces of a factor of the keys as a product takes them: keys are its columns."""
    return where[0].permute((1, 0)), where[1].permute((1, 0)), where[2].permute((1, 0))


@gl.jit
def both(a, below, above):
    """Four fractions' denominator and numerator on their way."""
    gl.fence_async_shared()
    nothing = gl.full([ROWS, KEYS], 0.0, tl.float32, TILE)
    return product(a, turned(below), nothing), product(a, turned(above), nothing)


@gl.jit
def loaded(q, k, w, f, wide_n, wide_m, h):
    """What the four features from f on are made of; behind the last ones, these, with no weight."""
    at = tl.cast(tl.minimum(f, h - 4), tl.int64)
    choice = gl.arange(0, 16, RIGHT_CHOICES)[None, :]
    x, y = of_four(q + at * wide_n, wide_n), of_four(k + at * wide_m, wide_m)
    return x, y, weight(w + f, choice, f, h)


@gl.jit
def made(below, above, given):
    """The factors of the keys, handed over, and that of the queries, in pieces."""
    x, y, by = given
    y = chosen(y, gl.arange(0, 16, RIGHT_CHOICES)[None, :])
    hand_over(below, y)
    hand_over(above, y * by)
    return pieces(chosen(x, gl.arange(0, 16, LEFT_CHOICES)[None, :]))


@gl.jit
def score_tile(q, k, w, wide_n, wide_m, h):
    """The sum over features of w tanh, q and k being the tile's first; h is a multiple of four.

    While four are multiplied, the factors of the next are made, and those after are loaded.
    """
    q += gl.arange(0, ROWS, LEFT_ROWS)[:, None]
    k += gl.arange(0, KEYS, RIGHT_KEYS)[:, None]
    below, above = room(KEYS, 16, FACTORS), room(KEYS, 16, FACTORS)
    next_below, next_above = room(KEYS, 16, FACTORS), room(KEYS, 16, FACTORS)
    s = gl.full([ROWS, KEYS], 0.0, tl.float32, TILE)
    a = made(below, above, loaded(q, k, w, 0, wide_n, wide_m, h))
    given = loaded(q, k, w, 4, wide_n, wide_m, h)
    for f0 in range(0, h, MANY):
        part = gl.full([ROWS, KEYS], 0.0, tl.float32, TILE)
        for f in range(f0, tl.minimum(f0 + MANY, h), 8):
            under, over = both(a, below, above)
            b = made(next_below, next_above, given)
            given = loaded(q, k, w, f + 8, wide_n, wide_m, h)
            under, over, a0, a1, a2 = gl.warpgroup_mma_wait(0, deps=(under, over, a[0], a[1], a[2]))
            part += over * reciprocal(under)
            under, over = both(b, next_below, next_above)
            a = made(below, above, given)
            given = loaded(q, k, w, f + 12, wide_n, wide_m, h)
            under, over, b0, b1, b2 = gl.warpgroup_mma_wait(0, deps=(under, over, b[0], b[1], b[2]))
            part += over * reciprocal(under)
        s += part
    return s


@gl.jit
def scores(q, k, w, table, i, j, n, m, wide_n, wide_m, h, scale, TABLE: tl.constexpr):
    """A tile of scores; q and k are at its first row and key, which are the first of i and j."""
    s = times(score_tile(q, k, w, wide_n, wide_m, h), scale)
    if TABLE:
        s += of_distance(table, i, j, n, (i < n) & (j < m))
    # a score beyond float32 still has to compare
    return tl.minimum(s, 3.0e38, propagate_nan=tl.PropagateNan.ALL)


@gl.jit
def forward_tile(
    acc, total, top, found, q, k, v, w, table, dense, rows, first, last, low, high, n, m,
    wide_n, wide_m, h, dv, svm, svd, sdn, sdm, scale, least, keep_scale, tile,
    MASKED: tl.constexpr, NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr,
    DROP: tl.constexpr, LONG: tl.constexpr, MODE: tl.constexpr, CHUNKS: tl.constexpr,
):  # fmt: skip
    j = (tile * KEYS + gl.arange(0, KEYS, TILE_KEYS))[None, :]
    i = rows[:, None]
    s = scores(q, k + tile * KEYS, w, table, i, j, n, m, wide_n, wide_m, h, scale, TABLE)
    if MASKED:
        seen = visible(i, j, first[:, None], last[:, None], dense, sdn, sdm, NOT_SELF, DENSE)
        s = tl.where(seen, s, float("-inf"))
    new = tl.maximum(top, tl.max(s, 1))
    unit = tl.where(new == float("-inf"), 0.0, new)  # nothing seen yet: -inf - -inf is NaN
    decay = tl.exp2((top - unit) * LOG2E)
    p = tl.exp2((s - unit[:, None]) * LOG2E)
    if MODE == 2:  # entropy: the mean of the distance from the top
        less = tl.where(p > 0.0, s - unit[:, None], 0.0)
        fall = tl.where(top == float("-inf"), 0.0, top - unit)
        acc = (acc + fall.to(tl.float64) * total) * decay.to(tl.float64)
        acc += tl.sum(p * less, 1).to(tl.float64)
    if LONG:
        total = total * decay.to(tl.float64) + tl.sum(p, 1).to(tl.float64)
    else:
        total = total * decay + tl.sum(p, 1)
    if MODE == 1:
        if DROP:
            stays = kept(low[:, None], high[:, None], j, least)
            p = tl.where(stays, p * keep_scale, 0.0)
        a0, a1, a2 = pieces(p * DOWN)
        a0 = gl.convert_layout(a0, LEFT_OUT)
        a1 = gl.convert_layout(a1, LEFT_OUT)
        a2 = gl.convert_layout(a2, LEFT_OUT)
        falling = gl.convert_layout(decay, OUT_ROWS)[:, None]
        at = (tile * KEYS + gl.arange(0, KEYS, VALUE_KEYS))[:, None]
        c = gl.arange(0, COLUMNS, VALUE_COLUMNS)[None, :]
        values = room(KEYS, COLUMNS, SHARED)
        for chunk in tl.static_range(CHUNKS):
            column = chunk * COLUMNS + c
            where = v + at.to(tl.int64) * svm + column.to(tl.int64) * svd
            value = tl.load(where, mask=(at < m) & (column < dv), other=0.0)
            if MASKED:  # what nobody sees may be anything
                bad = tl.max((value * 0.0 != 0.0).to(tl.int32), 1)
                value = tl.where(bad[:, None] > 0, 0.0, value)
                spoils = seen & (gl.convert_layout(bad, TILE_KEYS)[None, :] > 0)
                total = tl.where(tl.max(spoils.to(tl.int32), 1) > 0, float("nan"), total)
            hand_over(values, held(value))
            gl.fence_async_shared()
            part = gl.full([ROWS, COLUMNS], 0.0, tl.float32, OUT)
            part = product((a0, a1, a2), values, part)
            part, a0, a1, a2 = gl.warpgroup_mma_wait(0, deps=(part, a0, a1, a2))
            # a sum of the matrix units' own rounds down: they add up one tile alone
            mine = found.index(chunk)
            mine.store(mine.load(OUT) * falling.to(found.dtype) + part.to(found.dtype))
    return acc, total, new


@gl.jit
def forward(
    q, k, v, p0, kind, table, lo, hi, dense, seed, out, lse, svb, svm, svd, sdb, sdn, sdm, n, m,
    wide_n, wide_m, h, dv, per_mask, per_dense, tables, heads, scale, least, keep_scale,
    SPANS: tl.constexpr, NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr,
    DROP: tl.constexpr, LONG: tl.constexpr, MODE: tl.constexpr, CHUNKS: tl.constexpr,
):  # fmt: skip
    """As ``features.forward``, for the entries of kind 3."""
    blocks = tl.cdiv(n, ROWS)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    if tl.load(kind + entry) == 3:
        i0 = (blocks - 1 - tl.program_id(0) % blocks) * ROWS
        rows = i0 + gl.arange(0, ROWS, TILE_ROWS)
        of_mask = (entry // per_mask) * n
        first, last = spans(lo + of_mask, hi + of_mask, rows, n, m, SPANS)
        start, stop, a, b, d0, d1 = tiles(first, last, rows, i0, n, m, ROWS, KEYS, NOT_SELF, DENSE)
        low, high = rows.to(tl.uint32), rows.to(tl.uint32)
        if DROP:
            low, high = row_words(tl.load(seed), entry * n + rows)
        total = gl.full([ROWS], 0.0, tl.float64 if LONG else tl.float32, TILE_ROWS)
        top = gl.full([ROWS], float("-inf"), tl.float32, TILE_ROWS)
        acc = gl.full([ROWS], 0.0, tl.float64, TILE_ROWS)
        wide: tl.constexpr = tl.float64 if LONG else tl.float32
        found = gl.allocate_shared_memory(wide, [CHUNKS, ROWS, COLUMNS], FOUND)
        if MODE == 1:
            for chunk in tl.static_range(CHUNKS):
                found.index(chunk).store(gl.full([ROWS, COLUMNS], 0.0, wide, OUT))
        at_q, at_k = q + entry * wide_n * h + i0, k + entry * wide_m * h
        at_v, at_w = v + entry * svb, p0 + (entry % heads) * h
        the_table = table + (entry % tables) * (n + m - 1)
        the_dense = dense + (entry // per_dense) * sdb
        for t in range((b - a) - (d1 - d0)):
            acc, total, top = forward_tile(
                acc, total, top, found, at_q, at_k, at_v, at_w, the_table, the_dense, rows,
                first, last, low, high, n, m, wide_n, wide_m, h, dv, svm, svd, sdn, sdm, scale,
                least, keep_scale, nth_full(t, a, d0, d1), False, NOT_SELF, DENSE, TABLE, DROP,
                LONG, MODE, CHUNKS,
            )  # fmt: skip
        for t in range((a - start) + (d1 - d0) + (stop - b)):
            acc, total, top = forward_tile(
                acc, total, top, found, at_q, at_k, at_v, at_w, the_table, the_dense, rows,
                first, last, low, high, n, m, wide_n, wide_m, h, dv, svm, svd, sdn, sdm, scale,
                least, keep_scale, nth_masked(t, start, a, b, d0, d1), True, NOT_SELF, DENSE, TABLE,
                DROP, LONG, MODE, CHUNKS,
            )  # fmt: skip
        none = total == 0.0
        total = tl.where(none, 1.0, total)
        norm = top.to(tl.float64) + tl.log(total.to(tl.float64))
        norm = tl.where(none, float("-inf"), norm)
        tl.store(lse + entry * n + rows, norm, mask=rows < n)
        if MODE == 1:
            by = gl.convert_layout(total, OUT_ROWS)[:, None]
            row = (i0 + gl.arange(0, ROWS, OUT_ROWS))[:, None]
            c = gl.arange(0, COLUMNS, OUT_COLUMNS)[None, :]
            for chunk in tl.static_range(CHUNKS):
                mean = (found.index(chunk).load(OUT) / by) * UP
                mean = tl.where(tl.abs(mean) == float("inf"), float("nan"), mean)
                column = chunk * COLUMNS + c
                at = out + (entry * n + row) * dv + column
                tl.store(at, mean.to(tl.float32), mask=(row < n) & (column < dv))
        if MODE == 2:
            spread_out = tl.log(total.to(tl.float64)) - acc / total.to(tl.float64)
            spread_out = tl.where(none, 0.0, spread_out)
            tl.store(out + entry * n + rows, spread_out.to(tl.float32), mask=rows < n)


@gl.jit(do_not_specialize=["e_first", "i_count"])
def weigh(
    q, k, p0, kind, table, lo, hi, dense, lse, weights,
    sdb, sdn, sdm, n, m, wide_n, wide_m, h, per_mask, per_dense, tables, heads, scale,
    e_first, i_first, i_count, j_first, j_count,
    SPANS: tl.constexpr, NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr,
):  # fmt: skip
    """As ``features.weigh``, for the entries of kind 3."""
    blocks, wide = tl.cdiv(i_count, ROWS), tl.cdiv(j_count, KEYS)
    local = (tl.program_id(0) // (blocks * wide)).to(tl.int64)
    entry = e_first + local
    if tl.load(kind + entry) == 3:
        rest = tl.program_id(0) % (blocks * wide)
        r0, c0 = (rest // wide) * ROWS, (rest % wide) * KEYS
        r, c = r0 + gl.arange(0, ROWS, TILE_ROWS), c0 + gl.arange(0, KEYS, TILE_KEYS)
        rows, there = i_first + r, r < i_count
        i, j = rows[:, None], (j_first + c)[None, :]
        inside = there[:, None] & (c < j_count)[None, :]
        of_mask = (entry // per_mask) * n
        first, last = spans(lo + of_mask, hi + of_mask, rows, n, m, SPANS)
        some = there & (first < last)
        begin, end = tl.min(tl.where(some, first, m), 0), tl.max(tl.where(some, last, 0), 0)
        p = gl.full([ROWS, KEYS], 0.0, tl.float32, TILE)
        if (j_first + c0 < end) & (j_first + c0 + KEYS > begin):
            norm = tl.load(lse + entry * n + rows, mask=there, other=0.0)
            norm = tl.where(norm == float("-inf"), float("inf"), norm)  # who sees nothing
            s = scores(
                q + entry * wide_n * h + i_first + r0, k + entry * wide_m * h + j_first + c0,
                p0 + (entry % heads) * h, table + (entry % tables) * (n + m - 1), i, j, n, m,
                wide_n, wide_m, h, scale, TABLE,
            )  # fmt: skip
            seen = inside & visible(
                i, j, first[:, None], last[:, None], dense + (entry // per_dense) * sdb, sdn, sdm,
                NOT_SELF, DENSE,
            )  # fmt: skip
            p = tl.where(seen, exp2_of((s.to(tl.float64) - norm[:, None]) * LOG2E), 0.0)
        tl.store(weights + (local * i_count + r[:, None]) * j_count + c[None, :], p, mask=inside)

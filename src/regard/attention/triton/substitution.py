"""tanh(q + k) by what can be computed once a token: kernels that choose and that transform.

Which substitution fits is decided on the GPU, for each batch entry by itself: nothing waits for
numbers to come back, and an entry's result does not depend on the others in its batch.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["decide", "ranges", "transform"]

NEAR = tl.constexpr(1.0)  # up to here tanh q and tanh k are the better operands
REACH = tl.constexpr(10.5)  # up to here exp(2 q) exp(2 k), squared, is a float32
MOST = tl.constexpr(2.0e9)  # exp(2 REACH) and a little


@triton.jit(do_not_specialize=["chunks"])
def ranges(
    x, seen, least, most, n, h, chunks, ROWS: tl.constexpr, BH: tl.constexpr, SEEN: tl.constexpr
):
    """The range of each feature over a run of rows; only rows that are seen, and finite."""
    entry = (tl.program_id(0) // chunks).to(tl.int64)
    chunk = tl.program_id(0) % chunks
    rows_each = tl.cdiv(n, chunks)
    f = tl.arange(0, BH)
    low = tl.full([BH], float("inf"), tl.float32)
    high = tl.full([BH], float("-inf"), tl.float32)
    stop = tl.minimum(chunk * rows_each + rows_each, n)
    for i0 in range(chunk * rows_each, stop, ROWS):
        i = i0 + tl.arange(0, ROWS)
        there = i < stop
        if SEEN:
            there = there & (tl.load(seen + entry * n + i, mask=there, other=0) != 0)
        at = (entry * n + i)[:, None] * h + f[None, :]
        inside = there[:, None] & (f < h)[None, :]
        value = tl.load(x + at, mask=inside, other=0.0)
        fine = inside & (tl.abs(value) < float("inf"))
        low = tl.minimum(low, tl.min(tl.where(fine, value, float("inf")), 0))
        high = tl.maximum(high, tl.max(tl.where(fine, value, float("-inf")), 0))
    at_range = tl.program_id(0).to(tl.int64) * h + f
    tl.store(least + at_range, low, mask=f < h)
    tl.store(most + at_range, high, mask=f < h)


@triton.jit
def of_all_runs(least, most, entry, chunks, h, f):
    """The least and the largest of each feature over all runs of rows; infinities if none."""
    low = tl.full(f.shape, float("inf"), tl.float32)
    high = tl.full(f.shape, float("-inf"), tl.float32)
    for c0 in range(0, chunks, 8):  # eight loads under way at a time
        c = c0 + tl.arange(0, 8)
        inside = (c < chunks)[:, None] & (f < h)[None, :]
        at = (entry * chunks + c)[:, None] * h + f[None, :]
        low = tl.minimum(low, tl.min(tl.load(least + at, mask=inside, other=float("inf")), 0))
        high = tl.maximum(high, tl.max(tl.load(most + at, mask=inside, other=float("-inf")), 0))
    return low, high


@triton.jit(do_not_specialize=["chunks_q", "chunks_k"])
def decide(
    q_least, q_most, k_least, k_most, p0, kind, centre, h, wide, heads, chunks_q, chunks_k,
    BH: tl.constexpr, FOURS: tl.constexpr,
):  # fmt: skip
    """For an entry: 1 (tanh), 2 (exp), 3 (exp, FOURS) or 0 (neither), and the features' centres."""
    entry = tl.program_id(0).to(tl.int64)
    f = tl.arange(0, BH)
    here = f < h
    q_low, q_high = of_all_runs(q_least, q_most, entry, chunks_q, h, f)
    k_low, k_high = of_all_runs(k_least, k_most, entry, chunks_k, h, f)
    empty = (q_low > q_high) | (k_low > k_high) | (f >= h)
    q_low = tl.where(empty, 0.0, q_low)
    q_high = tl.where(empty, 0.0, q_high)
    k_low = tl.where(empty, 0.0, k_low)
    k_high = tl.where(empty, 0.0, k_high)
    size = tl.maximum(tl.maximum(-q_low, q_high), tl.maximum(-k_low, k_high))
    near = tl.max(size, 0) <= NEAR
    # tanh(q + k) = tanh((q - c) + (k + c)): the centre that keeps both exponentials small
    middle = (q_low * 0.25 + q_high * 0.25) - (k_low * 0.25 + k_high * 0.25)
    apart = tl.maximum(
        tl.maximum(tl.abs(q_low - middle), tl.abs(q_high - middle)),
        tl.maximum(tl.abs(k_low + middle), tl.abs(k_high + middle)),
    )
    reach = tl.max(apart, 0)
    found = tl.where(near, 1, tl.where(reach > REACH, 0, 2))
    if FOURS:
        # Below stands (1 + exp(4 reach))^4, above at most 4 w times as much. As 4 w counts for 1 at
        # least, the first stays under 8.2e36: the reciprocal of more than 8.5e37 would be 0, though
        # that is a float32, too
        w = tl.max(tl.abs(tl.load(p0 + (entry % heads) * wide + f, mask=f < h, other=0.0)), 0)
        fits = 16.0 * reach + tl.log(tl.maximum(4.0 * w, 1.0)) < 85.0
        found = tl.where((found == 2) & fits, 3, found)
    tl.store(kind + entry, found)
    tl.store(centre + entry * h + f, middle, mask=here)


@triton.jit
def transform(
    x, seen, kind, centre, by_feature, by_row, n, wide_n, h, wide, width, sign,
    ROWS: tl.constexpr, BH: tl.constexpr, TWICE: tl.constexpr, SEEN: tl.constexpr,
):  # fmt: skip
    """x [B, n, h] as kernels want it: [B, wide, wide_n], TWICE: and [B, n, width]; zeros behind.

    Row by row, for slopes, what nobody sees is 0, and so is what is not finite: who sees that has
    NaN for slopes anyway. Pairs share a reciprocal, and none may be told by another's garbage.
    """
    blocks = tl.cdiv(n, ROWS)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    i = (tl.program_id(0) % blocks) * ROWS + tl.arange(0, ROWS)
    f = tl.arange(0, BH)
    inside = (i < n)[:, None] & (f < h)[None, :]
    value = tl.load(x + (entry * n + i)[:, None] * h + f[None, :], mask=inside, other=0.0)
    the_kind = tl.load(kind + entry)
    if the_kind > 0:
        # in float64: one rounding to float32 is all it may cost
        middle = tl.load(centre + entry * h + f, mask=f < h, other=0.0).to(tl.float64) * sign
        fine = value.to(tl.float64)
        if the_kind >= 2:
            value = tl.exp(2.0 * (fine - middle[None, :])).to(tl.float32)
        else:
            twice = tl.exp(2.0 * fine)
            small = fine * (
                1.0 - fine * fine * (0.3333333333333333 - 0.13333333333333333 * fine * fine)
            )
            value = tl.where(tl.abs(fine) < 1.0e-3, small, (twice - 1.0) / (twice + 1.0)).to(
                tl.float32
            )
    value = tl.where(inside, value, 0.0)
    there = (i < n)[:, None] & (f < wide)[None, :]
    tl.store(by_feature + (entry * wide + f)[None, :] * wide_n + i[:, None], value, mask=there)
    if TWICE:
        if the_kind > 0:
            value = tl.where(value <= MOST, value, 0.0)
            if SEEN:
                used = tl.load(seen + entry * n + i, mask=i < n, other=0) != 0
                value = tl.where(used[:, None], value, 0.0)
        there = (i < n)[:, None] & (f < width)[None, :]
        tl.store(by_row + (entry * n + i)[:, None] * width + f[None, :], value, mask=there)

"""Kernels that look at the weights of a dot product, from q, k and the rows' normalisers.

Each makes a tile of weights, reduces it and forgets it. For other scores ``features.weigh`` makes
panels of weights and torch reduces those.
"""

from __future__ import annotations

import triton
import triton.language as tl

from regard.attention.triton.elementary import product
from regard.attention.triton.matrix import (
    LN2,
    base_two,
    bias,
    full_rows_of,
    rows_of,
    shifted,
)
from regard.attention.triton.visible import spans, visible

__all__ = ["entropies", "gather", "joined", "overview", "received", "rectangle", "skim", "sweep"]

# of a row's weights: those that float32 takes for 0 are less than 2^-46 of it
LEAST_TOTAL = tl.constexpr(2.0**-80)


@triton.jit
def queries_of(
    q, at, there, width, stride_row, stride_col, D: tl.constexpr, NEGATIVE: tl.constexpr
):  # fmt: skip
    """Rows of q, with the sign of the scale: kernels get its size alone."""
    found = rows_of(q, at, there, width, stride_row, stride_col, D)
    if NEGATIVE:
        found = (-found.to(tl.float32)).to(found.dtype)
    return found


@triton.jit
def weights_tile(
    queries, norm, k, table, dense, rows, first, last, j, m, n, d, skm, skd, sdn, sdm, scale,
    D: tl.constexpr, MASKED: tl.constexpr, NOT_SELF: tl.constexpr, DENSE: tl.constexpr,
    TABLE: tl.constexpr, WIDE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The weights [BM, BN] and the scores in base 2 they come from."""
    keys = rows_of(k, j, j < m, d, skm, skd, D)
    s = product(queries, tl.trans(keys), PRECISION) * scale
    if TABLE:
        there = (rows < n)[:, None] & (j < m)[None, :]
        s += bias(table, rows[:, None], j[None, :], n, there)
    p = tl.exp2(shifted(s, norm[:, None], WIDE))
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
    return p, s


@triton.jit
def overview(
    q, k, table, lo, hi, dense, lse, partial,
    sqb, sqn, sqd, skb, skm, skd, sdb, sdn, sdm, n, m, d, per_mask, per_dense, tables, scale,
    height, width, blocks, splits,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, SPANS: tl.constexpr,
    NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr, WIDE: tl.constexpr,
    MASS: tl.constexpr, NEGATIVE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """partial[B, height, blocks, width]: sums (or maxima) of some rows of a cell by cell of keys.

    Cell c of a side with so many cells has the positions whose number times cells, divided by the
    side's length, is c.
    """
    split = tl.program_id(0) % splits
    rest = tl.program_id(0) // splits
    block = rest % blocks
    cell = (rest // blocks) % height
    entry = (rest // blocks // height).to(tl.int64)
    stop_row = ((cell + 1).to(tl.int64) * n + height - 1) // height
    start_row = (cell.to(tl.int64) * n + height - 1) // height
    rows = (start_row + block * BM + tl.arange(0, BM)).to(tl.int32)
    there = rows < stop_row
    of_mask = entry // per_mask
    first, last = spans(lo + of_mask * n, hi + of_mask * n, rows, n, m, SPANS)
    last = tl.where(there, last, 0)
    queries = queries_of(q + entry * sqb, rows, there, d, sqn, sqd, D, NEGATIVE)
    norm = base_two(tl.load(lse + entry * n + rows, mask=there, other=float("-inf")))
    if not WIDE:
        norm = norm.to(tl.float32)
    begin = tl.min(tl.where(first < last, first, m), 0)
    end = tl.max(tl.where(first < last, last, 0), 0)
    each = tl.cdiv(width, splits)
    zero = entry * 0  # in int64: a cell's number times m may be large
    for c in range(split * each, tl.minimum(split * each + each, width)):
        j0 = ((zero + c) * m + width - 1) // width
        j1 = ((zero + c) * m + m + width - 1) // width
        found = tl.zeros([BM], tl.float32)
        if (j0 < end) & (j1 > begin):
            for j_first in range(j0, j1, BN):
                j = j_first + tl.arange(0, BN)
                p, _ = weights_tile(
                    queries, norm, k + entry * skb, table + (entry % tables) * (n + m - 1),
                    dense + (entry // per_dense) * sdb, rows, first, last, j, m, n, d, skm, skd,
                    sdn, sdm, scale, D, SPANS, NOT_SELF, DENSE, TABLE, WIDE, PRECISION,
                )  # fmt: skip
                if j_first + BN > j1:
                    p = tl.where((j < j1)[None, :], p, 0.0)
                if MASS:
                    found += tl.sum(p, 1)
                else:
                    # a maximum drops NaN
                    found = tl.maximum(found, tl.max(p, 1)) + tl.sum(p * 0.0, 1)
        at = partial + ((entry * height + cell) * blocks + block) * width + c
        if MASS:
            tl.store(at, tl.sum(found, 0))
        else:
            tl.store(at, tl.max(found, 0) + tl.sum(found * 0.0, 0))


@triton.jit
def whole_tile(
    queries, k, tile, d, skm, skd, BN: tl.constexpr, D: tl.constexpr, EVEN: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Products [BM, BN] with the keys of a tile that are all there."""
    begin = k + tl.cast(tile * BN, tl.int64) * skm  # a number for all: threads' offsets stay
    keys = full_rows_of(begin, tl.arange(0, BN), d, skm, skd, D, EVEN)
    return product(queries, tl.trans(keys), PRECISION)


@triton.jit
def eighths(x):
    """x [BM, BN] as [BM, BN / 8, 8]: a thread has whole columns of it, and reduces them alone."""
    return tl.reshape(x, [x.shape[0], x.shape[1] // 8, 8])


@triton.jit
def skim(
    q, k, tops, totals, cells, sqb, sqn, sqd, skb, skm, skd, d, scale, first_row, count, width,
    splits,
    BM: tl.constexpr, BN: tl.constexpr, EACH: tl.constexpr, D: tl.constexpr, EVEN: tl.constexpr,
    MASS: tl.constexpr, NEGATIVE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """What ``sweep`` finds, where nothing is hidden or added: sooner, but for rows it gives up.

    A row's weights are relative to its largest score of the first tile, tops[B, count], and stay
    so. Nothing waits for a maximum, nothing is rescaled: beside its product a pair costs a
    multiply-add, an exponential and an addition. A block of threads takes one of several runs of
    cells, totals[B, splits, count]: at the end of long ones multiprocessors would stand idle.
    """
    blocks = tl.cdiv(count, BM)
    part = tl.program_id(0) // blocks
    entry, split = (part // splits).to(tl.int64), part % splits
    at = (tl.program_id(0) % blocks) * BM + tl.arange(0, BM)
    there = at < count
    queries = queries_of(q + entry * sqb, first_row + at, there, d, sqn, sqd, D, NEGATIVE)
    keys = k + entry * skb
    top = tl.max(whole_tile(queries, keys, 0, d, skm, skd, BN, D, EVEN, PRECISION), 1) * scale
    total = tl.zeros([BM], tl.float32)
    some = tl.zeros([BM, 8], tl.float32)
    most = tl.full([BM, 8], float("-inf"), tl.float32)
    # Tiles in one loop, not in one for each cell: keys are on their way across a cell's end, too.
    for tile in range(split * width // splits * EACH, (split + 1) * width // splits * EACH):
        s = whole_tile(queries, keys, tile, d, skm, skd, BN, D, EVEN, PRECISION)
        some += tl.sum(eighths(tl.exp2(s * scale - top[:, None])), 1)
        if not MASS:
            most = tl.maximum(most, tl.max(eighths(s), 1))
        if tile % EACH == EACH - 1:
            here = tl.sum(some, 1)
            total += here
            some = tl.zeros([BM, 8], tl.float32)
            if MASS:
                here = top + tl.log2(here)
            else:
                here = tl.max(most, 1) * scale
                most = tl.full([BM, 8], float("-inf"), tl.float32)
            tl.store(cells + (entry * width + tile // EACH) * count + at, here, mask=there)
    if split == 0:
        tl.store(tops + entry * count + at, top, mask=there)
    tl.store(totals + (entry * splits + split) * count + at, total, mask=there)


@triton.jit
def joined(norms, totals, count, splits, ROWS: tl.constexpr):
    """norms[B, count]: from the largest scores of the first tile, and totals relative to those.

    One weight of the first tile is 1. A total out of bounds met weights 2^128 times as large,
    something that is no number, or scores so large that they are rounded by tens: such a row's
    normaliser is NaN, and ``sweep`` does it again.
    """
    blocks = tl.cdiv(count, ROWS)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    at = (tl.program_id(0) % blocks) * ROWS + tl.arange(0, ROWS)
    there = at < count
    total = tl.zeros([ROWS], tl.float32)
    for split in range(splits):
        total += tl.load(totals + (entry * splits + split) * count + at, mask=there, other=0.0)
    fit = (total > LEAST_TOTAL) & (total < float("inf"))
    top = tl.load(norms + entry * count + at, mask=there, other=0.0)
    norm = tl.where(fit, top + tl.log2(total), float("nan"))
    tl.store(norms + entry * count + at, norm, mask=there)


@triton.jit
def sweep(
    q, k, table, lo, hi, dense, norms, cells,
    sqb, sqn, sqd, skb, skm, skd, sdb, sdn, sdm, n, m, d, per_mask, per_dense, tables, scale,
    first_row, count, width,
    BM: tl.constexpr, BN: tl.constexpr, EACH: tl.constexpr, D: tl.constexpr, EVEN: tl.constexpr,
    SPANS: tl.constexpr, NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr,
    MASS: tl.constexpr, NEGATIVE: tl.constexpr, PRECISION: tl.constexpr, AGAIN: tl.constexpr,
):  # fmt: skip
    """norms[B, count] and cells[B, width, count]: each row's normaliser and what its cells have.

    For cells of EACH whole tiles of keys. Scores are seen once: what a cell has is kept as a
    logarithm, its sum or its largest, and becomes weights when the row's normaliser is known.
    AGAIN: for rows alone whose normaliser is NaN so far; their neighbours keep what they have.
    """
    blocks = tl.cdiv(count, BM)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    at = (tl.program_id(0) % blocks) * BM + tl.arange(0, BM)
    rows, there = first_row + at, at < count
    if AGAIN:
        norm = tl.load(norms + entry * count + at, mask=there, other=0.0)
        there = norm != norm
        if tl.max(there.to(tl.int32), 0) == 0:
            return
    of_mask = entry // per_mask
    first, last = spans(lo + of_mask * n, hi + of_mask * n, rows, n, m, SPANS)
    last = tl.where(there, last, 0)
    queries = queries_of(q + entry * sqb, rows, there, d, sqn, sqd, D, NEGATIVE)
    begin = tl.min(tl.where(first < last, first, m), 0) // (BN * EACH)
    end = tl.cdiv(tl.max(tl.where(first < last, last, 0), 0), BN * EACH)
    begin = tl.minimum(begin, end)
    to = cells + entry * width * count + at
    step = entry * 0 + count  # in int64: cells times rows may be many
    for c in range(begin):
        tl.store(to + c * step, float("-inf"), mask=there)
    for c in range(end, width):
        tl.store(to + c * step, float("-inf"), mask=there)
    top = tl.full([BM], float("-inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    for c in range(begin, end):
        here = tl.zeros([BM], tl.float32)
        if not MASS:
            here = tl.full([BM], float("-inf"), tl.float32)
        for part in tl.static_range(EACH):
            tile = c * EACH + part
            s = whole_tile(queries, k + entry * skb, tile, d, skm, skd, BN, D, EVEN, PRECISION)
            j = tile * BN + tl.arange(0, BN)
            factor = scale
            if TABLE:
                bias_at = table + (entry % tables) * (n + m - 1)
                s = s * scale + bias(bias_at, rows[:, None], j[None, :], n, there[:, None])
                factor = 1.0
            if (SPANS or NOT_SELF) or DENSE:
                seen = visible(
                    rows[:, None],
                    j[None, :],
                    first[:, None],
                    last[:, None],
                    dense + (entry // per_dense) * sdb,
                    sdn,
                    sdm,
                    NOT_SELF,
                    DENSE,
                )
                s = tl.where(seen, s, float("-inf"))
            most = tl.max(s, 1) * factor
            new = tl.maximum(top, most)
            unit = new
            if (SPANS or NOT_SELF) or (DENSE or TABLE):
                unit = tl.where(new == float("-inf"), 0.0, new)  # nothing yet: -inf - -inf is NaN
            decay = tl.exp2(top - unit)
            got = tl.sum(tl.exp2(s * factor - unit[:, None]), 1)
            total = total * decay + got
            here = here * decay + got if MASS else tl.maximum(here, most)
            top = new
        if MASS:
            here = top + tl.log2(here)
            # nothing seen: -inf + -inf; what is NaN without that stays so
            here = tl.where(top == float("-inf"), float("-inf"), here)
        tl.store(to + c * step, here, mask=there)
    # of a row that saw nothing: what makes its weights 0; a NaN among its scores is in its total
    norm = tl.where(total == 0.0, float("inf"), top + tl.log2(total))
    tl.store(norms + entry * count + at, norm, mask=there)


@triton.jit
def gather(
    cells, norms, grid, count, width, tall, height, WIDTH: tl.constexpr, ROWS: tl.constexpr,
    MASS: tl.constexpr,
):  # fmt: skip
    """grid[B, height, width]: sums (or maxima) over ``tall`` rows of what ``sweep`` found."""
    blocks = tl.cdiv(width, WIDTH)
    c = (tl.program_id(0) % blocks) * WIDTH + tl.arange(0, WIDTH)
    cell = tl.program_id(0) // blocks % height
    entry = (tl.program_id(0) // blocks // height).to(tl.int64)
    found = tl.zeros([WIDTH], tl.float64)
    spoiled = tl.zeros([WIDTH], tl.float32)
    for r0 in range(0, tall, ROWS):
        r = r0 + tl.arange(0, ROWS)
        there, at = r < tall, cell * tall + r
        norm = tl.load(norms + entry * count + at, mask=there, other=float("inf"))
        inside = (c < width)[:, None] & there[None, :]
        where = cells + (entry * width + c)[:, None] * count + at[None, :]
        x = tl.load(where, mask=inside, other=float("-inf"))
        p = tl.exp2(x - norm[None, :])
        if MASS:
            found += tl.sum(p, 1).to(tl.float64)
        else:
            found = tl.maximum(found, tl.max(p, 1).to(tl.float64))
            spoiled += tl.sum(p * 0.0, 1)  # a maximum drops NaN
    tl.store(grid + (entry * height + cell) * width + c, found + spoiled, mask=c < width)


@triton.jit
def entropies(
    q, k, table, lo, hi, dense, lse, out,
    sqb, sqn, sqd, skb, skm, skd, sdb, sdn, sdm, n, m, d, per_mask, per_dense, tables, scale,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, SPANS: tl.constexpr,
    NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr, WIDE: tl.constexpr,
    NEGATIVE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """-sum p log p of each row, in nats: log p is the score less the normaliser."""
    blocks = tl.cdiv(n, BM)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    rows = (tl.program_id(0) % blocks) * BM + tl.arange(0, BM)
    there = rows < n
    of_mask = entry // per_mask
    first, last = spans(lo + of_mask * n, hi + of_mask * n, rows, n, m, SPANS)
    queries = queries_of(q + entry * sqb, rows, there, d, sqn, sqd, D, NEGATIVE)
    norm = base_two(tl.load(lse + entry * n + rows, mask=there, other=float("-inf")))
    begin = tl.min(tl.where(first < last, first, m), 0) // BN * BN
    end = tl.max(tl.where(first < last, last, 0), 0)
    total = tl.zeros([BM], tl.float64)
    for j0 in range(begin, end, BN):
        j = j0 + tl.arange(0, BN)
        p, s = weights_tile(
            queries, norm, k + entry * skb, table + (entry % tables) * (n + m - 1),
            dense + (entry // per_dense) * sdb, rows, first, last, j, m, n, d, skm, skd, sdn, sdm,
            scale, D, True, NOT_SELF, DENSE, TABLE, WIDE, PRECISION,
        )  # fmt: skip
        surprise = tl.where(p > 0.0, -shifted(s, norm[:, None], True), 0.0)
        total += tl.sum(p * surprise, 1).to(tl.float64)
    tl.store(out + entry * n + rows, (total * LN2).to(tl.float32), mask=there)


@triton.jit
def received(
    q, k, table, lo, hi, dense, lse, out,
    sqb, sqn, sqd, skb, skm, skd, sdb, sdn, sdm, n, m, d, per_mask, per_dense, tables, scale,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, SPANS: tl.constexpr,
    NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr, WIDE: tl.constexpr,
    NEGATIVE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The sum of the weights on each key, over all queries, in float64."""
    blocks = tl.cdiv(m, BN)
    entry = (tl.program_id(0) // blocks).to(tl.int64)
    j0 = (tl.program_id(0) % blocks) * BN
    j = j0 + tl.arange(0, BN)
    of_mask = entry // per_mask
    total = tl.zeros([BN], tl.float64)
    for i0 in range(0, n, BM):
        rows = i0 + tl.arange(0, BM)
        there = rows < n
        first, last = spans(lo + of_mask * n, hi + of_mask * n, rows, n, m, SPANS)
        sees = (first < j0 + BN) & (last > j0) & (first < last)
        if tl.max(sees.to(tl.int32), 0) > 0:
            queries = queries_of(q + entry * sqb, rows, there, d, sqn, sqd, D, NEGATIVE)
            norm = base_two(tl.load(lse + entry * n + rows, mask=there, other=float("-inf")))
            p, _ = weights_tile(
                queries, norm, k + entry * skb, table + (entry % tables) * (n + m - 1),
                dense + (entry // per_dense) * sdb, rows, first, last, j, m, n, d, skm, skd, sdn,
                sdm, scale, D, True, NOT_SELF, DENSE, TABLE, WIDE, PRECISION,
            )  # fmt: skip
            total += tl.sum(p, 0).to(tl.float64)
    tl.store(out + entry * m + j, total, mask=j < m)


@triton.jit
def rectangle(
    q, k, table, lo, hi, dense, lse, out,
    sqb, sqn, sqd, skb, skm, skd, sdb, sdn, sdm, n, m, d, per_mask, per_dense, tables, scale,
    i_first, i_count, j_first, j_count,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, SPANS: tl.constexpr,
    NOT_SELF: tl.constexpr, DENSE: tl.constexpr, TABLE: tl.constexpr, WIDE: tl.constexpr,
    NEGATIVE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """out[B, rows, keys]: the weights themselves."""
    tall, wide = tl.cdiv(i_count, BM), tl.cdiv(j_count, BN)
    entry = (tl.program_id(0) // (tall * wide)).to(tl.int64)
    rest = tl.program_id(0) % (tall * wide)
    r = (rest // wide) * BM + tl.arange(0, BM)
    c = (rest % wide) * BN + tl.arange(0, BN)
    rows, j = i_first + r, j_first + c
    there = r < i_count
    of_mask = entry // per_mask
    first, last = spans(lo + of_mask * n, hi + of_mask * n, rows, n, m, SPANS)
    queries = queries_of(q + entry * sqb, rows, there, d, sqn, sqd, D, NEGATIVE)
    norm = base_two(tl.load(lse + entry * n + rows, mask=there, other=float("-inf")))
    p, _ = weights_tile(
        queries, norm, k + entry * skb, table + (entry % tables) * (n + m - 1),
        dense + (entry // per_dense) * sdb, rows, first, last, j, m, n, d, skm, skd, sdn, sdm,
        scale, D, True, NOT_SELF, DENSE, TABLE, WIDE, PRECISION,
    )  # fmt: skip
    at = (entry * i_count + r)[:, None] * j_count + c[None, :]
    tl.store(out + at, p.to(out.dtype.element_ty), mask=there[:, None] & (c < j_count)[None, :])

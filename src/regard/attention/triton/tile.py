"""Where the pairs of a tile lie among the threads, for sums over features.

With few features (KEYS_FIRST, in short F) a tile has keys by queries: queries lie across the
threads, and no sum over keys leaves its thread.

With many, a tile has four axes: queries of a thread, keys of a thread, queries of the other warps,
keys of the warp's other threads. A thread reads eight queries and four keys for 32 pairs, so few
that the compiler lets each read its own, and nobody hands anything to anybody. Sums over keys stay
in their warp. What belongs to queries then has the first and the third axis, what belongs to keys
the second and the fourth.

Tiles of few pairs are smaller: a thread has two of them, or eight, and if there are few features
too, four warps have keys of their own.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = [
    "at_keys",
    "at_rows",
    "by_key",
    "in_line",
    "key_numbers",
    "keys_within",
    "most_over_keys",
    "no_scores",
    "of_keys",
    "of_rows",
    "row_numbers",
    "rows_within",
    "sum_over_keys",
]

WARPS, LANES = tl.constexpr(8), tl.constexpr(32)  # that share a tile of many features


@triton.jit
def rows_within(BM: tl.constexpr, F: tl.constexpr):
    """The numbers of a tile's queries."""
    if F:
        return tl.arange(0, BM)
    else:  # said, or Triton takes the two shapes for one function's
        each: tl.constexpr = BM // WARPS
        return tl.arange(0, WARPS)[None, :] * each + tl.arange(0, each)[:, None]


@triton.jit
def keys_within(BN: tl.constexpr, F: tl.constexpr):
    """The numbers of a tile's keys."""
    if F:
        return tl.arange(0, BN)
    else:
        each: tl.constexpr = BN // LANES
        return tl.arange(0, each)[:, None] * LANES + tl.arange(0, LANES)[None, :]


@triton.jit
def no_scores(BM: tl.constexpr, BN: tl.constexpr, F: tl.constexpr):
    """A tile of zeros."""
    if F:
        return tl.zeros([BN, BM], tl.float32)
    else:
        return tl.zeros([BM // WARPS, BN // LANES, WARPS, LANES], tl.float32)


@triton.jit
def of_rows(x, F: tl.constexpr):
    """A number for each query, beside a tile."""
    return x[None, :] if F else x[:, None, :, None]


@triton.jit
def of_keys(x, F: tl.constexpr):
    """A number for each key, beside a tile."""
    return x[:, None] if F else x[None, :, None, :]


@triton.jit
def at_rows(x, BM: tl.constexpr, F: tl.constexpr):
    """Where a tile's queries are, each with a number in a row of them."""
    return x + (rows_within(BM, F) if F else of_rows(rows_within(BM, F), F))


@triton.jit
def at_keys(x, BN: tl.constexpr, F: tl.constexpr):
    """The same of its keys."""
    return x + (keys_within(BN, F) if F else of_keys(keys_within(BN, F), F))


@triton.jit
def row_numbers(at, F: tl.constexpr):
    """The numbers there, beside a tile.

    Where keys come first they are read in a line. Read beside a tile, they would tell the compiler
    how to lay it out: with its keys across the threads, and five times the instructions.
    """
    return of_rows(tl.load(at), F) if F else tl.load(at)


@triton.jit
def key_numbers(at, F: tl.constexpr):
    """The same of keys."""
    return of_keys(tl.load(at), F) if F else tl.load(at)


@triton.jit
def sum_over_keys(x, F: tl.constexpr):
    """A number for each query."""
    return tl.sum(x, 0) if F else tl.sum(tl.sum(x, 1), 2)


@triton.jit
def most_over_keys(x, F: tl.constexpr):
    """The largest, for each query."""
    return tl.max(x, 0) if F else tl.max(tl.max(x, 1), 2)


@triton.jit
def in_line(x, BM: tl.constexpr, F: tl.constexpr):
    """Numbers of queries, one after the other."""
    return x if F else tl.reshape(tl.permute(x, (1, 0)), [BM])


@triton.jit
def by_key(x, BN: tl.constexpr, F: tl.constexpr):
    """Numbers of keys one after the other, as a tile has them."""
    return x if F else tl.reshape(x, [BN // LANES, LANES])

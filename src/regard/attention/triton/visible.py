"""What every kernel needs to know of a mask: which tiles to visit, what to hide, what to drop.

A block of queries visits three kinds of tiles of keys: those it skips, those every query sees
whole, and the few between, where pairs are hidden one by one. Only the last pay for the mask.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["kept", "nth_full", "nth_masked", "row_words", "spans", "tiles", "visible"]


@triton.jit
def spans(lo, hi, rows, n, m, SPANS: tl.constexpr):
    """The keys from first to last (not included) that each row sees; behind the end: none."""
    there = rows < n
    if SPANS:
        first = tl.maximum(tl.load(lo + rows, mask=there, other=0), 0)
        last = tl.minimum(tl.load(hi + rows, mask=there, other=0), m)
    else:
        first = tl.where(there, 0, 0)
        last = tl.where(there, m, 0)
    return first, last


@triton.jit
def tiles(
    first, last, rows, i0, n, m,
    BM: tl.constexpr, BN: tl.constexpr, NOT_SELF: tl.constexpr, DENSE: tl.constexpr,
):  # fmt: skip
    """Tile numbers: visited from ``start`` to ``stop``, whole from a to b but for d0 to d1."""
    some = first < last
    start = tl.min(tl.where(some, first, m), 0) // BN
    stop = (tl.max(tl.where(some, last, 0), 0) + BN - 1) // BN
    stop = tl.maximum(start, stop)
    there = rows < n  # rows behind the end do not make a tile less than whole
    a = (tl.max(tl.where(there, first, 0), 0) + BN - 1) // BN
    b = tl.min(tl.where(there, last, m), 0) // BN
    if DENSE:
        b = a
    a = tl.minimum(tl.maximum(a, start), stop)
    b = tl.minimum(tl.maximum(b, a), stop)
    if NOT_SELF:
        d0 = tl.minimum(tl.maximum(i0 // BN, a), b)
        d1 = tl.minimum(tl.maximum((i0 + BM - 1) // BN + 1, d0), b)
    else:
        d0 = b
        d1 = b
    return start, stop, a, b, d0, d1


@triton.jit
def nth_full(t, a, d0, d1):
    """The tile that is whole and t-th among such."""
    return tl.where(a + t < d0, a + t, a + t + (d1 - d0))


@triton.jit
def nth_masked(t, start, a, b, d0, d1):
    """The tile that is not whole and t-th among such: before a, on the diagonal, from b on."""
    left = a - start
    middle = d1 - d0
    return tl.where(
        t < left, start + t, tl.where(t < left + middle, d0 + t - left, b + t - left - middle)
    )


@triton.jit
def visible(
    i, j, first, last, dense, stride_i, stride_j, NOT_SELF: tl.constexpr, DENSE: tl.constexpr
):
    """Which pairs are seen; i, first and last broadcast against j."""
    seen = (first <= j) & (j < last)
    if NOT_SELF:
        seen = seen & (i != j)
    if DENSE:
        at = dense + i.to(tl.int64) * stride_i + j.to(tl.int64) * stride_j
        seen = seen & (tl.load(at, mask=seen, other=0) != 0)
    return seen


@triton.jit
def row_words(seed, row):
    """Two random words for a row: splitmix64 of the seed and the row's number."""
    x = seed.to(tl.uint64) + row.to(tl.uint64) * 0x9E3779B97F4A7C15
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB
    x = x ^ (x >> 31)
    return (x & 0xFFFFFFFF).to(tl.uint32), (x >> 32).to(tl.uint32)


@triton.jit
def kept(low, high, j, least):
    """Whether dropout keeps key j of a row with these words: see ``attention/dropout.py``."""
    z = j.to(tl.uint32) ^ low
    z = (z ^ (z >> 16)) * 0x85EBCA6B
    z = (z ^ (z >> 13)) * 0xC2B2AE35
    z = (z ^ (z >> 16)) + high
    z = (z ^ (z >> 15)) * 0x2C1B3C6D
    z = (z ^ (z >> 12)) * 0x297A2D39
    z = z ^ (z >> 15)
    return z >= least

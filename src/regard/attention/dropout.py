"""Which weights dropout keeps: a function of seed, row and key, and of nothing else.

A counter-based generator has no state to carry from forward to backward, none to share between
threads, and gives the same mask in every implementation and in any order of evaluation. Row r
(counted over the flattened batch axes and the queries) turns the seed into two words by splitmix64;
key j is mixed with them by two rounds of a 32-bit finaliser.
"""

from __future__ import annotations

from torch import Tensor

__all__ = ["keep", "threshold"]

_WORD = 0xFFFFFFFF
# 64-bit constants as the signed integers torch has
_GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)
_MIX_1 = 0xBF58476D1CE4E5B9 - (1 << 64)
_MIX_2 = 0x94D049BB133111EB - (1 << 64)


def threshold(p: float) -> int:
    """A weight is kept when its 32 random bits reach this number."""
    return min(round(p * 2**32), _WORD)


def _shift(x: Tensor, by: int) -> Tensor:
    return (x >> by) & ((1 << (64 - by)) - 1)  # logical, not arithmetic


def keep(seed: Tensor, rows: Tensor, keys: Tensor, p: float) -> Tensor:
    """True where the weight of (row, key) survives, for int64 rows and keys that broadcast."""
    x = seed.to(rows.device) + rows * _GOLDEN
    x = (x ^ _shift(x, 30)) * _MIX_1
    x = (x ^ _shift(x, 27)) * _MIX_2
    x = x ^ _shift(x, 31)
    low, high = x & _WORD, _shift(x, 32)
    z = (keys ^ low) & _WORD
    z = ((z ^ (z >> 16)) * 0x85EBCA6B) & _WORD
    z = ((z ^ (z >> 13)) * 0xC2B2AE35) & _WORD
    z = ((z ^ (z >> 16)) + high) & _WORD
    z = ((z ^ (z >> 15)) * 0x2C1B3C6D) & _WORD
    z = ((z ^ (z >> 12)) * 0x297A2D39) & _WORD
    z = z ^ (z >> 15)
    return z >= threshold(p)

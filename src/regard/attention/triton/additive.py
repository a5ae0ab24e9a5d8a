"""The additive score's own arithmetic: w tanh(q + k) without a tanh; ``pull`` has its slopes.

``substitution`` has turned q and k into what can be computed once a token and says in ``kind`` into
what: exponentials (2 and 3), hyperbolic tangents (1), or nothing (0). See ``attention/README.md``.
"""

from __future__ import annotations

import triton
import triton.language as tl

from regard.attention.triton.elementary import added, reciprocal, tanh
from regard.attention.triton.tile import key_numbers, row_numbers

__all__ = ["additive_tile"]

FEW = tl.constexpr(16)  # features whose sum float32 may hold
FAST = tl.constexpr(32)  # the same by exponentials, which lose more than the sum does
FEWER = tl.constexpr(8)  # the same where care is taken


@triton.jit
def pair_of_fractions(na, da, nb, db):
    """na / da + nb / db with one reciprocal."""
    return (na * db + nb * da) * reciprocal(da * db)


@triton.jit
def exp_pair(at_q, at_k, p0, wide_n, wide_m, F: tl.constexpr):
    """Two features of sum w (E F - 1) / (E F + 1), over one denominator, multiplied out.

    (Ea Fa + 1) (Eb Fb + 1) is Ea Eb Fa Fb + Ea Fa + Eb Fb + 1, and the numerator has the same
    products, weighed: what depends on one side alone is made once for many pairs, and a pair costs
    six multiply-adds, a reciprocal and one more.
    """
    xa, xb = row_numbers(at_q, F), row_numbers(at_q + wide_n, F)
    ya, yb = key_numbers(at_k, F), key_numbers(at_k + wide_m, F)
    wa, wb = tl.load(p0), tl.load(p0 + 1)
    x, y = xa * xb, ya * yb
    both, less = wa + wb, wa - wb
    over = x * (both * y) + (xa * (less * ya) - (xb * (less * yb) + both))
    return over * reciprocal(x * y + (xa * ya + (xb * yb + 1.0)))


@triton.jit
def tanh_pair(at_q, at_k, p0, wide_n, wide_m, F: tl.constexpr):
    """Two features of sum w (A + B) / (1 + A B)."""
    xa, xb = row_numbers(at_q, F), row_numbers(at_q + wide_n, F)
    ya, yb = key_numbers(at_k, F), key_numbers(at_k + wide_m, F)
    wa, wb = tl.load(p0), tl.load(p0 + 1)
    da, db = xa * ya + 1.0, xb * yb + 1.0
    na, nb = wa * xa + wa * ya, wb * xb + wb * yb
    return pair_of_fractions(na, da, nb, db)


@triton.jit
def with_part(s, rest, part, CAREFUL: tl.constexpr):
    """s + part; CAREFUL: and what its rounding takes away, beside what was taken before."""
    if CAREFUL:
        s, rest = added(s, rest, part)
    else:
        s = s + part
    return s, rest


@triton.jit
def additive_tile(s, q, k, p0, kind, wide_n, wide_m, h, F: tl.constexpr, CAREFUL: tl.constexpr):
    """Sum of w tanh(q + k): see ``substitution``, which says in ``kind`` what q and k are now.

    Two fractions are added over one denominator: one reciprocal serves two features. Four are
    loaded at a time, and h is a multiple of that. Some are added up, and then these sums, so that
    roundings do not pile up; CAREFUL: with what rounding takes away.
    """
    few: tl.constexpr = FEWER if CAREFUL else FEW
    rest = tl.zeros_like(s)
    if kind >= 2:  # exp(2 q), exp(2 k): (E F - 1) / (E F + 1)
        many: tl.constexpr = FEWER if CAREFUL else FAST
        for f0 in range(0, h, many):
            part = tl.zeros_like(s)
            for f in range(f0, tl.minimum(f0 + many, h), 4):
                at_q, at_k = q + tl.cast(f, tl.int64) * wide_n, k + tl.cast(f, tl.int64) * wide_m
                part += exp_pair(at_q, at_k, p0 + f, wide_n, wide_m, F)
                at_q, at_k = at_q + 2 * wide_n, at_k + 2 * wide_m
                part += exp_pair(at_q, at_k, p0 + f + 2, wide_n, wide_m, F)
            s, rest = with_part(s, rest, part, CAREFUL)
    elif kind == 1:  # tanh q, tanh k: (A + B) / (1 + A B)
        for f0 in range(0, h, few):
            part = tl.zeros_like(s)
            for f in range(f0, tl.minimum(f0 + few, h), 2):
                at = tl.cast(f, tl.int64)
                part += tanh_pair(q + at * wide_n, k + at * wide_m, p0 + f, wide_n, wide_m, F)
            s, rest = with_part(s, rest, part, CAREFUL)
    else:  # q and k as they are
        for f0 in range(0, h, few):
            part = tl.zeros_like(s)
            for f in range(f0, tl.minimum(f0 + few, h)):
                at = tl.cast(f, tl.int64)
                x, y = row_numbers(q + at * wide_n, F), key_numbers(k + at * wide_m, F)
                part += tl.load(p0 + f) * tanh(x + y)
            s, rest = with_part(s, rest, part, CAREFUL)
    if CAREFUL:
        s += tl.where(tl.abs(rest) < float("inf"), rest, 0.0)  # infinities leave no rest
    return s

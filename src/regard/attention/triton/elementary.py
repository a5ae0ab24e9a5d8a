"""Functions of a number that a formula may use and Triton does not have, or not as needed."""

from __future__ import annotations

import os

import triton
import triton.language as tl

__all__ = [
    "larger",
    "pinned",
    "power",
    "product",
    "product_added",
    "reciprocal",
    "sign",
    "smaller",
    "tanh",
    "tanh_slope",
]

_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


@triton.jit
def tanh(x):
    """To a few units in the last place: near 0 by the polynomial of the Cephes library."""
    size = tl.abs(x)
    z = x * x
    near = -5.70498872745e-3 * z + 2.06390887954e-2
    near = near * z - 5.37397155531e-2
    near = near * z + 1.33314422036e-1
    near = near * z - 3.33332819422e-1
    near = near * z * x + x
    far = 1.0 - 2.0 / (tl.exp(2.0 * tl.minimum(size, 20.0)) + 1.0)
    found = tl.where(size < 0.625, near, tl.where(x > 0, far, -far))
    return tl.where(x != x, x, found)  # a NaN stays one


@triton.jit
def tanh_slope(x):
    """1 - tanh^2, without the cancellation."""
    z = tl.exp(-2.0 * tl.abs(x))
    return 4.0 * z / ((1.0 + z) * (1.0 + z))


if _INTERPRETED:  # it has no assembler, and takes the bits of a bfloat16 for a number

    @triton.jit
    def reciprocal(x):
        return 1.0 / x

    @triton.jit
    def pinned(x):
        return x

    @triton.jit
    def product(a, b, PRECISION: tl.constexpr):
        return tl.dot(a.to(tl.float32), b.to(tl.float32), input_precision="ieee")

    @triton.jit
    def product_added(a, b, acc, PRECISION: tl.constexpr):
        return acc + tl.dot(a.to(tl.float32), b.to(tl.float32), input_precision="ieee")

else:

    @triton.jit
    def pinned(x):
        """x, which the compiler may not compute once more in the layout that its user wants.

        It would rather do that than hand a tile over through memory, even if a tile is a sum over
        a hundred features.
        """
        return tl.inline_asm_elementwise(
            "mov.b32 $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=False, pack=1
        )

    @triton.jit
    def product(a, b, PRECISION: tl.constexpr):
        """a @ b."""
        return tl.dot(a, b, input_precision=PRECISION)

    @triton.jit
    def product_added(a, b, acc, PRECISION: tl.constexpr):
        """acc + a @ b."""
        return tl.dot(a, b, acc, input_precision=PRECISION)

    @triton.jit
    def reciprocal(x):
        """1 / x in one instruction, to a unit in the last place; a division is ten."""
        return tl.inline_asm_elementwise(
            "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )


@triton.jit
def sign(x):
    return tl.where(x > 0.0, 1.0, tl.where(x < 0.0, -1.0, 0.0))


@triton.jit
def power(x, c):
    """x ** c for a number c; a negative x has a power only if c is whole."""
    size = tl.exp2(c * tl.log2(tl.abs(x)))
    size = tl.where(x == 0.0, tl.where(c > 0.0, 0.0, float("inf")), size)
    whole = tl.floor(c + 0.0 * x) == c
    odd = tl.floor(c * 0.5 + 0.0 * x) != c * 0.5
    negative = tl.where(whole, tl.where(odd, -size, size), float("nan"))
    return tl.where(x < 0.0, negative, size)


@triton.jit
def larger(a, b):
    """The larger of two; a NaN stays one."""
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def smaller(a, b):
    """The smaller of two; a NaN stays one."""
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)

"""Functions of a number that a formula may use and Triton does not have, or not as needed."""

from __future__ import annotations

import os

import triton
import triton.language as tl

__all__ = [
    "PRODUCTS",
    "accumulated",
    "added",
    "exp2_of",
    "held",
    "larger",
    "pieces",
    "pinned",
    "power",
    "product",
    "product_added",
    "reciprocal",
    "sign",
    "smaller",
    "tanh",
    "tanh_slope",
    "times",
]


def _products() -> str:
    """How products of float32 are made of smaller ones: by six of bfloat16, or three of tf32."""
    try:
        from triton.backends.nvidia.compiler import CUDAOptions  # noqa: PLC0415 - may not be there

        known = CUDAOptions.allowed_dot_input_precisions
    except (AttributeError, ImportError):
        return "tf32x3"
    return "bf16x6" if "bf16x6" in known else "tf32x3"


# bfloat16 is twice as fast as tf32, so six of one take as long as three of the other, and keep 24
# bits where those keep 22
PRODUCTS = _products()
LARGEST = tl.constexpr(3.3895313892515355e38)  # of bfloat16
_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


@triton.jit
def tanh(x):
    """Of float32, to a few units in the last place: near 0 by the polynomial of Cephes."""
    x = x.to(tl.float32)
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


@triton.jit
def whole_power(x):
    """2^x of whole numbers from -126 to 127, exactly: an exponential need not be."""
    return ((x.to(tl.int32) + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def exp2_of(x):
    """2^x of float64 in float32, to a unit in the last place; the hardware's is to two.

    What is left of x beside a whole number is small, and keeps its digits in float32.
    """
    near = tl.minimum(tl.maximum(x, -200.0), 200.0)  # 2^-200 is 0 in float32
    whole = tl.minimum(tl.floor(near + 0.5), 127.0)  # 2^128 is infinite
    z = (near - whole).to(tl.float32)
    found = 1.5252733804059838e-05 * z + 1.5403530393381606e-04
    found = found * z + 1.3333558146428441e-03
    found = found * z + 9.6181291076284770e-03
    found = found * z + 5.5504108664821576e-02
    found = found * z + 2.4022650695910070e-01
    found = found * z + 6.9314718055994530e-01
    found = tl.fma(found, z, tl.where(z == z, 1.0, 1.0))  # ones that lie as z does
    half = tl.floor(whole * 0.5)  # in two steps: below 2^-126 there are no such numbers
    found = (found * whole_power(whole - half)) * whole_power(half)
    return tl.where(x != x, x.to(tl.float32), found)  # a NaN stays one


@triton.jit
def held(x):
    """x, but not so large that its first piece in bfloat16 or tf32 would round to infinity."""
    size = tl.abs(x)
    return tl.where(
        (size > LARGEST) & (size < float("inf")), tl.where(x > 0.0, LARGEST, -LARGEST), x
    )


if _INTERPRETED:  # it has no assembler, and takes the bits of a bfloat16 for a number

    @triton.jit
    def reciprocal(x):
        return 1.0 / x

    @triton.jit
    def pinned(x):
        return x

    @triton.jit
    def times(x, y):
        return x * y

    @triton.jit
    def piece(x):
        """The first 8 bits of x, rounded, as bfloat16 has them."""
        bits = x.to(tl.int32, bitcast=True)
        near = ((bits + 0x7FFF + ((bits >> 16) & 1)) & -65536).to(tl.float32, bitcast=True)
        return tl.where((x != x) | (tl.abs(x) == float("inf")), x, near)

    @triton.jit
    def six_products(a, b):
        """As the compiler does bf16x6: each in three pieces, the smallest products first."""
        a0, b0 = piece(a), piece(b)
        a1, b1 = piece(a - a0), piece(b - b0)
        a2, b2 = piece(a - a0 - a1), piece(b - b0 - b1)
        low = tl.dot(a1, b1, input_precision="ieee")
        low += tl.dot(a2, b0, input_precision="ieee") + tl.dot(a0, b2, input_precision="ieee")
        low += tl.dot(a1, b0, input_precision="ieee") + tl.dot(a0, b1, input_precision="ieee")
        low = tl.where(low != low, 0.0, low)  # inf - inf: the first product tells what it is
        return low + tl.dot(a0, b0, input_precision="ieee")

    @triton.jit
    def product(a, b, PRECISION: tl.constexpr):
        if a.dtype == tl.float32:
            return six_products(held(a), held(b))
        else:
            return tl.dot(a.to(tl.float32), b.to(tl.float32), input_precision="ieee")

    @triton.jit
    def product_added(a, b, acc, PRECISION: tl.constexpr):
        return acc + product(a, b, PRECISION)

    @triton.jit
    def in_pieces(a, b):
        return six_products(held(a), b.to(tl.float32))

    @triton.jit
    def pieces(x):
        first = piece(x)
        second = piece(x - first)
        return first, second, piece(x - first - second)

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
    def times(x, y):
        """x * y, rounded, whatever is done with it: said so, or the assembler fuses it with that.

        It looks through a ``pinned`` one.
        """
        return tl.inline_asm_elementwise(
            "mul.rn.f32 $0, $1, $2;", "=f,f,f", [x, y], dtype=tl.float32, is_pure=True, pack=1
        )

    @triton.jit
    def product(a, b, PRECISION: tl.constexpr):
        """a @ b."""
        if a.dtype == tl.float32:
            return tl.dot(held(a), held(b), input_precision=PRECISION)
        else:
            return tl.dot(a, b)

    @triton.jit
    def product_added(a, b, acc, PRECISION: tl.constexpr):
        """acc + a @ b."""
        if a.dtype == tl.float32:
            return tl.dot(held(a), held(b), acc, input_precision=PRECISION)
        else:
            return tl.dot(a, b, acc)

    @triton.jit
    def in_pieces(a, b):
        """a @ b of float32 and bfloat16: a in three pieces, the smallest first; b is one."""
        a = held(a)
        first = a.to(tl.bfloat16)
        rest = a - first.to(tl.float32)
        second = rest.to(tl.bfloat16)
        found = tl.dot((rest - second.to(tl.float32)).to(tl.bfloat16), b)
        found = tl.dot(second, b, found)
        found = tl.where(found != found, 0.0, found)  # inf - inf: the first tells what it is
        return tl.dot(first, b, found)

    @triton.jit
    def piece_and_rest(x):
        """x rounded to bfloat16, two at a time, and what that took away."""
        return tl.inline_asm_elementwise(
            "{ .reg .b32 bits; .reg .f32 near; cvt.rn.bf16x2.f32 $0, $4, $3;"
            " shl.b32 bits, $0, 16; mov.b32 near, bits; sub.f32 $1, $3, near;"
            " and.b32 bits, $0, 0xffff0000; mov.b32 near, bits; sub.f32 $2, $4, near; }",
            "=r,=f,=f,f,f", [x], dtype=(tl.bfloat16, tl.float32), is_pure=True, pack=2,
        )  # fmt: skip

    @triton.jit
    def last_piece(x):
        return tl.inline_asm_elementwise(
            "cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,f,f", [x], dtype=tl.bfloat16, is_pure=True, pack=2
        )

    @triton.jit
    def pieces(x):
        """x in three of bfloat16, the largest first: rounded two by two, which is four times as
        quick as one by one."""
        first, rest = piece_and_rest(x)
        second, rest = piece_and_rest(rest)
        return first, second, last_piece(rest)

    @triton.jit
    def reciprocal(x):
        """1 / x in one instruction, to a unit in the last place; a division is ten."""
        return tl.inline_asm_elementwise(
            "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )


@triton.jit
def accumulated(acc, a, b, FINE: tl.constexpr, LONG: tl.constexpr, PRECISION: tl.constexpr):
    """acc + a @ b; FINE: of bfloat16 b, a keeps its digits; LONG: acc is of float64."""
    if FINE and b.dtype == tl.bfloat16:
        return acc + in_pieces(a, b).to(acc.dtype)
    elif LONG:
        return acc + product(a.to(b.dtype), b, PRECISION).to(tl.float64)
    else:
        return product_added(a.to(b.dtype), b, acc, PRECISION)


@triton.jit
def added(total, rest, part):
    """total + rest + part, and what the rounding of it took away: a long sum in two float32."""
    new = total + part
    took = new - total
    return new, rest + ((total - (new - took)) + (part - took))


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

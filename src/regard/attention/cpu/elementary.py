"""exp, log and tanh as straight-line arithmetic, so that the loops around them become vector code.

The library functions are calls, and a loop with a call in it stays scalar. These are within three
units in the last place (tests compare them with the library's over their whole range). The
polynomials are the minimax ones of the Cephes library's single-precision functions, and for double
precision the Taylor series on a reduced range.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

__all__ = ["exp32", "exp64", "log32", "log64", "tanh32", "tanh64"]

_options = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"contract"}}
f32, f64, i32, i64 = np.float32, np.float64, np.int32, np.int64


def _bitcast(source: types.Type, target: types.Type, llvm: ir.Type) -> Any:  # noqa: ANN401
    @intrinsic  # type: ignore[untyped-decorator]
    def cast(typingctx: Any, x: Any) -> Any:  # noqa: ANN401, ARG001
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401, ARG001
            return builder.bitcast(args[0], llvm)

        return target(source), code

    return cast


_float_of_bits = _bitcast(types.int32, types.float32, ir.FloatType())
_bits_of_float = _bitcast(types.float32, types.int32, ir.IntType(32))
_double_of_bits = _bitcast(types.int64, types.float64, ir.DoubleType())

_LOG2E = math.log2(math.e)
_LN2_HIGH_32, _LN2_LOW_32 = f32(0.693359375), f32(-2.12194440e-4)
_LN2_HIGH_64, _LN2_LOW_64 = 6.93145751953125e-1, 1.42860682030941723212e-6


@njit(**_options)
def exp32(x):  # type: ignore[no-untyped-def]
    # -104 gives 0 and 89 gives inf, as they should; in between 2^n is built in two halves so that
    # neither leaves the range of the exponent
    x = x if x > f32(-104.0) else f32(-104.0)
    x = x if x < f32(89.0) else f32(89.0)
    n = np.floor(x * f32(_LOG2E) + f32(0.5))
    r = x - n * _LN2_HIGH_32
    r = r - n * _LN2_LOW_32
    y = f32(1.9875691500e-4)
    y = y * r + f32(1.3981999507e-3)
    y = y * r + f32(8.3334519073e-3)
    y = y * r + f32(4.1665795894e-2)
    y = y * r + f32(1.6666665459e-1)
    y = y * r + f32(5.0000001201e-1)
    y = y * r * r + r + f32(1.0)
    power = i32(n)
    half = power >> i32(1)
    low = _float_of_bits(i32((half + i32(127)) << i32(23)))
    high = _float_of_bits(i32((power - half + i32(127)) << i32(23)))
    return y * low * high


@njit(**_options)
def exp64(x):  # type: ignore[no-untyped-def]
    x = x if x > -746.0 else -746.0
    x = x if x < 710.0 else 710.0
    n = np.floor(x * _LOG2E + 0.5)
    r = x - n * _LN2_HIGH_64
    r = r - n * _LN2_LOW_64
    y = 1.0 / 6227020800.0
    y = y * r + 1.0 / 479001600.0
    y = y * r + 1.0 / 39916800.0
    y = y * r + 1.0 / 3628800.0
    y = y * r + 1.0 / 362880.0
    y = y * r + 1.0 / 40320.0
    y = y * r + 1.0 / 5040.0
    y = y * r + 1.0 / 720.0
    y = y * r + 1.0 / 120.0
    y = y * r + 1.0 / 24.0
    y = y * r + 1.0 / 6.0
    y = y * r + 0.5
    y = y * r * r + r + 1.0
    power = i64(n)
    half = power >> 1
    low = _double_of_bits((half + 1023) << 52)
    high = _double_of_bits((power - half + 1023) << 52)
    return y * low * high


@njit(**_options)
def log32(x):  # type: ignore[no-untyped-def]
    bits = _bits_of_float(x)
    power = f32((bits >> i32(23)) - i32(127))
    part = _float_of_bits(i32((bits & i32(0x007FFFFF)) | i32(0x3F800000)))  # in [1, 2)
    upper = part > f32(1.41421356)
    part = part * f32(0.5) if upper else part
    power = power + f32(1.0) if upper else power
    r = part - f32(1.0)
    z = r * r
    y = f32(7.0376836292e-2)
    y = y * r - f32(1.1514610310e-1)
    y = y * r + f32(1.1676998740e-1)
    y = y * r - f32(1.2420140846e-1)
    y = y * r + f32(1.4249322787e-1)
    y = y * r - f32(1.6668057665e-1)
    y = y * r + f32(2.0000714765e-1)
    y = y * r - f32(2.4999993993e-1)
    y = y * r + f32(3.3333331174e-1)
    y = y * r * z
    y = y + power * _LN2_LOW_32 - f32(0.5) * z
    y = r + y + power * _LN2_HIGH_32
    y = y if x > f32(0.0) else (f32(-np.inf) if x == f32(0.0) else f32(np.nan))
    return y if x < f32(np.inf) else x


@njit(**_options)
def log64(x):  # type: ignore[no-untyped-def]
    return np.log(x)


@njit(**_options)
def tanh32(x):  # type: ignore[no-untyped-def]
    size = abs(x)
    z = x * x
    near = f32(-5.70498872745e-3)
    near = near * z + f32(2.06390887954e-2)
    near = near * z - f32(5.37397155531e-2)
    near = near * z + f32(1.33314422036e-1)
    near = near * z - f32(3.33332819422e-1)
    near = near * z * x + x
    far = f32(1.0) - f32(2.0) / (exp32(f32(2.0) * size) + f32(1.0))
    far = far if x > f32(0.0) else -far
    return near if size < f32(0.625) else far


@njit(**_options)
def tanh64(x):  # type: ignore[no-untyped-def]
    # tanh(x) = t / (t + 2), t = exp(2 |x|) - 1; for small arguments t by its series
    z = 2.0 * abs(x)
    t = z / 19.0
    for i in range(18, 1, -1):
        t = (t + 1.0) * (z / i)
    t = (t + 1.0) * z
    t = t if z < 1.0 else exp64(z) - 1.0
    size = t / (t + 2.0) if z < 40.0 else 1.0
    return size if x > 0.0 else -size

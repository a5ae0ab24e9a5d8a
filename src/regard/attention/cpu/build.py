"""Kernels for a formula: ``formula.py`` with the formula's lines written in, compiled once.

The text becomes a file in the user's cache folder, next to which numba keeps the machine code, so
the second process that uses a score does not wait for the compiler. ``REGARD_CACHE`` moves it.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from regard.attention.generated import loaded
from regard.scores import Additive
from regard.scores.expression import NAMES, derivative, parse, source

__all__ = ["EXP_SUM", "TANH_SUM", "Kernels", "kernels", "written"]

# tanh(a + b), when q = exp(2 a) and k = exp(2 b) have been computed once a token. Four fractions
# are added over one denominator: one division serves four features. The bound on the product
# changes nothing that REAL could hold and keeps four of them in range.
EXP_SUM = "(p0 * (1.0 - (2.0 / ((q * k) + 1.0))))"
# the same when q = tanh(a) and k = tanh(b): exact for small a and b, where the other one cancels
TANH_SUM = "(p0 * ((q + k) / (1.0 + (q * k))))"

_FRACTIONS = """
@njit(inline="always", **_inner)
def phi4(qa, qb, qc, qd, ka, kb, kc, kd, p0a, p0b, p0c, p0d, p1a, p1b, p1c, p1d):
    xa, xb, xc, xd = {products}
    da, db, dc, dd = xa + REAL(1.0), xb + REAL(1.0), xc + REAL(1.0), xd + REAL(1.0)
    na, nb, nc, nd = {numerators}
    dab, dcd = da * db, dc * dd
    return {constant}((na * db + nb * da) * dcd + (nc * dd + nd * dc) * dab) / (dab * dcd)
"""
_SUM = """
@njit(inline="always", **_inner)
def phi4(qa, qb, qc, qd, ka, kb, kc, kd, p0a, p0b, p0c, p0d, p1a, p1b, p1c, p1d):
    return (phi(qa, ka, p0a, p1a) + phi(qb, kb, p0b, p1b)) + (
        phi(qc, kc, p0c, p1c) + phi(qd, kd, p0d, p1d)
    )
"""
_FOUR = {
    EXP_SUM: _FRACTIONS.format(
        products=", ".join(f"min(q{x} * k{x}, BOUND)" for x in "abcd"),
        numerators=", ".join(f"p0{x}" for x in "abcd"),
        constant="(p0a + p0b + p0c + p0d) - REAL(2.0) * ",
    ),
    TANH_SUM: _FRACTIONS.format(
        products=", ".join(f"q{x} * k{x}" for x in "abcd"),
        numerators=", ".join(f"p0{x} * (q{x} + k{x})" for x in "abcd"),
        constant="",
    ),
}
_SLOPES = {  # derivatives by hand, where the formula's own would cancel or divide too often
    Additive.PHI: dict.fromkeys("qk", "p0 * tanh_slope(q + k)"),
    EXP_SUM: {
        "q": "REAL(2.0) * p0 * k * square(REAL(1.0) / (q * k + REAL(1.0)))",
        "k": "REAL(2.0) * p0 * q * square(REAL(1.0) / (q * k + REAL(1.0)))",
    },
    TANH_SUM: {
        "q": "p0 * (REAL(1.0) - k * k) * square(REAL(1.0) / (q * k + REAL(1.0)))",
        "k": "p0 * (REAL(1.0) - q * q) * square(REAL(1.0) / (q * k + REAL(1.0)))",
    },
}

_HEADER = """\
from math import cos, sin, sqrt

from regard.attention.cpu.elementary import exp{bits} as exp, log{bits} as log, tanh{bits} as tanh

REAL = np.float{bits}
INF = REAL(np.inf)
BOUND = REAL({bound})
USES_P0 = {uses_p0}
USES_P1 = {uses_p1}

_inner = {{
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {{"contract", "reassoc", "nsz", "arcp"}},
}}


@njit(inline="always", **_inner)
def square(x):
    return x * x


@njit(inline="always", **_inner)
def tanh_slope(x):
    z = exp(REAL(-2.0) * abs(x))  # not 1 - tanh^2, which cancels
    return REAL(4.0) * z * square(REAL(1.0) / (REAL(1.0) + z))


@njit(inline="always", **_inner)
def power(x, c):
    return x**c


@njit(inline="always", **_inner)
def sign(x):
    return REAL(1.0) if x > REAL(0.0) else (REAL(-1.0) if x < REAL(0.0) else REAL(0.0))


@njit(inline="always", **_inner)
def select(condition, a, b):
    return a if condition else b  # both are computed: a choice of values, not of ways


@njit(inline="always", **_inner)
def minimum(a, b):
    return a if a < b else b


@njit(inline="always", **_inner)
def maximum(a, b):
    return a if a > b else b


@njit(inline="always", **_inner)
def phi(q, k, p0, p1):
    return REAL({phi})

{four}
"""
_SLOPE = """
@njit(inline="always", **_inner)
def phi_{name}(q, k, p0, p1):
    return REAL({slope})

"""
_OPEN, _CLOSE = "# <formula>\n", "# </formula>\n"


def written(phi: str, bits: int) -> str:
    """The source of ``formula.py`` for a formula, in float32 or float64."""
    text = Path(__file__).with_name("formula.py").read_text(encoding="utf-8")
    before, rest = text.split(_OPEN)
    _, after = rest.split(_CLOSE)
    formula = parse(phi)
    header = _HEADER.format(
        bits=bits,
        bound="1e8" if bits == 32 else "1e17",  # noqa: PLR2004 - float32
        phi=source(formula),
        uses_p0="p0" in phi,
        uses_p1="p1" in phi,
        four=_FOUR.get(phi, _SUM),
    )
    for name in NAMES:
        slope = _SLOPES.get(phi, {}).get(name) or source(derivative(formula, name))
        header += _SLOPE.format(name=name, slope=slope)
    return before + _OPEN + header + _CLOSE + after


class Kernels(NamedTuple):
    """The compiled functions for one formula and its number types."""

    score: ModuleType
    pull: ModuleType
    drivers: ModuleType

    def forward(self, *args: Any) -> None:  # noqa: ANN401 - see drivers.SIGNATURES
        """Run ``drivers.forward``."""
        _driver(self.drivers, "forward")(self.score.score_tile, *args)

    def scores(self, *args: Any) -> None:  # noqa: ANN401
        """Run ``drivers.scores``."""
        _driver(self.drivers, "scores")(self.score.score_tile, *args)

    def backward(self, *args: Any) -> None:  # noqa: ANN401
        """Run ``drivers.backward``."""
        _driver(self.drivers, "backward")(self.score.score_tile, self.pull.pull_tile, *args)


@lru_cache(maxsize=256)
def kernels(phi: str, bits: int, fine: int) -> Kernels:
    """The kernels of a formula, compiled when first wanted and then kept on disk.

    ``bits`` of the numbers in general, ``fine`` of the terms of a score.
    """
    return Kernels(_formula(phi, fine), _formula(phi, bits), _drivers(bits, fine))


@lru_cache(maxsize=256)
def _formula(phi: str, bits: int) -> ModuleType:
    return _loaded(written(phi, bits), "formula")


@lru_cache(maxsize=4)
def _drivers(bits: int, fine: int) -> ModuleType:
    text = Path(__file__).with_name("drivers.py").read_text(encoding="utf-8")
    text = text.replace("REAL = np.float32\n", f"REAL = np.float{bits}\n")
    text = text.replace("FINE = np.float32 ", f"FINE = np.float{fine} ")
    return _loaded(text.replace("import exp32 as exp", f"import exp{bits} as exp"), "drivers")


def _driver(drivers: ModuleType, name: str) -> Any:  # noqa: ANN401 - a numba dispatcher
    driver = getattr(drivers, name)
    if not driver.signatures:
        driver.compile(drivers.SIGNATURES[name])
    return driver


def _loaded(text: str, kind: str) -> ModuleType:
    # numba does not notice when a function that was compiled in has changed in another file
    beside = Path(__file__).with_name("elementary.py").read_bytes()
    return loaded(f"{text}# with elementary.py {hashlib.sha256(beside).hexdigest()[:16]}\n", kind)

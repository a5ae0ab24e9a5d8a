"""Kernels with an edge: a key further than one width away, in any feature, is not seen at all."""

from __future__ import annotations

import math
from dataclasses import dataclass

from regard.scores.elementwise import Kernel
from regard.scores.expression import Formula, cos, log, maximum, symbols, where

__all__ = ["Biweight", "Boxcar", "CosineKernel", "Epanechnikov", "Triangular", "Tricube"]

_q, _k, _p0, _ = symbols()
_u = _p0 * (_q - _k)
_TINY = (
    1e-30  # under the logarithm of what lies outside: the where drops it, its slope stays finite
)


def _inside(log_kernel: Formula) -> Formula:
    return where(abs(_u) < 1.0, log_kernel, -math.inf)


@dataclass(frozen=True, eq=False)
class Boxcar(Kernel):
    """K(u) = 1 for |u| <= 1: the plain mean of the neighbours."""

    PHI = str(where(abs(_u) <= 1.0, 0.0, -math.inf))


@dataclass(frozen=True, eq=False)
class Triangular(Kernel):
    """K(u) = 1 - |u| inside."""

    PHI = str(_inside(log(maximum(1.0 - abs(_u), _TINY))))


@dataclass(frozen=True, eq=False)
class Epanechnikov(Kernel):
    """K(u) = 1 - u^2 inside."""

    PHI = str(_inside(log(maximum(1.0 - _u * _u, _TINY))))


@dataclass(frozen=True, eq=False)
class Biweight(Kernel):
    """K(u) = (1 - u^2)^2 inside."""

    PHI = str(_inside(2.0 * log(maximum(1.0 - _u * _u, _TINY))))


@dataclass(frozen=True, eq=False)
class Tricube(Kernel):
    """K(u) = (1 - |u|^3)^3 inside."""

    PHI = str(_inside(3.0 * log(maximum(1.0 - abs(_u * _u * _u), _TINY))))


@dataclass(frozen=True, eq=False)
class CosineKernel(Kernel):
    """K(u) = cos(pi u / 2) inside; ``Cosine`` is another thing, the angle between q and k."""

    PHI = str(_inside(log(maximum(cos(math.pi / 2 * _u), _TINY))))

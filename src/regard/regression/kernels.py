"""The kernels: how much a point counts at a distance of u widths.

K(0) = 1 for all, so that no constant has to be carried: what numerator and denominator share
cancels. In several features a kernel is the product over the features.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from regard.regression.sums.base import Array

__all__ = ["KERNELS", "Kernel"]

Function = Callable[[Array], Array]


@dataclass(frozen=True)
class Kernel:
    """K(u), its logarithm and its derivative, with what rules of thumb need to know.

    Args:
        name: as users write it.
        k: K(u); 0 outside the support.
        dk: K'(u); where there are two, at a corner or an edge, the one in between or 0.
        log_k: log K(u); -inf outside the support.
        dlog_k: K'(u) / K(u), where K is nowhere 0, else None.
        log_step: log K(u + step) - log K(u), without the cancellation at large u; where K is
            nowhere 0, else None.
        support: K is 0 for |u| above it.
        integral: of K.
        energy: the integral of K^2.
        spread: the integral of u^2 K.

    """

    name: str
    k: Function
    dk: Function
    log_k: Function
    dlog_k: Function | None
    log_step: Callable[[Array, Array], Array] | None
    support: float
    integral: float
    energy: float
    spread: float

    @property
    def canonical(self) -> float:
        """The width at which this kernel smooths as much as another one at its own.

        For the kernel divided by its integral, (R / mu2^2)^(1/5): bias and variance of two kernels
        are in one proportion when their widths are in that of these numbers.
        """
        roughness = self.energy / self.integral**2
        variance = self.spread / self.integral
        return float((roughness / variance**2) ** 0.2)


def _fewer(u: Array, step: Array) -> Array:
    """|u + step| - |u|, from the step alone as long as both are on one side."""
    after = u + step
    return np.where(u * after >= 0, np.copysign(1.0, u + after) * step, np.abs(after) - np.abs(u))


def _matern(name: str, rate: float, thirds: float, moments: tuple[float, float, float]) -> Kernel:
    """(1 + s + thirds s^2) exp(-s), s = rate |u|."""

    def front(s: Array) -> Array:
        return 1 + s * (1 + thirds * s)

    def k(u: Array) -> Array:
        s = rate * np.abs(u)
        return np.asarray(front(s) * np.exp(-s))

    def dlog_k(u: Array) -> Array:
        s = rate * np.abs(u)
        slope = (2 * thirds - 1) * s - thirds * s * s
        return np.asarray(np.sign(u) * rate * slope / front(s))

    def dk(u: Array) -> Array:
        return dlog_k(u) * k(u)

    def log_k(u: Array) -> Array:
        s = rate * np.abs(u)
        return np.asarray(np.log1p(s * (1 + thirds * s)) - s)

    def log_step(u: Array, step: Array) -> Array:
        s = rate * np.abs(u)
        more = rate * _fewer(u, step)
        ratio = more * (1 + thirds * (2 * s + more)) / front(s)
        return np.asarray(np.log1p(np.maximum(ratio, -1.0)) - more)

    return Kernel(name, k, dk, log_k, dlog_k, log_step, math.inf, *moments)


def _compact(name: str, k: Function, dk: Function, moments: tuple[float, float, float]) -> Kernel:
    """Zero outside [-1, 1]."""

    def cut(u: Array) -> Array:
        inside = np.abs(u) <= 1
        return np.where(inside, k(np.where(inside, u, 1.0)), 0.0)

    def cut_dk(u: Array) -> Array:
        inside = np.abs(u) < 1
        return np.where(inside, dk(np.where(inside, u, 0.0)), 0.0)

    def log_k(u: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(cut(u))

    return Kernel(name, cut, cut_dk, log_k, None, None, 1.0, *moments)


def _gaussian_log_step(u: Array, step: Array) -> Array:
    return np.asarray(-step * (u + 0.5 * step))


def _laplace_log_step(u: Array, step: Array) -> Array:
    return -_fewer(u, step)


_HALF_PI = math.pi / 2
_TABLE = (
    Kernel(
        "gaussian",
        lambda u: np.exp(-0.5 * u * u),
        lambda u: -u * np.exp(-0.5 * u * u),
        lambda u: -0.5 * u * u,
        lambda u: -u,
        _gaussian_log_step,
        math.inf,
        math.sqrt(2 * math.pi),
        math.sqrt(math.pi),
        math.sqrt(2 * math.pi),
    ),
    Kernel(
        "laplace",
        lambda u: np.exp(-np.abs(u)),
        lambda u: -np.sign(u) * np.exp(-np.abs(u)),
        lambda u: -np.abs(u),
        lambda u: -np.sign(u),
        _laplace_log_step,
        math.inf,
        2.0,
        1.0,
        4.0,
    ),
    _matern("matern32", math.sqrt(3), 0.0, (4 / 3**0.5, 5 / (2 * 3**0.5), 16 / 3**1.5)),
    _matern("matern52", math.sqrt(5), 1 / 3, (16 / (3 * 5**0.5), 7 / (2 * 5**0.5), 32 / 5**1.5)),
    _compact("epanechnikov", lambda u: 1 - u * u, lambda u: -2 * u, (4 / 3, 16 / 15, 4 / 15)),
    _compact("boxcar", np.ones_like, np.zeros_like, (2.0, 2.0, 2 / 3)),
    _compact("triangular", lambda u: 1 - np.abs(u), lambda u: -np.sign(u), (1.0, 2 / 3, 1 / 6)),
    _compact(
        "tricube",
        lambda u: (1 - np.abs(u) ** 3) ** 3,
        lambda u: -9 * u * np.abs(u) * (1 - np.abs(u) ** 3) ** 2,
        (81 / 70, 6561 / 6916, 1 / 6),
    ),
    _compact(
        "biweight",
        lambda u: (1 - u * u) ** 2,
        lambda u: -4 * u * (1 - u * u),
        (16 / 15, 256 / 315, 16 / 105),
    ),
    _compact(
        "triweight",
        lambda u: (1 - u * u) ** 3,
        lambda u: -6 * u * (1 - u * u) ** 2,
        (32 / 35, 2048 / 3003, 32 / 315),
    ),
    _compact(
        "cosine",
        lambda u: np.cos(_HALF_PI * u),
        lambda u: -_HALF_PI * np.sin(_HALF_PI * u),
        (4 / math.pi, 1.0, 4 / math.pi - 32 / math.pi**3),
    ),
)
KERNELS = {kernel.name: kernel for kernel in _TABLE}

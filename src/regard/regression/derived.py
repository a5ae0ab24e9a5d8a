"""Kernels made from others: a user's own function, and squares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from regard.errors import KindError, ValueRangeError
from regard.regression.kernels import KERNELS, Kernel
from regard.regression.sums.base import Array

__all__ = ["custom", "kernel_of", "squared"]

STEP = 1e-5  # for derivatives by differences
SQUARES = {  # K(u)^2 is another kernel at another width
    "gaussian": ("gaussian", 0.5**0.5),
    "laplace": ("laplace", 0.5),
    "boxcar": ("boxcar", 1.0),
    "epanechnikov": ("biweight", 1.0),
}


def custom(function: Callable[[Array], Array]) -> Kernel:
    """A kernel from a function of u: K(u) >= 0 with K(0) above 0, an array in and one out."""
    probe = np.linspace(-8, 8, 4097)
    try:
        values = np.asarray(function(probe), dtype=np.float64)
    except Exception as cause:
        msg = f"kernel must be a function of an array u; called with one it failed: {cause}"
        raise KindError(msg) from cause
    if values.shape != probe.shape:
        msg = f"kernel must give one number for each u: {probe.shape} went in, {values.shape} came"
        raise ValueRangeError(msg)
    middle = float(values[len(probe) // 2])
    if not (np.isfinite(values).all() and (values >= 0).all() and middle > 0):
        msg = "kernel must give finite numbers, 0 or more, and more than 0 at u = 0"
        raise ValueRangeError(msg)

    def k(u: Array) -> Array:
        return np.asarray(function(u), dtype=np.float64) / middle

    def dk(u: Array) -> Array:
        return (k(u + STEP) - k(u - STEP)) / (2 * STEP)

    def log_k(u: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(k(u))

    scaled, gap = values / middle, probe[1] - probe[0]
    moments = (scaled.sum() * gap, np.square(scaled).sum() * gap, (probe**2 * scaled).sum() * gap)
    # an edge cannot be seen from outside: where sums are 0, no data are in reach
    return Kernel("custom", k, dk, log_k, None, None, np.inf, *map(float, moments))


def kernel_of(given: str | Callable[[Array], Array]) -> Kernel:
    """The kernel a user means, by its name or as a function."""
    if callable(given):
        return custom(given)
    if given not in KERNELS:
        names = ", ".join(repr(name) for name in KERNELS)
        msg = f"kernel must be one of {names}, or a function of u; got {given!r}"
        raise ValueRangeError(msg)
    return KERNELS[given]


def squared(kernel: Kernel) -> tuple[Kernel, float]:
    """K(u)^2 as a kernel, and how much narrower its width is."""
    if kernel.name in SQUARES:
        name, narrower = SQUARES[kernel.name]
        return KERNELS[name], narrower
    return (
        Kernel(
            f"{kernel.name} squared",
            lambda u: np.square(kernel.k(u)),
            lambda u: 2 * kernel.k(u) * kernel.dk(u),
            lambda u: 2 * kernel.log_k(u),
            None if kernel.dlog_k is None else _twice(kernel.dlog_k),
            None if kernel.log_step is None else _twice(kernel.log_step),
            kernel.support,
            kernel.energy,
            np.nan,
            np.nan,
        ),
        1.0,
    )


def _twice(f: Callable[..., Array]) -> Callable[..., Array]:
    return lambda *u: 2 * f(*u)

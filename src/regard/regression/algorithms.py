"""Which algorithm sums a kernel, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from regard.errors import ImplError
from regard.regression.kernels import KERNELS, Kernel
from regard.regression.sums import Sums
from regard.regression.sums.base import Array

__all__ = ["ALGORITHMS", "Plan", "plan"]

ALGORITHMS = ("auto", "fast", "window", "brute")
EXPONENTIAL = ("laplace", "matern32", "matern52")
FEW = 64  # data up to which nothing is faster than to sum them up


@dataclass(frozen=True)
class Plan:
    """An algorithm by its name, how it is made, and a word about it.

    ``make_plain`` makes it of values alone, where all weights are 1, if it can do without columns.
    """

    name: str
    make: Callable[[Array, Array, Array, float], Sums]
    about: str
    make_plain: Callable[[Array, Array, Array, float], Sums] | None = None


def plan(kernel: Kernel, n: int, d: int, degree: int, algorithm: str, device: str | None) -> Plan:
    """Choose; a name is used or refused, never swapped."""
    if device not in (None, "cpu"):
        if algorithm in ("fast", "window"):
            msg = f"algorithm={algorithm!r} runs on the CPU, and device is {device!r}"
            raise ImplError(msg)
        return _on(kernel, str(device))
    if algorithm == "brute" or (algorithm == "auto" and n <= FEW):
        return _brute(kernel)
    if algorithm == "auto":
        return _fast(kernel, d, degree) or _window(kernel, d, degree) or _brute(kernel)
    found = (_fast if algorithm == "fast" else _window)(kernel, d, degree)
    if found is None:
        have = {
            "fast": "fast is for gaussian in up to 3 features and laplace, matern32, matern52 in 1",
            "window": "window is for the kernels with an edge, in 1 feature",
        }[algorithm]
        msg = (
            f"algorithm={algorithm!r} cannot sum the {kernel.name} kernel in {d} features with "
            f"degree {degree}: {have}; use 'auto' or 'brute'"
        )
        raise ImplError(msg)
    return found


def _fast(kernel: Kernel, d: int, degree: int) -> Plan | None:
    if kernel.name == "gaussian" and d == 1:
        from regard.regression.sums.gaussian_line import GaussianLine  # noqa: PLC0415 - numba

        about = "box moments and local polynomials, linear in n"
        return Plan("fast", GaussianLine, about, partial(GaussianLine, plain=True))
    if kernel.name == "gaussian" and d in (2, 3) and not degree:
        from regard.regression.sums.gaussian_grid import GaussianGrid  # noqa: PLC0415 - numba

        return Plan("fast", GaussianGrid, "box moments on a grid, linear in n")
    if kernel.name in EXPONENTIAL and d == 1:
        from regard.regression.sums.recursion import ExponentialLine  # noqa: PLC0415 - numba

        return Plan("fast", _with(ExponentialLine, kernel), "two recursions over sorted data")
    return None


def _window(kernel: Kernel, d: int, degree: int) -> Plan | None:  # noqa: ARG001 - as _fast
    if kernel.name not in KERNELS or kernel.support == float("inf") or d != 1:
        return None
    from regard.regression.sums.sweep import CompactLine  # noqa: PLC0415 - numba

    return Plan("window", _with(CompactLine, kernel), "a sweep over sorted data")


def _brute(kernel: Kernel) -> Plan:
    from regard.regression.sums.tiled import Tiled  # noqa: PLC0415 - numba

    return Plan("brute", _with(Tiled, kernel), "every pair, in tiles")


def _on(kernel: Kernel, device: str) -> Plan:
    from regard.regression.sums.device import OnDevice  # noqa: PLC0415 - torch

    def make(x: Array, columns: Array, width: Array, tol: float) -> Sums:
        return OnDevice(x, columns, width, tol, kernel=kernel, device=device)

    return Plan("brute", make, f"every pair, in tiles, on {device}")


def _with(kind: type[Sums], kernel: Kernel) -> Callable[[Array, Array, Array, float], Sums]:
    def make(x: Array, columns: Array, width: Array, tol: float) -> Sums:
        return kind(x, columns, width, tol, kernel=kernel)  # type: ignore[call-arg]

    return make

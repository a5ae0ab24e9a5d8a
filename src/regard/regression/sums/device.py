"""The sums on another device, every pair in tiles: for what only a GPU is fast enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi, sqrt

import numpy as np
import torch
from torch import Tensor

from regard.errors import ImplError
from regard.regression.kernels import Kernel
from regard.regression.sums.base import Array, Found, Kind, Sums

__all__ = ["OnDevice"]

AT_ONCE = 1 << 25  # pair-features in memory

Function = Callable[[Tensor], Tensor]


def _inside(log_k: Function, dlog_k: Function) -> tuple[Function, Function]:
    """-inf and 0 beyond the edge."""

    def cut(u: Tensor) -> Tensor:
        there = u.abs() <= 1
        return torch.where(there, log_k(torch.where(there, u, 0)), -torch.inf)

    def cut_d(u: Tensor) -> Tensor:
        there = u.abs() < 1
        return torch.where(there, dlog_k(torch.where(there, u, 0)), 0)

    return cut, cut_d


def _matern(rate: float, third: float) -> tuple[Function, Function]:
    def log_k(u: Tensor) -> Tensor:
        s = rate * u.abs()
        return torch.log1p(s * (1 + third * s)) - s

    def dlog_k(u: Tensor) -> Tensor:
        s = rate * u.abs()
        return u.sign() * rate * ((2 * third - 1) * s - third * s * s) / (1 + s * (1 + third * s))

    return log_k, dlog_k


# the logarithm of each kernel, and its derivative
_FORMULAS: dict[str, tuple[Function, Function]] = {
    "gaussian": (lambda u: -0.5 * u * u, lambda u: -u),
    "laplace": (lambda u: -u.abs(), lambda u: -u.sign()),
    "matern32": _matern(sqrt(3), 0.0),
    "matern52": _matern(sqrt(5), 1 / 3),
    "boxcar": _inside(torch.zeros_like, torch.zeros_like),
    "triangular": _inside(lambda u: torch.log1p(-u.abs()), lambda u: -u.sign() / (1 - u.abs())),
    "epanechnikov": _inside(lambda u: torch.log1p(-u * u), lambda u: -2 * u / (1 - u * u)),
    "biweight": _inside(lambda u: 2 * torch.log1p(-u * u), lambda u: -4 * u / (1 - u * u)),
    "triweight": _inside(lambda u: 3 * torch.log1p(-u * u), lambda u: -6 * u / (1 - u * u)),
    "tricube": _inside(
        lambda u: 3 * torch.log1p(-(u.abs() ** 3)), lambda u: -9 * u * u.abs() / (1 - u.abs() ** 3)
    ),
    "cosine": _inside(
        lambda u: torch.cos(u * pi / 2).log(), lambda u: -pi / 2 * torch.tan(u * pi / 2)
    ),
}


class OnDevice(Sums):
    """Any kernel of the table, any number of features, in float64 on any device of torch."""

    def __init__(
        self,
        x: Array,
        columns: Array,
        width: Array,
        tol: float,
        *,
        kernel: Kernel,
        device: str,
    ) -> None:
        if kernel.name not in _FORMULAS:
            msg = f"on {device} the kernels with a name can be summed, not {kernel.name!r}"
            raise ImplError(msg)
        self._log_k, self._dlog_k = _FORMULAS[kernel.name]
        self._device = torch.device(device)
        there = columns[:, 0] > 0
        self._there = there
        self._x, self._columns, self._width = (
            torch.from_numpy(np.ascontiguousarray(a)).to(self._device) for a in (x, columns, width)
        )
        self._absent = ~torch.from_numpy(there).to(self._device)

    def at(self, q: Array, kinds: Sequence[Kind] = ("k",), *, leave_out: bool = False) -> Found:
        (m, d), (n, c) = q.shape, self._columns.shape
        sums = {kind: np.zeros((m, c) if kind == "k" else (m, c, d)) for kind in kinds}
        log_scale = np.zeros(m)
        step = max(AT_ONCE // max(n * d, 1), 1)
        for start in range(0, m, step):
            rows = slice(start, min(start + step, m))
            some = torch.from_numpy(np.ascontiguousarray(q[rows])).to(self._device)
            u = (some[:, None] - self._x) / self._width  # [r, n, d]
            logs = self._log_k(u).sum(-1).masked_fill(self._absent, -torch.inf)
            if leave_out:
                here = torch.arange(rows.start, rows.stop, device=self._device)
                logs[here - rows.start, here] = -torch.inf
            top = logs.max(-1, keepdim=True).values if n else logs.new_zeros(len(some), 1)
            top = torch.where(top.isfinite(), top, 0)
            k = (logs - top).exp()
            log_scale[rows] = top[:, 0].cpu().numpy()
            for kind in kinds:
                sums[kind][rows] = self._summed(kind, k, u).cpu().numpy()
        return Found(sums, log_scale)

    def _summed(self, kind: Kind, k: Tensor, u: Tensor) -> Tensor:
        if kind == "k":
            return k @ self._columns
        front = self._dlog_k(u) if kind in ("dk", "udk") else torch.ones_like(u)
        if kind in ("uk", "udk"):
            front = front * u
        elif kind == "uuk":
            front = front * u * u
        return torch.einsum("rn,rnd,nc->rcd", k, front, self._columns)

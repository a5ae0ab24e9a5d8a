"""Widths learned as a network would: by the gradient of its error through ``attend``."""

from __future__ import annotations

from math import sqrt

import numpy as np
import torch
from torch import Tensor

from regard.attention.api import attend
from regard.errors import ValueRangeError
from regard.masks import NotSelf
from regard.regression.bandwidth import Path, Scored
from regard.regression.sums.base import Array
from regard.scores import (
    Biweight,
    Boxcar,
    CosineKernel,
    Elementwise,
    Epanechnikov,
    Gaussian,
    Laplacian,
    Score,
    Triangular,
    Tricube,
)
from regard.scores.expression import Formula, log, where

__all__ = ["learn", "score_of"]

_SCORES = {
    "gaussian": Gaussian,
    "laplace": Laplacian,
    "boxcar": Boxcar,
    "triangular": Triangular,
    "epanechnikov": Epanechnikov,
    "biweight": Biweight,
    "tricube": Tricube,
    "cosine": CosineKernel,
}


def _matern32(q: Formula, k: Formula, sharp: Formula) -> Formula:
    s = sqrt(3) * abs(q - k) * sharp
    return log(1 + s) - s


def _matern52(q: Formula, k: Formula, sharp: Formula) -> Formula:
    s = sqrt(5) * abs(q - k) * sharp
    return log(1 + s + s * s / 3) - s


def _triweight(q: Formula, k: Formula, sharp: Formula) -> Formula:
    u = (q - k) * sharp
    return where(u * u < 1, 3 * log(where(u * u < 1, 1 - u * u, 1)), -float("inf"))


_FORMULAS = {"matern32": _matern32, "matern52": _matern52, "triweight": _triweight}


def score_of(name: str, width: Tensor) -> Score:
    """The kernel of that name as a score of ``attend``."""
    if name in _SCORES:
        return _SCORES[name](width)
    if name in _FORMULAS:
        return Elementwise(_FORMULAS[name], p0=1 / width)
    msg = f"bandwidth='learn' knows the kernels by name, not {name!r}; use 'loo'"
    raise ValueRangeError(msg)


def learn(  # type: ignore[no-untyped-def]
    data,  # noqa: ANN001 - a Smoother, which imports nothing from here
    base: Array,
    low: float,
    high: float,
    most: int,
    *,
    per_feature: bool,
) -> Path:
    """Follow the gradient of the leave-one-out error in the logarithm of the width.

    From three starts, since there may be several valleys; each by L-BFGS.
    """
    if data.degree:
        msg = "bandwidth='learn' is for degree 0; use 'loo' or 'aicc' for lines"
        raise ValueRangeError(msg)
    x, y, weight = (
        torch.from_numpy(np.ascontiguousarray(a)) for a in (data.x, data.y, data.weight)
    )
    columns = torch.column_stack((weight, weight[:, None] * y))
    start = torch.from_numpy(np.log(base))
    score_of(data.kernel.name, start)  # a kernel it does not know is told before any work
    path = Path()
    least, largest = float(np.log(low)), float(np.log(high))

    def error(shift: Tensor) -> Tensor:
        # inside the bounds, smoothly at them
        kept = least + (largest - least) * torch.sigmoid(shift)
        width = (start + kept).exp()
        sums = attend(x, x, columns, score=score_of(data.kernel.name, width), mask=NotSelf())
        mass = sums[:, :1]
        rest = weight.sum() - weight
        mean = ((columns.sum(0)[1:] - columns[:, 1:]) / rest[:, None]).nan_to_num()
        found = torch.where(mass > 0, sums[:, 1:] / torch.where(mass > 0, mass, 1), mean)
        loss = (weight @ (found - y).square().sum(1)) / (weight.sum() * y.shape[1])
        slope = torch.autograd.grad(loss, width, retain_graph=True)[0] * width
        path.tried.append(
            Scored(width.detach().numpy().copy(), loss.item(), slope.detach().numpy().copy())
        )
        return loss

    for begin in (-0.5, -2.0, 0.5):  # in the logarithm of the rule of thumb
        share = (begin - least) / (largest - least)
        share = min(max(share, 0.02), 0.98)
        size = len(base) if per_feature else 1
        shift = torch.full((size,), float(np.log(share / (1 - share))), dtype=torch.float64)
        shift.requires_grad_()
        walker = torch.optim.LBFGS(
            [shift], max_iter=most, tolerance_grad=1e-10, line_search_fn="strong_wolfe"
        )

        def closure(shift: Tensor = shift, walker: torch.optim.Optimizer = walker) -> Tensor:
            walker.zero_grad()
            loss = error(shift)
            loss.backward()  # type: ignore[no-untyped-call]
            return loss

        walker.step(closure)  # type: ignore[no-untyped-call]
    best = path.best.width / base
    path.on_edge = bool((best < low * 1.01).any() or (best > high * 0.99).any())
    return path

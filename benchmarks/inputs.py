"""The data of a case: made once, the same numbers every time."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.cases import Case
from regard import Additive, Dot, Gaussian, Lengths, Window
from regard.masks import Mask
from regard.scores import Score

__all__ = ["Inputs", "make_inputs"]


@dataclass(frozen=True)
class Inputs:
    """The data of a case."""

    q: Tensor
    k: Tensor
    v: Tensor
    w: Tensor | None  # what the additive score learns
    dout: Tensor
    score: Score
    mask: Mask | None

    @property
    def learns(self) -> dict[str, Tensor]:
        """What a gradient is asked for."""
        named = {"dq": self.q, "dk": self.k, "dv": self.v}
        return named if self.w is None else named | {"dw": self.w}


def make_inputs(case: Case, dtype: torch.dtype = torch.float32) -> Inputs:
    """The same numbers every time, in float32's precision whatever the dtype."""
    size, seeded = case.shape, torch.Generator().manual_seed(0)

    def normal(*shape: int) -> Tensor:
        x = torch.randn(*shape, generator=seeded).to(dtype)
        return x.requires_grad_(case.direction == "forward+backward")

    q, k = normal(*size.lead, size.n, size.d), normal(*size.lead, size.m, size.d)
    v, dout = normal(*size.lead, size.m, size.dv), normal(*size.lead, size.n, size.dv)
    w = normal(size.d) if case.score == "additive" else None
    score = Gaussian() if case.score == "gaussian" else Dot() if w is None else Additive(w)
    return Inputs(q, k, v, w, dout.detach(), score, _mask(case, seeded))


def _mask(case: Case, seeded: torch.Generator) -> Mask | None:
    if case.mask == "window":
        return Window(64, 64)
    if case.mask == "lengths":
        half = case.shape.m // 2
        drawn = torch.randint(1, half, (case.shape.batch // 2,), generator=seeded)
        return Lengths(torch.cat((drawn, half - drawn)))  # in pairs: the mean is m / 4, not by luck
    return None

"""A dot product that is kept within bounds: what some language models have."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.scores import Score

__all__ = ["Capped"]


@dataclass(frozen=True, eq=False)
class Capped(Score):
    """score(q, k) = cap * tanh(scale * <q, k> / cap): at most cap, at least -cap.

    No kernel knows it, since it is no sum over features; it is for looking.

    >>> import torch
    >>> Capped(1.0, 2.0).pairwise(torch.tensor([[100.0]]), torch.tensor([[1.0], [-1.0]])).tolist()
    [[2.0, -2.0]]
    """

    scale: float
    cap: float

    def pairwise(self, q: Tensor, k: Tensor) -> Tensor:
        return (q @ k.transpose(-1, -2) * (self.scale / self.cap)).tanh() * self.cap

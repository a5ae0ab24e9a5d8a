"""No preference: average pooling."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.scores.base import Form, Score

__all__ = ["Uniform"]


@dataclass(frozen=True, eq=False)
class Uniform(Score):
    """score(q, k) = 0: every visible key counts the same, whatever the query.

    >>> import torch
    >>> from regard import Uniform, attend
    >>> q, k, v = torch.zeros(1, 3), torch.zeros(4, 5), torch.tensor([[1.0], [2.0], [3.0], [6.0]])
    >>> attend(q, k, v, score=Uniform()).tolist()
    [[3.0]]
    """

    def check(self, q: Tensor, k: Tensor) -> None:
        """Any widths do: neither is looked at."""

    def form(self, q: Tensor, k: Tensor) -> Form:
        return Form(q[..., :0], k[..., :0])  # a sum over no features

    def pairwise(self, q: Tensor, k: Tensor) -> Tensor:
        return q.new_zeros(*q.shape[:-1], k.shape[-2])

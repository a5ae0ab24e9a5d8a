"""The angle between query and key."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import normalize

from regard.scores.base import Form, Score, check_positive, finite_rows

__all__ = ["Cosine"]

_EPS = 1e-6  # the length below which a vector counts as having no direction


def _direction(x: Tensor) -> Tensor:
    return normalize(x, dim=-1, eps=_EPS)


@dataclass(frozen=True, eq=False)
class Cosine(Score):
    """score(q, k) = <q, k> / (|q| |k| temperature); a zero vector scores 0 with everything."""

    temperature: float = 1.0

    def __post_init__(self) -> None:
        check_positive("Cosine", "temperature", self.temperature)

    def form(self, q: Tensor, k: Tensor) -> Form:
        q, k = finite_rows(_direction, q), finite_rows(_direction, k)
        if isinstance(self.temperature, Tensor):
            heat = self.temperature.to(q.dtype)
            return Form(finite_rows(lambda x: x / heat, q), k)
        return Form(q, k, scale=1 / self.temperature)

    def pairwise(self, q: Tensor, k: Tensor) -> Tensor:
        return _direction(q) @ _direction(k).transpose(-1, -2) / self.temperature

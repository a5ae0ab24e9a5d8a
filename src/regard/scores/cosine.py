"""The angle between query and key."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import normalize

from regard.scores.base import Form, Score, check_positive, finite_rows, parameter
from regard.scores.dot import SCALED_DOT

__all__ = ["Cosine"]

_EPS = 1e-6  # the length below which a vector counts as having no direction


def _direction(x: Tensor) -> Tensor:
    return normalize(x, dim=-1, eps=_EPS)


@dataclass(frozen=True, eq=False)
class Cosine(Score):
    """score(q, k) = <q, k> / (|q| |k| temperature); a zero vector scores 0 with everything.

    Args:
        temperature: a number, or a tensor that learns: one for all, or one a head [heads, 1].

    """

    temperature: float | Tensor = 1.0

    def __post_init__(self) -> None:
        check_positive("Cosine", "temperature", self.temperature)

    def form(self, q: Tensor, k: Tensor) -> Form:
        q, k = (finite_rows(lambda x: _direction(x.double()).to(x.dtype), x) for x in (q, k))
        if isinstance(self.temperature, Tensor):
            p0 = 1 / parameter("Cosine", "temperature", self.temperature, q)
            return Form(q, k, SCALED_DOT, p0)
        return Form(q, k, scale=1 / self.temperature)

    def pairwise(self, q: Tensor, k: Tensor) -> Tensor:
        s = _direction(q) @ _direction(k).transpose(-1, -2)
        if not isinstance(self.temperature, Tensor):
            return s / self.temperature
        heat = self.temperature.to(q.dtype)
        return s / (heat.unsqueeze(-1) if heat.ndim else heat)  # [heads, 1] beside [heads, n, m]

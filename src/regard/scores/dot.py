"""The scaled dot product."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.scores.base import Form, Score, finite_rows

__all__ = ["Dot"]


@dataclass(frozen=True, eq=False)
class Dot(Score):
    """score(q, k) = scale * <q, k>  (Vaswani et al. 2017).

    Args:
        scale: a number, a tensor of one element that learns, or None for 1 / sqrt(d).
    """

    scale: float | Tensor | None = None

    def __post_init__(self) -> None:
        if isinstance(self.scale, Tensor):
            if self.scale.numel() != 1:
                msg = f"Dot: scale must have one element, got the shape {list(self.scale.shape)}"
                raise ShapeError(msg)
        elif self.scale is not None:
            if isinstance(self.scale, bool) or not isinstance(self.scale, (int, float)):
                msg = f"Dot: scale must be a number or a tensor, got {type(self.scale).__name__}"
                raise KindError(msg)
            if not abs(self.scale) < float("inf"):
                msg = f"Dot: scale must be finite, got {self.scale!r}"
                raise ValueRangeError(msg)

    def _scale(self, q: Tensor) -> float | Tensor:
        if self.scale is None:
            return float(max(q.shape[-1], 1)) ** -0.5
        return self.scale.to(q.dtype).reshape(()) if isinstance(self.scale, Tensor) else self.scale

    def form(self, q: Tensor, k: Tensor) -> Form:
        scale = self._scale(q)
        if isinstance(scale, Tensor):
            return Form(finite_rows(lambda x: x * scale, q), k)
        return Form(q, k, scale=scale)

    def pairwise(self, q: Tensor, k: Tensor) -> Tensor:
        return q @ k.transpose(-1, -2) * self._scale(q)

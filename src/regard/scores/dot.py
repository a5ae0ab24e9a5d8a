"""The scaled dot product."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.scores.base import Form, Score, parameter

__all__ = ["SCALED_DOT", "Dot"]

SCALED_DOT = "(p0 * (q * k))"  # with a scale that learns


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

    def form(self, q: Tensor, k: Tensor) -> Form:
        if isinstance(self.scale, Tensor):
            return Form(q, k, SCALED_DOT, parameter("Dot", "scale", self.scale.reshape(()), q))
        return Form(q, k, scale=self._number(q))

    def pairwise(self, q: Tensor, k: Tensor) -> Tensor:
        scale = self.scale
        scale = scale.to(q.dtype).reshape(()) if isinstance(scale, Tensor) else self._number(q)
        return q @ k.transpose(-1, -2) * scale

    def _number(self, q: Tensor) -> float:
        assert not isinstance(self.scale, Tensor)
        return float(max(q.shape[-1], 1)) ** -0.5 if self.scale is None else self.scale

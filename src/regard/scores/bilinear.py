"""The bilinear score: a dot product through a matrix."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.errors import KindError, ShapeError
from regard.scores.base import Form, Score, finite_rows

__all__ = ["Bilinear"]


@dataclass(frozen=True, eq=False)
class Bilinear(Score):
    """score(q, k) = <q W, k>  (Luong et al. 2015, "general").

    Args:
        W: [d, e]; queries and keys may have different widths.

    """

    W: Tensor

    def __post_init__(self) -> None:
        if not isinstance(self.W, Tensor):
            msg = f"Bilinear: W must be a tensor, got {type(self.W).__name__}"
            raise KindError(msg)
        if self.W.ndim != 2:  # noqa: PLR2004 - a matrix
            msg = f"Bilinear: W must be a matrix [d, e], got the shape {list(self.W.shape)}"
            raise ShapeError(msg)

    def check(self, q: Tensor, k: Tensor) -> None:
        if tuple(self.W.shape) != (q.shape[-1], k.shape[-1]):
            msg = (
                f"Bilinear: W must be [d, e] = {[q.shape[-1], k.shape[-1]]} for these q and k, "
                f"got {list(self.W.shape)}"
            )
            raise ShapeError(msg)

    def form(self, q: Tensor, k: Tensor) -> Form:
        # in float64: a rounding here meets every key, and W's gradient is a long sum
        return Form(finite_rows(lambda x: (x.double() @ self.W.double()).to(x.dtype), q), k)

    def pairwise(self, q: Tensor, k: Tensor) -> Tensor:
        return q @ self.W.to(q.dtype) @ k.transpose(-1, -2)

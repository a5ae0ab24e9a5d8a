"""The additive score of Bahdanau's translator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from regard.errors import KindError
from regard.scores.base import parameter
from regard.scores.elementwise import FeatureSum
from regard.scores.expression import symbols, tanh

__all__ = ["Additive"]

_q, _k, _p0, _ = symbols()


@dataclass(frozen=True, eq=False)
class Additive(FeatureSum):
    """score(q, k) = <w, tanh(q + k)>  (Bahdanau et al. 2014).

    q and k are the projected query and key, of one width h. No implementation but the reference
    makes the n x m x h tensor of the textbook form.

    Args:
        w: [h], or one row a head [heads, h].

    """

    w: Tensor
    PHI: ClassVar[str] = str(_p0 * tanh(_q + _k))

    def __post_init__(self) -> None:
        if not isinstance(self.w, Tensor):
            msg = f"Additive: w must be a tensor, got {type(self.w).__name__}"
            raise KindError(msg)

    @property
    def formula(self) -> str:
        return self.PHI

    def parameters(self, q: Tensor) -> tuple[Tensor, None]:
        return parameter("Additive", "w", self.w, q), None

    def pairwise(self, q: Tensor, k: Tensor) -> Tensor:
        w = parameter("Additive", "w", self.w, q).to(q.dtype)
        features = (q.unsqueeze(-2) + k.unsqueeze(-3)).tanh()
        if w.ndim == 1 and w.numel() == q.shape[-1]:
            return features @ w
        return (features * (w.unsqueeze(-2).unsqueeze(-2) if w.ndim else w)).sum(-1)

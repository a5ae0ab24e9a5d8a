"""Attention in several heads, each with its own score: dot products, additive, kernels."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.errors import KindError, ValueRangeError
from regard.layers.base import Attending
from regard.layers.relative import RelativePositions
from regard.masks import Mask
from regard.scores import Additive, Cauchy, Cosine, Dot, Gaussian, Laplacian, Score
from regard.scores.elementwise import Kernel

__all__ = ["Heads"]

_KERNELS: dict[str, type[Kernel]] = {"gaussian": Gaussian, "laplacian": Laplacian, "cauchy": Cauchy}
_NAMES = ("dot", "additive", "cosine", *_KERNELS)


class Heads(Attending):
    """Heads side by side, with what their score has to learn.

    Args:
        num_heads: how many.
        width: the features of a head.
        dropout: the part of the weights left out while training.
        score: "dot"; "additive" learns a vector a head; "cosine" learns one scale; "gaussian",
            "laplacian" and "cauchy" learn a width a head; or any score of ``regard.scores``.
        positions: ``ALiBi`` or ``RelativeBias``, added to the scores.

    """

    def __init__(
        self,
        num_heads: int,
        width: int,
        dropout: float = 0.0,
        score: str | Score = "dot",
        positions: RelativePositions | None = None,
    ) -> None:
        super().__init__(dropout)
        self.positions = positions
        self.kind = score
        if isinstance(score, Score):
            for i, x in enumerate(score.tensors):  # what it learns is learned with the layer
                if isinstance(x, nn.Parameter):
                    self.register_parameter(f"of_score_{i}", x)
            return
        if not isinstance(score, str):
            hint = f"; did you mean {score.__name__}()?" if isinstance(score, type) else ""
            msg = f"score must be a name or a score of regard.scores, got {score!r}{hint}"
            raise KindError(msg)
        if score not in _NAMES:
            names = ", ".join(repr(name) for name in _NAMES)
            msg = f"score must be one of {names}, or a score of regard.scores; got {score!r}"
            raise ValueRangeError(msg)
        if score == "additive":
            self.w = nn.Parameter(torch.empty(num_heads, width).uniform_(-1, 1) * width**-0.5)
        elif score == "cosine":
            self.log_scale = nn.Parameter(torch.tensor(2.0))  # e^2: a cosine of 1 against 0
        elif score in _KERNELS:
            # squared distances of unit features grow with d: sqrt(d) keeps scores of order 1
            self.log_width = nn.Parameter(torch.full((num_heads, 1), width**0.5).log())

    def score(self, offset: int = 0) -> Score:
        """The score as it is now; query 0 stands at ``offset`` among the keys."""
        found = self._plain_score()
        return found if self.positions is None else found + self.positions.bias(offset)

    def _plain_score(self) -> Score:
        if isinstance(self.kind, Score):
            return self.kind
        if self.kind == "additive":
            return Additive(self.w)
        if self.kind == "cosine":
            return Cosine(self.log_scale.exp())
        if self.kind in _KERNELS:
            return _KERNELS[self.kind](self.log_width.exp())
        return Dot()

    def forward(
        self,
        q: Float[Tensor, "b heads n d"],
        k: Float[Tensor, "b heads m d"],
        v: Float[Tensor, "b heads m v"],
        mask: Mask | None = None,
        offset: int = 0,
    ) -> Float[Tensor, "b heads n v"]:
        """Average the values, head by head."""
        return self.attend(q, k, v, score=self.score(offset), mask=mask)

    @property
    def attention_weights(self) -> Float[Tensor, "b*heads n m"]:
        """The weights of the last call, all heads of the first sequence, then of the next."""
        return self.weights_by_head.flatten(0, 1)

    @property
    def weights_by_head(self) -> Float[Tensor, "b heads n m"]:
        """The weights of the last call."""
        return super().attention_weights

"""Scaled dot-product attention (Vaswani et al. 2017)."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from regard.layers.base import Attending
from regard.layers.softmax import mask_of
from regard.masks import Mask
from regard.scores import Dot

__all__ = ["DotProductAttention"]


class DotProductAttention(Attending):
    """score(q, k) = <q, k> / sqrt(d). It has nothing to learn.

    Args:
        dropout: the part of the weights left out while training.

    >>> import torch
    >>> from regard.layers import DotProductAttention
    >>> attention = DotProductAttention(dropout=0.5).eval()
    >>> queries, keys = torch.randn(2, 1, 2), torch.ones(2, 10, 2)
    >>> values = torch.arange(40.0).reshape(1, 10, 4).repeat(2, 1, 1)
    >>> attention(queries, keys, values, torch.tensor([2, 6])).round().tolist()
    [[[2.0, 3.0, 4.0, 5.0]], [[10.0, 11.0, 12.0, 13.0]]]

    """

    def __init__(self, dropout: float) -> None:
        super().__init__(dropout)

    def forward(
        self,
        queries: Float[Tensor, "*b n d"],
        keys: Float[Tensor, "*b m d"],
        values: Float[Tensor, "*b m v"],
        valid_lens: Tensor | None = None,
        *,
        mask: Mask | None = None,
    ) -> Float[Tensor, "*b n v"]:
        """Average the values; ``valid_lens`` [b] or [b, n] says how many keys are real."""
        return self.attend(queries, keys, values, score=Dot(), mask=mask_of(valid_lens, mask))

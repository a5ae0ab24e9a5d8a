"""Additive attention: query and key meet in a hidden layer (Bahdanau et al. 2014)."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.base import Attending, check_input, check_size, projected
from regard.layers.softmax import mask_of
from regard.masks import Mask
from regard.scores import Additive

__all__ = ["AdditiveAttention"]


class AdditiveAttention(Attending):
    """score(q, k) = <w_v, tanh(W_q q + W_k k)>; queries and keys may differ in width.

    On the CPU the n x m x h tensor of the textbook form is never made.

    Args:
        key_size, query_size: the widths of keys and queries.
        num_hiddens: the width of the hidden layer, h.
        dropout: the part of the weights left out while training.

    >>> import torch
    >>> from regard.layers import AdditiveAttention
    >>> attention = AdditiveAttention(key_size=2, query_size=20, num_hiddens=8, dropout=0.1).eval()
    >>> queries, keys = torch.randn(2, 1, 20), torch.ones(2, 10, 2)
    >>> values = torch.arange(40.0).reshape(1, 10, 4).repeat(2, 1, 1)
    >>> attention(queries, keys, values, torch.tensor([2, 6])).round().tolist()
    [[[2.0, 3.0, 4.0, 5.0]], [[10.0, 11.0, 12.0, 13.0]]]
    >>> attention.attention_weights.shape
    torch.Size([2, 1, 10])

    """

    def __init__(self, key_size: int, query_size: int, num_hiddens: int, dropout: float) -> None:
        super().__init__(dropout)
        for name, size in (
            ("key_size", key_size),
            ("query_size", query_size),
            ("num_hiddens", num_hiddens),
        ):
            check_size("AdditiveAttention", name, size)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)

    def forward(
        self,
        queries: Float[Tensor, "b n d"],
        keys: Float[Tensor, "b m e"],
        values: Float[Tensor, "b m v"],
        valid_lens: Tensor | None = None,
        *,
        mask: Mask | None = None,
    ) -> Float[Tensor, "b n v"]:
        """Average the values; ``valid_lens`` [b] or [b, n] says how many keys are real."""
        check_input("AdditiveAttention", "keys", keys, "b m e", self.W_k.in_features)
        seen = mask_of(valid_lens, mask)
        return self.over(projected(self.W_k, keys, seen), queries, values, seen)

    def over(
        self,
        keys: Float[Tensor, "b m h"],
        queries: Float[Tensor, "b n d"],
        values: Float[Tensor, "b m v"],
        mask: Mask | None = None,
    ) -> Float[Tensor, "b n v"]:
        """As ``forward``, over keys projected before: ``W_k(keys)``, once for many calls."""
        check_input("AdditiveAttention", "queries", queries, "b n d", self.W_q.in_features)
        score = Additive(self.w_v.weight[0])
        return self.attend(self.W_q(queries), keys, values, score=score, mask=mask)

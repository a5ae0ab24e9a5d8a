"""A set becomes one vector: a learned query asks, every member answers."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.base import check_input, check_size
from regard.layers.multihead import MultiHeadAttention
from regard.masks import Mask
from regard.scores import Score

__all__ = ["AttentionPooling"]


class AttentionPooling(nn.Module):
    """Average the members of a set, weighed by what learned queries look for (Lee et al. 2019).

    The order of the members does not matter. An empty set gives zeros: no projection has a bias.

    Args:
        width: the features of a member, and of what comes out.
        num_queries: how many vectors a set becomes.
        num_heads: how many looks a query has; width is a multiple of it.
        dropout: the part of the weights left out while training.
        score: how a query and a member compare; see ``regard.layers.heads.Heads``.

    >>> import torch
    >>> from regard.layers.pooling import AttentionPooling
    >>> pool = AttentionPooling(width=8, score="additive")
    >>> members = torch.randn(3, 5, 8)
    >>> pool(members, torch.tensor([5, 2, 0])).shape
    torch.Size([3, 8])
    >>> [round(x, 3) for x in pool.attention_weights.sum(-1).flatten().tolist()]
    [1.0, 1.0, 0.0]

    """

    def __init__(
        self,
        width: int,
        num_queries: int = 1,
        num_heads: int = 1,
        dropout: float = 0.0,
        *,
        score: str | Score = "dot",
    ) -> None:
        super().__init__()
        check_size("AttentionPooling", "width", width)
        check_size("AttentionPooling", "num_queries", num_queries)
        self.query = nn.Parameter(torch.randn(num_queries, width))
        self.attention = MultiHeadAttention(
            width, width, width, width, num_heads, dropout, score=score
        )

    def forward(
        self,
        members: Float[Tensor, "b n d"],
        valid_lens: Tensor | None = None,
        *,
        mask: Mask | None = None,
    ) -> Float[Tensor, "b d"] | Float[Tensor, "b queries d"]:
        """[b, d] for one query, else [b, queries, d]; ``valid_lens`` [b] members are real."""
        check_input("AttentionPooling", "members", members, "b n d", self.query.shape[1])
        queries = self.query.expand(members.shape[0], -1, -1)
        out: Tensor = self.attention(queries, members, members, valid_lens, mask=mask)
        return out.squeeze(1) if self.query.shape[0] == 1 else out

    @property
    def attention_weights(self) -> Float[Tensor, "b heads queries n"]:
        """The weights of the last call; computed now."""
        return self.attention.attention_weights

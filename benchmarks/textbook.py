"""Layers as textbooks write them: what regard's replace, and are compared with.

Each has the parameters and the ``state_dict`` keys of ours.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

__all__ = [
    "TextbookAdditive",
    "TextbookDecoder",
    "TextbookDot",
    "TextbookMultiHead",
    "TextbookPositions",
    "TextbookRegression",
    "textbook_softmax",
]


def textbook_softmax(scores: Tensor, valid_lens: Tensor | None) -> Tensor:
    """Padding at -1e6, then softmax."""
    if valid_lens is not None:
        if valid_lens.ndim == 1:
            valid_lens = valid_lens[:, None]
        there = torch.arange(scores.shape[-1], device=scores.device) < valid_lens[..., None]
        scores = torch.where(there, scores, -1e6)
    return scores.softmax(-1)


class TextbookAdditive(nn.Module):
    """Additive attention with every pair's features written out."""

    def __init__(self, key_size: int, query_size: int, num_hiddens: int, dropout: float) -> None:
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, valid_lens: Tensor | None
    ) -> Tensor:
        """Project, add, tanh, weigh."""
        pairs = torch.tanh(self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None])
        self.attention_weights = textbook_softmax(self.w_v(pairs)[..., 0], valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


class TextbookDot(nn.Module):
    """Scaled dot products with every weight written out."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, valid_lens: Tensor | None = None
    ) -> Tensor:
        """Multiply, scale, weigh."""
        scores = torch.bmm(queries, keys.mT) / math.sqrt(queries.shape[-1])
        self.attention_weights = textbook_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


class TextbookMultiHead(nn.Module):
    """Heads laid beside the sequences."""

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        num_heads: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.attention = TextbookDot(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=False)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=False)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, valid_lens: Tensor | None
    ) -> Tensor:
        """Project, cut into heads, attend, put together, project."""
        batch, heads = queries.shape[0], self.num_heads

        def cut(x: Tensor) -> Tensor:
            apart = x.view(batch, x.shape[1], heads, -1).permute(0, 2, 1, 3)
            return apart.reshape(batch * heads, x.shape[1], -1)

        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(heads, 0)
        q, k, v = cut(self.W_q(queries)), cut(self.W_k(keys)), cut(self.W_v(values))
        found = self.attention(q, k, v, valid_lens)
        found = found.view(batch, heads, found.shape[1], -1).permute(0, 2, 1, 3)
        return self.W_o(found.reshape(batch, found.shape[1], -1))


class TextbookPositions(nn.Module):
    """Sinusoids in float32."""

    def __init__(self, num_hiddens: int, max_len: int = 1000) -> None:
        super().__init__()
        position = torch.arange(max_len, dtype=torch.float32)[:, None]
        power = torch.arange(0, num_hiddens, 2, dtype=torch.float32) / num_hiddens
        angle = position / torch.pow(10000, power)
        self.P = torch.zeros(1, max_len, num_hiddens)
        self.P[0, :, 0::2], self.P[0, :, 1::2] = angle.sin(), angle.cos()

    def forward(self, x: Tensor) -> Tensor:
        """Add the table."""
        return x + self.P[:, : x.shape[1]].to(x.device)


class TextbookRegression(nn.Module):
    """Nadaraya-Watson with a row of keys for each query."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.rand(1))

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Distances, softmax, average."""
        self.attention_weights = (-(((queries[:, None] - keys) * self.w) ** 2) / 2).softmax(1)
        return (self.attention_weights[:, None] @ values[:, :, None]).reshape(-1)


class TextbookDecoder(nn.Module):
    """Bahdanau's decoder: at each step project all keys, attend, and run the GRU once."""

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float
    ) -> None:
        super().__init__()
        self.attention = TextbookAdditive(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def forward(
        self, X: Tensor, state: tuple[Tensor, Tensor, Tensor | None]
    ) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor | None]]:
        """Step by step; the weights of each are kept."""
        source, hidden, valid_lens = state
        outputs, self.attention_weights = [], []
        for x in self.embedding(X).transpose(0, 1):
            context = self.attention(hidden[-1][:, None], source, source, valid_lens)
            fed = torch.cat((context[:, 0], x), -1)[None]
            out, hidden = self.rnn(fed, hidden)
            outputs.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(outputs)).transpose(0, 1), (source, hidden, valid_lens)

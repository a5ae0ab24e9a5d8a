"""The weights a translator begins with."""

from __future__ import annotations

from torch import nn

__all__ = ["initialise"]


def initialise(model: nn.Module) -> None:
    """Embeddings of unit length, which are then scaled by sqrt(width); Xavier elsewhere."""
    for x in model.modules():
        if isinstance(x, nn.Linear):
            nn.init.xavier_uniform_(x.weight)
            if x.bias is not None:
                nn.init.zeros_(x.bias)
        elif isinstance(x, nn.Embedding):
            nn.init.normal_(x.weight, std=x.embedding_dim**-0.5)

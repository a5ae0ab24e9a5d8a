"""Whole networks, one a file, with their sizes on top."""

from regard.models.transformer import Transformer, TransformerConfig, TransformerState

__all__ = ["Transformer", "TransformerConfig", "TransformerState"]

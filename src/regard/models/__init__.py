"""Whole networks, one a file, with their sizes on top."""

from regard.models.bahdanau import Bahdanau, BahdanauConfig, BahdanauState
from regard.models.transformer import Transformer, TransformerConfig, TransformerState

__all__ = [
    "Bahdanau",
    "BahdanauConfig",
    "BahdanauState",
    "Transformer",
    "TransformerConfig",
    "TransformerState",
]

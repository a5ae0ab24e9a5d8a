"""Whole networks, one a file, with their sizes on top."""

from regard.models.bahdanau import Bahdanau, BahdanauConfig, BahdanauState
from regard.models.classifier import Classifier, ClassifierConfig
from regard.models.encoder import Encoder, EncoderConfig
from regard.models.tagger import Tagger, TaggerConfig
from regard.models.transformer import Transformer, TransformerConfig, TransformerState

__all__ = [
    "Bahdanau",
    "BahdanauConfig",
    "BahdanauState",
    "Classifier",
    "ClassifierConfig",
    "Encoder",
    "EncoderConfig",
    "Tagger",
    "TaggerConfig",
    "Transformer",
    "TransformerConfig",
    "TransformerState",
]

"""Attention with learned projections, under the names of the study notes.

Code written for those runs when its import line changes: the same calls, shapes, ``state_dict``
keys and numbers. A layer's ``attention_weights`` are computed when they are read.
"""

from regard.layers.additive import AdditiveAttention
from regard.layers.blocks import (
    Block,
    Cache,
    DecoderBlock,
    EncoderBlock,
    FeedForward,
    Residual,
)
from regard.layers.convolution import PositionalSelfAttention, from_conv
from regard.layers.dot import DotProductAttention
from regard.layers.hard import HardAttention
from regard.layers.multihead import MultiHeadAttention, transpose_output, transpose_qkv
from regard.layers.pooling import AttentionPooling
from regard.layers.positions import LearnedPositions, PositionalEncoding, Rotary
from regard.layers.recurrent import (
    AttentionDecoder,
    DecoderState,
    Seq2SeqAttentionDecoder,
    Seq2SeqEncoder,
)
from regard.layers.regression import NWKernelRegression
from regard.layers.relative import ALiBi, RelativeBias
from regard.layers.softmax import masked_softmax

__all__ = [
    "ALiBi",
    "AdditiveAttention",
    "AttentionDecoder",
    "AttentionPooling",
    "Block",
    "Cache",
    "DecoderBlock",
    "DecoderState",
    "DotProductAttention",
    "EncoderBlock",
    "FeedForward",
    "HardAttention",
    "LearnedPositions",
    "MultiHeadAttention",
    "NWKernelRegression",
    "PositionalEncoding",
    "PositionalSelfAttention",
    "RelativeBias",
    "Residual",
    "Rotary",
    "Seq2SeqAttentionDecoder",
    "Seq2SeqEncoder",
    "from_conv",
    "masked_softmax",
    "transpose_output",
    "transpose_qkv",
]

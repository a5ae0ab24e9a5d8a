"""The layers of ``regard.layers`` for Keras 3: on TensorFlow, JAX or torch.

The same names, arguments and numbers, written with ``keras.ops``. They hold n x m weights in memory
and can be saved in a ``.keras`` file.
"""

from regard.keras.additive import AdditiveAttention
from regard.keras.dot import DotProductAttention
from regard.keras.multihead import MultiHeadAttention
from regard.keras.positions import PositionalEncoding
from regard.keras.regression import NWKernelRegression
from regard.keras.softmax import masked_softmax

__all__ = [
    "AdditiveAttention",
    "DotProductAttention",
    "MultiHeadAttention",
    "NWKernelRegression",
    "PositionalEncoding",
    "masked_softmax",
]

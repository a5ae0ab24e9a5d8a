"""Where a token stands, told to its vector by sines and cosines, for Keras."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from regard.keras.checks import check_dropout, check_sizes, check_width
from regard.keras.found import keras, ops
from regard.keras.tensors import Tensor

__all__ = ["PositionalEncoding"]


@keras.saving.register_keras_serializable(package="regard")
class PositionalEncoding(keras.layers.Layer):
    """Add sines and cosines of the position, one wave length a pair of features (Vaswani 2017).

    ::

        P[i, 2j] = sin(i / 10000^(2j / d)),  P[i, 2j+1] = cos(i / 10000^(2j / d))

    Angles are computed in float64. It has no weights.

    Args:
        num_hiddens: the width d, even or odd.
        dropout: the part of the sums set to zero while training.
        max_len: the length prepared for; longer sequences are computed when they come.
        seed: of the dropout; None draws one.
        **kwargs: of every Keras layer: name, dtype, trainable.

    >>> import numpy as np
    >>> from keras import ops
    >>> from regard.keras import PositionalEncoding
    >>> encoding = PositionalEncoding(num_hiddens=4, dropout=0)
    >>> ops.convert_to_numpy(encoding(np.zeros((1, 2, 4))))[0, 0].tolist()
    [0.0, 1.0, 0.0, 1.0]

    """

    def __init__(
        self,
        num_hiddens: int,
        dropout: float,
        max_len: int = 1000,
        *,
        seed: int | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**kwargs)
        owner = "PositionalEncoding"
        check_sizes(owner, {"num_hiddens": num_hiddens, "max_len": max_len})
        self.num_hiddens, self.max_len = num_hiddens, max_len
        rate = check_dropout(owner, dropout)
        self.dropout = keras.layers.Dropout(rate, seed=seed, dtype=self.dtype_policy)
        self.P = _sinusoids(max_len, num_hiddens)[None]
        self.supports_masking = True  # what Keras knows about padding holds after it as before

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for Keras to make the layer again."""
        return {
            **super().get_config(),
            "num_hiddens": self.num_hiddens,
            "dropout": self.dropout.rate,
            "max_len": self.max_len,
            "seed": self.dropout.seed,
        }

    def build(self, input_shape: Sequence[int | None]) -> None:
        """Check the sizes; there are no weights to make."""
        check_width("PositionalEncoding", "X", input_shape, "b n d", self.num_hiddens)

    def compute_output_spec(
        self,
        X: Tensor,
        training: bool | None = None,  # noqa: FBT001 - as Keras hands it on
    ) -> Any:  # noqa: ANN401 - a stand-in
        """The shape and dtype of what a call gives."""
        check_width("PositionalEncoding", "X", X.shape, "b n d", self.num_hiddens)
        return keras.KerasTensor(X.shape, self.compute_dtype)

    def call(
        self,
        X: Float[Tensor, "b n d"],
        training: bool | None = None,  # noqa: FBT001 - as Keras hands it on
    ) -> Float[Tensor, "b n d"]:
        """Add the encodings of the positions 0, 1, ..."""
        check_width("PositionalEncoding", "X", X.shape, "b n d", self.num_hiddens)
        X = ops.cast(X, self.compute_dtype)
        return self.dropout(X + ops.cast(self._table(X), X.dtype), training=training)

    def _table(self, X: Float[Tensor, "b n d"]) -> Float[Tensor, "n d"] | NDArray[np.float64]:
        n = X.shape[1]
        if not isinstance(n, int):  # a graph whose lengths are not known yet
            return _traced_sinusoids(ops.shape(X)[1], self.num_hiddens)
        return self.P[0, :n] if n <= self.max_len else _sinusoids(n, self.num_hiddens)


def _periods(width: int) -> NDArray[np.float64]:
    """What a position is divided by to get its angle, for each pair of columns."""
    return 10000.0 ** (np.arange(0, width, 2) / width)


def _sinusoids(length: int, width: int) -> NDArray[np.float64]:
    """Sines in the even columns, cosines in the odd ones."""
    angle = np.arange(length)[:, None] / _periods(width)
    return np.stack((np.sin(angle), np.cos(angle)), -1).reshape(length, -1)[:, :width]


def _traced_sinusoids(length: Tensor, width: int) -> Float[Tensor, "n d"]:
    """The same in a graph, in float64 where that runs: JAX has it only if its whole process has."""
    dtype = "float32" if keras.backend.backend() == "jax" else "float64"
    place = ops.expand_dims(ops.arange(length, dtype=dtype), -1)
    angle = place / ops.convert_to_tensor(_periods(width), dtype)
    both = ops.stack((ops.sin(angle), ops.cos(angle)), -1)
    return ops.reshape(both, (length, 2 * len(_periods(width))))[:, :width]

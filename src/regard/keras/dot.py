"""Scaled dot-product attention for Keras (Vaswani et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float, Int

from regard.keras.absent import clean
from regard.keras.base import Attending
from regard.keras.checks import check_inputs, check_lengths, lengths_of
from regard.keras.found import keras, ops
from regard.keras.tensors import Tensor

__all__ = ["DotProductAttention"]


@keras.saving.register_keras_serializable(package="regard")
class DotProductAttention(Attending):
    """score(q, k) = <q, k> / sqrt(d). It has nothing to learn.

    Args:
        dropout: the part of the weights left out while training.
        seed: of the dropout; None draws one.
        **kwargs: of every Keras layer: name, dtype, trainable.

    >>> import numpy as np
    >>> from keras import ops
    >>> from regard.keras import DotProductAttention
    >>> attention = DotProductAttention(dropout=0.5)
    >>> queries, keys = np.random.randn(2, 1, 2), np.ones((2, 10, 2))
    >>> values = np.arange(40.0).reshape(1, 10, 4).repeat(2, axis=0)
    >>> ops.convert_to_numpy(attention(queries, keys, values, np.array([2, 6]))).round().tolist()
    [[[2.0, 3.0, 4.0, 5.0]], [[10.0, 11.0, 12.0, 13.0]]]

    """

    def __init__(self, dropout: float, *, seed: int | None = None, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(dropout, seed=seed, **kwargs)

    def build(
        self,
        queries_shape: Sequence[int | None],
        keys_shape: Sequence[int | None],
        values_shape: Sequence[int | None],
    ) -> None:
        """Check the sizes; there are no weights to make."""
        widths = (None, queries_shape[-1], None)
        check_inputs("DotProductAttention", queries_shape, keys_shape, values_shape, widths)

    def compute_output_spec(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | None = None,
        training: bool | None = None,  # noqa: FBT001 - as Keras hands it on
        return_attention_weights: bool = False,  # noqa: FBT001, FBT002 - the same
    ) -> Any:  # noqa: ANN401 - one stand-in or two
        """The shapes and dtypes of what a call gives."""
        owner = "DotProductAttention"
        b, n, m = check_inputs(
            owner, queries.shape, keys.shape, values.shape, (None, queries.shape[-1], None)
        )
        check_lengths(owner, valid_lens, b, n)
        return self.symbols((b, n, values.shape[-1]), (b, n, m), both=return_attention_weights)

    def call(
        self,
        queries: Float[Tensor, "b n d"],
        keys: Float[Tensor, "b m d"],
        values: Float[Tensor, "b m v"],
        valid_lens: Int[Tensor, " b"] | Int[Tensor, "b n"] | None = None,
        training: bool | None = None,  # noqa: FBT001 - as Keras hands it on
        return_attention_weights: bool = False,  # noqa: FBT001, FBT002 - the same
    ) -> Float[Tensor, "b n v"] | tuple[Float[Tensor, "b n v"], Float[Tensor, "b n m"]]:
        """Average the values; ``valid_lens`` [b] or [b, n] says how many keys are real."""
        owner, d = "DotProductAttention", queries.shape[-1]
        axes = check_inputs(owner, queries.shape, keys.shape, values.shape, (None, d, None))
        lengths = lengths_of(owner, valid_lens, *axes)
        fine = clean(queries, keys, values, lengths, self.compute_dtype)
        # scaled before the product: float16 ends at 65504
        scores = ops.matmul(fine.queries * d**-0.5, ops.swapaxes(fine.keys, 1, 2))
        out, weights = self.average(scores, fine, lengths, training)
        return (out, weights) if return_attention_weights else out

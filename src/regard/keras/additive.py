"""Additive attention for Keras: query and key meet in a hidden layer (Bahdanau et al. 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float, Int

from regard.keras.absent import clean
from regard.keras.base import Attending
from regard.keras.checks import check_inputs, check_lengths, check_sizes, lengths_of
from regard.keras.found import keras, ops
from regard.keras.tensors import Tensor
from regard.keras.transfer import Transferable

__all__ = ["AdditiveAttention"]


@keras.saving.register_keras_serializable(package="regard")
class AdditiveAttention(Attending, Transferable):
    """score(q, k) = <w_v, tanh(W_q q + W_k k)>; queries and keys may differ in width.

    The n x m x h tensor of the textbook form is made; ``regard.layers`` does without.

    Args:
        key_size, query_size: the widths of keys and queries.
        num_hiddens: the width of the hidden layer, h.
        dropout: the part of the weights left out while training.
        seed: of the dropout; None draws one.
        **kwargs: of every Keras layer: name, dtype, trainable.

    >>> import numpy as np
    >>> from keras import ops
    >>> from regard.keras import AdditiveAttention
    >>> attention = AdditiveAttention(key_size=2, query_size=20, num_hiddens=8, dropout=0.1)
    >>> queries, keys = np.random.randn(2, 1, 20), np.ones((2, 10, 2))
    >>> values = np.arange(40.0).reshape(1, 10, 4).repeat(2, axis=0)
    >>> ops.convert_to_numpy(attention(queries, keys, values, np.array([2, 6]))).round().tolist()
    [[[2.0, 3.0, 4.0, 5.0]], [[10.0, 11.0, 12.0, 13.0]]]
    >>> tuple(attention.attention_weights.shape)
    (2, 1, 10)

    """

    def __init__(
        self,
        key_size: int,
        query_size: int,
        num_hiddens: int,
        dropout: float,
        *,
        seed: int | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(dropout, seed=seed, **kwargs)
        self.sizes = {"key_size": key_size, "query_size": query_size, "num_hiddens": num_hiddens}
        check_sizes("AdditiveAttention", self.sizes)
        self.widths = (query_size, key_size, None)
        plain = {"use_bias": False, "dtype": self.dtype_policy}
        self.W_k = keras.layers.Dense(num_hiddens, name="W_k", **plain)
        self.W_q = keras.layers.Dense(num_hiddens, name="W_q", **plain)
        self.w_v = keras.layers.Dense(1, name="w_v", **plain)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self.sizes}

    def build(
        self,
        queries_shape: Sequence[int | None],
        keys_shape: Sequence[int | None],
        values_shape: Sequence[int | None],
    ) -> None:
        """Make the weights."""
        check_inputs("AdditiveAttention", queries_shape, keys_shape, values_shape, self.widths)
        self.W_k.build((None, None, self.sizes["key_size"]))
        self.W_q.build((None, None, self.sizes["query_size"]))
        self.w_v.build((None, None, None, self.sizes["num_hiddens"]))

    def torch_names(self) -> dict[str, Any]:
        if not self.built:
            self.build(*((None, None, width) for width in self.widths))
        return {f"{x.name}.weight": x.kernel for x in (self.W_k, self.W_q, self.w_v)}

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
        owner = "AdditiveAttention"
        b, n, m = check_inputs(owner, queries.shape, keys.shape, values.shape, self.widths)
        check_lengths(owner, valid_lens, b, n)
        return self.symbols((b, n, values.shape[-1]), (b, n, m), both=return_attention_weights)

    def call(
        self,
        queries: Float[Tensor, "b n d"],
        keys: Float[Tensor, "b m e"],
        values: Float[Tensor, "b m v"],
        valid_lens: Int[Tensor, " b"] | Int[Tensor, "b n"] | None = None,
        training: bool | None = None,  # noqa: FBT001 - as Keras hands it on
        return_attention_weights: bool = False,  # noqa: FBT001, FBT002 - the same
    ) -> Float[Tensor, "b n v"] | tuple[Float[Tensor, "b n v"], Float[Tensor, "b n m"]]:
        """Average the values; ``valid_lens`` [b] or [b, n] says how many keys are real."""
        owner = "AdditiveAttention"
        axes = check_inputs(owner, queries.shape, keys.shape, values.shape, self.widths)
        lengths = lengths_of(owner, valid_lens, *axes)
        fine = clean(queries, keys, values, lengths, self.compute_dtype)
        q = ops.expand_dims(self.W_q(fine.queries), 2)  # [b, n, 1, h]
        k = ops.expand_dims(self.W_k(fine.keys), 1)  # [b, 1, m, h]
        scores = ops.squeeze(self.w_v(ops.tanh(q + k)), -1)  # [b, n, m]
        out, weights = self.average(scores, fine, lengths, training)
        return (out, weights) if return_attention_weights else out

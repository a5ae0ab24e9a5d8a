"""Multi-head attention for Keras: several looks at once, through learned projections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float, Int

from regard.errors import ValueRangeError
from regard.keras.absent import clean, spoil
from regard.keras.base import Showing
from regard.keras.checks import check_dropout, check_inputs, check_lengths, check_sizes, lengths_of
from regard.keras.dot import DotProductAttention
from regard.keras.found import keras, ops
from regard.keras.tensors import Tensor
from regard.keras.transfer import Transferable

__all__ = ["MultiHeadAttention"]


@keras.saving.register_keras_serializable(package="regard")
class MultiHeadAttention(Showing, Transferable):
    """Project queries, keys and values, attend in each head, project what the heads found.

    A query that sees no key gets zeros from every head; with ``bias``, what ``W_o`` makes of them.

    Args:
        key_size, query_size, value_size: the widths of what comes in.
        num_hiddens: the width of all heads together, and of what comes out.
        num_heads: how many; num_hiddens is a multiple of it.
        dropout: the part of the weights left out while training.
        bias: whether the projections have one.
        seed: of the dropout; None draws one.
        **kwargs: of every Keras layer: name, dtype, trainable.

    >>> import numpy as np
    >>> from regard.keras import MultiHeadAttention
    >>> attention = MultiHeadAttention(100, 100, 100, num_hiddens=100, num_heads=5, dropout=0.5)
    >>> X, Y = np.ones((2, 4, 100)), np.ones((2, 6, 100))
    >>> tuple(attention(X, Y, Y, np.array([3, 2])).shape)
    (2, 4, 100)
    >>> tuple(attention.attention_weights.shape)
    (2, 5, 4, 6)

    """

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        num_heads: int,
        dropout: float,
        bias: bool = False,  # noqa: FBT001, FBT002 - the signature of the notes
        *,
        seed: int | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**kwargs)
        owner = "MultiHeadAttention"
        self.sizes = {
            "key_size": key_size,
            "query_size": query_size,
            "value_size": value_size,
            "num_hiddens": num_hiddens,
            "num_heads": num_heads,
        }
        check_sizes(owner, self.sizes)
        if num_hiddens % num_heads:
            msg = (
                f"{owner}: num_hiddens must be a multiple of num_heads={num_heads}, "
                f"got {num_hiddens}"
            )
            raise ValueRangeError(msg)
        rate = check_dropout(owner, dropout)
        self.num_heads, self.bias = num_heads, bool(bias)
        self.widths = (query_size, key_size, value_size)
        dtype = self.dtype_policy
        self.attention = DotProductAttention(rate, seed=seed, dtype=dtype, name="attention")
        self.W_q, self.W_k, self.W_v, self.W_o = (
            keras.layers.Dense(num_hiddens, use_bias=self.bias, dtype=dtype, name=name)
            for name in ("W_q", "W_k", "W_v", "W_o")
        )

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for Keras to make the layer again."""
        dropout = self.attention.dropout
        mine = {"dropout": dropout.rate, "seed": dropout.seed, "bias": self.bias}
        return {**super().get_config(), **self.sizes, **mine}

    def build(
        self,
        queries_shape: Sequence[int | None],
        keys_shape: Sequence[int | None],
        values_shape: Sequence[int | None],
    ) -> None:
        """Make the weights."""
        check_inputs("MultiHeadAttention", queries_shape, keys_shape, values_shape, self.widths)
        for project, width in zip((self.W_q, self.W_k, self.W_v), self.widths, strict=True):
            project.build((None, None, width))
        self.W_o.build((None, None, self.sizes["num_hiddens"]))
        head = (None, None, self.sizes["num_hiddens"] // self.num_heads)
        self.attention.build(head, head, head)

    def torch_names(self) -> dict[str, Any]:
        if not self.built:
            self.build(*((None, None, width) for width in self.widths))
        layers = (self.W_q, self.W_k, self.W_v, self.W_o)
        names = {f"{x.name}.weight": x.kernel for x in layers}
        return names | ({f"{x.name}.bias": x.bias for x in layers} if self.bias else {})

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
        owner = "MultiHeadAttention"
        b, n, m = check_inputs(owner, queries.shape, keys.shape, values.shape, self.widths)
        check_lengths(owner, valid_lens, b, n)
        return self.symbols(
            (b, n, self.sizes["num_hiddens"]),
            (b, self.num_heads, n, m),
            both=return_attention_weights,
        )

    def call(
        self,
        queries: Float[Tensor, "b n d"],
        keys: Float[Tensor, "b m e"],
        values: Float[Tensor, "b m v"],
        valid_lens: Int[Tensor, " b"] | Int[Tensor, "b n"] | None = None,
        training: bool | None = None,  # noqa: FBT001 - as Keras hands it on
        return_attention_weights: bool = False,  # noqa: FBT001, FBT002 - the same
    ) -> Float[Tensor, "b n h"] | tuple[Float[Tensor, "b n h"], Float[Tensor, "b heads n m"]]:
        """Attend; ``valid_lens`` [b] or [b, n] says how many keys are real."""
        owner = "MultiHeadAttention"
        axes = check_inputs(owner, queries.shape, keys.shape, values.shape, self.widths)
        lengths = lengths_of(owner, valid_lens, *axes)
        # before the projections: their weights' gradients are products with these rows
        fine = clean(queries, keys, values, lengths, self.compute_dtype)
        projected = (self.W_q(fine.queries), self.W_k(fine.keys), self.W_v(fine.values))
        found, weights = self.attention(
            *(self._split(x) for x in projected),
            self._lengths(lengths, ops.shape(queries)[1]),
            training=training,
            return_attention_weights=True,
        )
        out = spoil(self.W_o(self._merge(found)), fine.poisoned)
        weights = self._by_head(weights)
        weights = spoil(weights, None if fine.blurred is None else fine.blurred[:, None])
        self.keep(weights)
        return (out, weights) if return_attention_weights else out

    def _lengths(
        self, lengths: Int[Tensor, "b n"] | Int[Tensor, "b 1"] | None, n: int
    ) -> Int[Tensor, "b*heads n"] | None:
        """The same lengths for every head of a sequence."""
        if lengths is None:
            return None
        b = ops.shape(lengths)[0]
        wide = ops.broadcast_to(ops.expand_dims(lengths, 1), (b, self.num_heads, n))
        return ops.reshape(wide, (b * self.num_heads, n))

    def _split(self, x: Float[Tensor, "b n h"]) -> Float[Tensor, "b*heads n p"]:
        """Cut the features into heads, and lay the heads beside the sequences."""
        b, n, width = ops.shape(x)
        x = ops.reshape(x, (b, n, self.num_heads, width // self.num_heads))
        return ops.reshape(ops.swapaxes(x, 1, 2), (b * self.num_heads, n, width // self.num_heads))

    def _by_head(self, x: Float[Tensor, "b*heads n f"]) -> Float[Tensor, "b heads n f"]:
        rows, n, width = ops.shape(x)
        return ops.reshape(x, (rows // self.num_heads, self.num_heads, n, width))

    def _merge(self, x: Float[Tensor, "b*heads n p"]) -> Float[Tensor, "b n h"]:
        """Undo ``_split``."""
        x = ops.swapaxes(self._by_head(x), 1, 2)
        b, n, heads, width = ops.shape(x)
        return ops.reshape(x, (b, n, heads * width))

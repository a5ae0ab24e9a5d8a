"""What every layer that attends has in common: its weights can be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float, Int

from regard.errors import StateError
from regard.keras.absent import Cleaned, spoil
from regard.keras.checks import check_dropout
from regard.keras.found import keras, ops
from regard.keras.softmax import softmax
from regard.keras.tensors import Tensor, holds_numbers

__all__ = ["Attending", "Showing"]


class Showing(keras.layers.Layer):
    """A layer that shows what it looked at."""

    looked: Tensor | None = None

    def keep(self, weights: Tensor) -> None:
        """Remember the weights, unless they are a stand-in: kept, it would outlive its graph."""
        self.looked = ops.stop_gradient(weights) if holds_numbers(weights) else None

    def symbols(
        self, out: Sequence[int | None], weights: Sequence[int | None], *, both: bool
    ) -> Any:  # noqa: ANN401 - one stand-in or two
        """What a call gives, before there are numbers: the output, or it and its weights.

        Keras would find out by a call with some length in place of all it does not know yet, and
        then no call fits a model whose axes are known in part.
        """
        shapes = (out, weights) if both else (out,)
        found = tuple(keras.KerasTensor(shape, self.compute_dtype) for shape in shapes)
        return found if both else found[0]

    @property
    def attention_weights(self) -> Tensor:
        """The weights of the last call that ran eagerly, before dropout and with no gradient."""
        if self.looked is None:
            msg = (
                f"{type(self).__name__} has no attention_weights: it has not been called yet, or "
                "last inside a compiled graph, as by fit and predict; call it eagerly, or with "
                "return_attention_weights=True, which does in both"
            )
            raise StateError(msg)
        return self.looked


class Attending(Showing):
    """A layer that averages values by the softmax of its scores.

    Args:
        dropout: the part of the weights left out while training.
        seed: of the dropout; None draws one.
        **kwargs: of every Keras layer: name, dtype, trainable.

    """

    def __init__(self, dropout: float = 0.0, *, seed: int | None = None, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        rate = check_dropout(type(self).__name__, dropout)
        self.dropout = keras.layers.Dropout(rate, seed=seed, dtype=self.dtype_policy)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for Keras to make the layer again."""
        mine = {"dropout": self.dropout.rate, "seed": self.dropout.seed}
        return {**super().get_config(), **mine}

    def average(
        self,
        scores: Float[Tensor, "b n m"],
        fine: Cleaned,
        lengths: Int[Tensor, "b n"] | Int[Tensor, "b 1"] | None,
        training: bool | None,  # noqa: FBT001 - as Keras hands it on
    ) -> tuple[Float[Tensor, "b n v"], Float[Tensor, "b n m"]]:
        """Average the values by the softmax of the scores; the weights beside it."""
        weights = softmax(scores, lengths)
        out = ops.matmul(self.dropout(weights, training=training), fine.values)
        weights = spoil(weights, fine.blurred)
        self.keep(weights)
        return spoil(out, fine.poisoned), weights

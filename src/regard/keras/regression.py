"""Nadaraya-Watson kernel regression as a Keras layer: one number to learn, the sharpness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float, Int

from regard.errors import ShapeError
from regard.keras.absent import clean
from regard.keras.base import Attending
from regard.keras.checks import check_lengths, differ, known, lengths_of
from regard.keras.found import keras, ops
from regard.keras.tensors import Tensor
from regard.keras.transfer import Transferable

__all__ = ["NWKernelRegression"]


@keras.saving.register_keras_serializable(package="regard")
class NWKernelRegression(Attending, Transferable):
    """y(x) = sum over i of softmax_i(-((x - x_i) w)^2 / 2) * y_i, with w to learn.

    w is 1 / width. Its gradient at 0 is exactly 0, so it does not start there.

    Args:
        **kwargs: of every Keras layer: name, dtype, trainable.

    >>> import numpy as np
    >>> from regard.keras import NWKernelRegression
    >>> x = np.linspace(0, 5, 50)
    >>> others = np.stack([np.delete(x, i) for i in range(50)])  # each point's other points
    >>> tuple(NWKernelRegression()(x, others, np.sin(others)).shape)
    (50,)

    """

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.w = None

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        return {name: x for name, x in config.items() if name not in ("dropout", "seed")}

    def build(
        self,
        queries_shape: Sequence[int | None],
        keys_shape: Sequence[int | None],
        values_shape: Sequence[int | None],
    ) -> None:
        """Make w."""
        _check(queries_shape, keys_shape, values_shape)
        start = keras.initializers.RandomUniform(0.0, 1.0)
        self.w = self.add_weight(name="w", shape=(1,), initializer=start)

    def torch_names(self) -> dict[str, Any]:
        if not self.built:
            self.build((None,), (None, None), (None, None))
        return {"w": self.w}

    def compute_output_spec(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | None = None,
        return_attention_weights: bool = False,  # noqa: FBT001, FBT002 - as Keras hands it on
    ) -> Any:  # noqa: ANN401 - one stand-in or two
        """The shapes and dtypes of what a call gives."""
        n, m = _check(queries.shape, keys.shape, values.shape)
        check_lengths("NWKernelRegression", valid_lens, n, 1)
        return self.symbols((n,), (n, m), both=return_attention_weights)

    def call(
        self,
        queries: Float[Tensor, " n"],
        keys: Float[Tensor, "n m"] | Float[Tensor, " m"],
        values: Float[Tensor, "n m"] | Float[Tensor, " m"],
        valid_lens: Int[Tensor, " n"] | None = None,
        return_attention_weights: bool = False,  # noqa: FBT001, FBT002 - as Keras hands it on
    ) -> Float[Tensor, " n"] | tuple[Float[Tensor, " n"], Float[Tensor, "n m"]]:
        """Predict at the queries; keys and values are [m], or one row a query [n, m].

        Of the keys of a query, the first ``valid_lens`` [n] are real.
        """
        n, m = _check(queries.shape, keys.shape, values.shape)
        lengths = lengths_of("NWKernelRegression", valid_lens, n, 1, m)
        if len(keys.shape) == 1:
            rows = (ops.shape(queries)[0], ops.shape(keys)[0])
            keys, values = ops.broadcast_to(keys, rows), ops.broadcast_to(values, rows)
        # a sequence of one query each: [n, 1, 1] on [n, m, 1]
        q, k, v = queries[:, None, None], keys[:, :, None], values[:, :, None]
        fine = clean(q, k, v, lengths, self.compute_dtype)
        apart = fine.queries - ops.swapaxes(fine.keys, 1, 2)  # [n, 1, m]
        out, weights = self.average(-ops.square(apart * self.w) / 2, fine, lengths, training=False)
        out, weights = ops.squeeze(out, (1, 2)), ops.squeeze(weights, 1)
        self.keep(weights)
        return (out, weights) if return_attention_weights else out


def _check(
    queries: Sequence[int | None], keys: Sequence[int | None], values: Sequence[int | None]
) -> tuple[int | None, int | None]:
    """Raise unless the shapes are [n], and twice [m] or twice [n, m]; gives n and m."""
    owner = "NWKernelRegression"
    if len(queries) != 1:
        msg = f"{owner}: queries must be [n], got the shape {list(queries)}"
        raise ShapeError(msg)
    n = queries[0]
    rows = len(keys) == len(values) == 2 and not differ(keys[0], n) and not differ(values[0], n)  # noqa: PLR2004
    flat = len(keys) == len(values) == 1
    if not (rows or flat) or differ(keys[-1], values[-1]):
        msg = (
            f"{owner}: keys and values must both be [m] or [n, m] with n={n}, "
            f"got the shapes {list(keys)} and {list(values)}"
        )
        raise ShapeError(msg)
    return (n if flat else known(n, keys[0], values[0])), known(keys[-1], values[-1])

"""A masked key is absent: whatever it holds, no number of the result may change.

0 * NaN is NaN, so a weight of zero does not keep garbage out of a product, forward or backward.
Rows that nobody sees, and rows that are not finite, are set to zero before any arithmetic. Queries
that really see such a row are marked, and get their NaN at the end.
"""

from __future__ import annotations

from typing import NamedTuple

from jaxtyping import Bool, Float, Int

from regard.keras.found import ops
from regard.keras.tensors import Tensor

__all__ = ["Cleaned", "clean", "spoil"]


class Cleaned(NamedTuple):
    """Finite queries, keys and values, and who has to get NaN all the same."""

    queries: Tensor
    keys: Tensor
    values: Tensor
    blurred: Tensor | None  # [b, n]: the weights are NaN
    poisoned: Tensor | None  # [b, n]: the output is NaN


def clean(
    queries: Float[Tensor, "b n d"],
    keys: Float[Tensor, "b m e"],
    values: Float[Tensor, "b m v"],
    lengths: Int[Tensor, "b n"] | Int[Tensor, "b 1"] | None,
    dtype: str,
) -> Cleaned:
    """All three in one dtype, with zeros where they are absent; without lengths nothing is."""
    queries, keys, values = (ops.cast(x, dtype) for x in (queries, keys, values))
    if lengths is None or 0 in (*queries.shape[:2], keys.shape[1]):
        return Cleaned(queries, keys, values, None, None)
    seeing = lengths > 0
    finite = ops.all(ops.isfinite(queries), -1)
    blurred = ops.logical_and(seeing, ops.logical_not(finite))  # [b, n]
    queries = _zero(queries, ops.logical_or(blurred, ops.logical_not(seeing)))
    keys, sees_a_bad_key = _clean_rows(keys, lengths)
    values, sees_a_bad_value = _clean_rows(values, lengths)
    blurred = ops.logical_or(blurred, sees_a_bad_key)
    return Cleaned(queries, keys, values, blurred, ops.logical_or(blurred, sees_a_bad_value))


def _clean_rows(
    x: Float[Tensor, "b m f"], lengths: Int[Tensor, "b n"]
) -> tuple[Float[Tensor, "b m f"], Bool[Tensor, "b n"]]:
    """Clean rows, and the queries that see one of those not finite."""
    m = ops.shape(x)[1]
    place = ops.arange(m, dtype="int32")
    bad = ops.logical_not(ops.all(ops.isfinite(x), -1))  # [b, m]
    # lengths see from the left, so the first bad row tells who sees any
    left = ops.max(ops.where(bad, m - place, 0), axis=1, keepdims=True)  # [b, 1], 0: none is bad
    longest = ops.max(lengths, axis=1, keepdims=True)
    return _zero(x, ops.logical_or(bad, place >= longest)), lengths > m - ops.maximum(left, 0)


def _zero(x: Float[Tensor, "b r f"], rows: Bool[Tensor, "b r"]) -> Float[Tensor, "b r f"]:
    return ops.where(ops.expand_dims(rows, -1), ops.zeros_like(x), x)


def spoil(x: Float[Tensor, "b n f"], rows: Bool[Tensor, "b n"] | None) -> Float[Tensor, "b n f"]:
    """Give the marked rows their NaN."""
    if rows is None:
        return x
    nan = ops.cast(ops.where(rows, float("nan"), 0.0), x.dtype)
    return x + ops.expand_dims(nan, -1)

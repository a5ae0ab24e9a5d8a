"""Arguments that cannot be meant, refused with what was wanted and what came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.keras.found import keras, ops
from regard.keras.tensors import Tensor, name_of, numbers

__all__ = [
    "check_dropout",
    "check_inputs",
    "check_lengths",
    "check_sizes",
    "check_width",
    "differ",
    "known",
    "lengths_of",
]

PER_QUERY = 2  # axes of lengths [b, n]


def check_sizes(owner: str, sizes: Mapping[str, object]) -> None:
    """Raise unless each is an axis's length: a whole number above zero."""
    for name, value in sizes.items():
        if isinstance(value, bool) or not isinstance(value, int):
            msg = f"{owner}: {name} must be an integer, got {value!r}"
            raise KindError(msg)
        if value < 1:
            msg = f"{owner}: {name} must be at least 1, got {value}"
            raise ValueRangeError(msg)


def check_dropout(owner: str, value: float) -> float:
    """A part of a whole: 0 or more, below 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"{owner}: dropout must be a number, got {value!r}"
        raise KindError(msg)
    if not 0 <= value < 1:
        msg = f"{owner}: dropout must be at least 0 and below 1, got {value!r}"
        raise ValueRangeError(msg)
    return float(value)


def differ(a: int | None, b: int | None) -> bool:
    """Whether two lengths are known not to be one; None, or JAX's symbol, is not known yet."""
    return isinstance(a, int) and isinstance(b, int) and a != b


def check_width(
    owner: str, name: str, shape: Sequence[int | None], axes: str, width: int | None
) -> None:
    """Raise unless a shape has these axes, and ``width`` features where that is not None."""
    wanted = axes.split()
    if len(shape) == len(wanted) and not differ(shape[-1], width):
        return
    if width is not None:
        wanted[-1] = str(width)
    msg = f"{owner}: {name} must be [{', '.join(wanted)}], got the shape {list(shape)}"
    raise ShapeError(msg)


def check_inputs(
    owner: str,
    queries: Sequence[int | None],
    keys: Sequence[int | None],
    values: Sequence[int | None],
    widths: tuple[int | None, int | None, int | None] = (None, None, None),
) -> tuple[int | None, int | None, int | None]:
    """Raise unless the shapes of queries, keys and values can meet in one call; gives b, n, m."""
    named = (("queries", queries, "b n d"), ("keys", keys, "b m e"), ("values", values, "b m v"))
    for (name, shape, axes), width in zip(named, widths, strict=True):
        check_width(owner, name, shape, axes, width)
    for name, shape, _ in named[1:]:
        if differ(shape[0], queries[0]):
            msg = (
                f"{owner}: {name} must have as many sequences as queries, b={queries[0]}, "
                f"got b={shape[0]}; repeat {name} before the call, regard never broadcasts"
            )
            raise ShapeError(msg)
    if differ(keys[1], values[1]):
        msg = (
            f"{owner}: keys and values must have one row a key: keys have m={keys[1]}, "
            f"values have m={values[1]} (keys {list(keys)}, values {list(values)})"
        )
        raise ShapeError(msg)
    return known(queries[0], keys[0], values[0]), queries[1], known(keys[1], values[1])


def known(*lengths: int | None) -> int | None:
    """The length of an axis several tensors have, from the first of them that knows it."""
    return next((length for length in lengths if length is not None), None)


def check_lengths(owner: str, valid_lens: Any, b: int | None, n: int | None) -> None:  # noqa: ANN401
    """Raise unless lengths, with numbers or without yet, are integers [b] or [b, n], or None."""
    if valid_lens is None:
        return
    valid_lens = valid_lens if hasattr(valid_lens, "dtype") else np.asarray(valid_lens)
    if not keras.backend.is_int_dtype(valid_lens.dtype):
        got = name_of(valid_lens.dtype)
        msg = f"{owner}: valid_lens must hold integers, got {got}; cast it to int32"
        raise KindError(msg)
    shape = tuple(valid_lens.shape)
    right = len(shape) in (1, PER_QUERY) and not differ(shape[0], b)
    if not right or (len(shape) == PER_QUERY and differ(shape[1], n)):
        msg = (
            f"{owner}: valid_lens must be [b] or [b, n] with b={b} and n={n}, "
            f"got the shape {list(shape)}"
        )
        raise ShapeError(msg)


def lengths_of(
    owner: str,
    valid_lens: Any,  # noqa: ANN401 - a tensor, an array, a list, None
    b: int | None,
    n: int | None,
    m: int | None,
) -> Tensor | None:
    """``valid_lens`` [b] or [b, n] as int32 [b, 1] or [b, n]; None stays None.

    Numbers out of range are refused where they can be read: not inside a compiled graph, and not on
    an accelerator, which would have to stop for it. There, more than m counts as m.
    """
    check_lengths(owner, valid_lens, b, n)
    if valid_lens is None:
        return None
    lengths = ops.convert_to_tensor(valid_lens)
    _check_range(owner, lengths, m)
    lengths = ops.cast(lengths, "int32")
    return lengths if len(lengths.shape) == PER_QUERY else ops.expand_dims(lengths, 1)


def _check_range(owner: str, lengths: Tensor, m: int | None) -> None:
    found = numbers(lengths)
    if found is None or not found.size or not isinstance(m, int):
        return
    for wrong in (int(found.min()), int(found.max())):
        if not 0 <= wrong <= m:
            msg = f"{owner}: valid_lens must be from 0 to m={m}, the number of keys, got {wrong}"
            raise ValueRangeError(msg)

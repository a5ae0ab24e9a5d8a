"""What users set, checked before anything is computed."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.regression.algorithms import ALGORITHMS
from regard.regression.sums.base import Array

__all__ = ["Empty", "check_settings", "check_width"]

Empty = Literal["nearest", "nan", "mean", "raise"]


def check_settings(
    *,
    algorithm: str,
    empty: str,
    degree: int,
    tol: float,
    dtype: Any,  # noqa: ANN401
) -> None:
    """Raise for what has no meaning, whatever the data."""
    for name, value, known in (
        ("algorithm", algorithm, ALGORITHMS),
        ("empty", empty, get_args(Empty)),
        ("degree", degree, (0, 1)),
    ):
        if value not in known:
            names = ", ".join(repr(x) for x in known)
            msg = f"{name} must be one of {names}; got {value!r}"
            raise ValueRangeError(msg)
    if not isinstance(tol, (int, float)) or not 0 < tol < 1:
        msg = f"tol must be above 0 and below 1, got {tol!r}"
        raise ValueRangeError(msg)
    if dtype is not None and np.dtype(dtype).kind != "f":
        msg = f"dtype must be a floating point type or None, got {dtype!r}"
        raise KindError(msg)


def check_width(given: Any, d: int) -> Array:  # noqa: ANN401
    """A width for each of d features."""
    try:
        width = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError) as cause:
        msg = f"bandwidth must be a number or one a feature, got {given!r}"
        raise KindError(msg) from cause
    if width.ndim != 1 or len(width) not in (1, d):
        msg = f"bandwidth must be a number or one for each of {d} features, got shape {width.shape}"
        raise ShapeError(msg)
    if not (width > 0).all():
        msg = f"bandwidth must be above 0, got {given!r}"
        raise ValueRangeError(msg)
    return np.broadcast_to(width, (d,)).copy()

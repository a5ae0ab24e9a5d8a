"""Pictures cut into squares: what an encoder takes one after the other, with their places."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int64
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import KindError, ShapeError, ValueRangeError

__all__ = ["patches"]


def patches(
    image: NDArray[np.uint8] | Tensor, size: int
) -> tuple[Float[Tensor, "*b n features"], Int64[Tensor, "n 2"]]:
    """Squares of ``size`` x ``size`` pixels, row by row, and the row and column of each.

    Nothing is cut off: where the last squares of a row or column reach beyond the picture, its
    last pixels are repeated. Whole numbers, 0 to 255, become 0 to 1; other numbers stay what they
    are. Within a square pixels follow row by row, and the channels of a pixel each other.

    Args:
        image: [*b, h, w, c]; pictures of one size may be cut together.
        size: pixels on a side; 1 gives single pixels.

    Returns:
        [*b, n, size * size * c] float32, and [n, 2].

    >>> image = torch.arange(6.0).reshape(2, 3, 1)
    >>> squares, places = patches(image, 2)
    >>> squares.tolist(), places.tolist()
    ([[0.0, 1.0, 3.0, 4.0], [2.0, 2.0, 5.0, 5.0]], [[0, 0], [0, 1]])

    """
    if isinstance(size, bool) or not isinstance(size, int):
        msg = f"size must be a whole number of pixels, got {size!r}"
        raise KindError(msg)
    if size < 1:
        msg = f"size must be at least 1 pixel, got {size}"
        raise ValueRangeError(msg)
    x = torch.as_tensor(image)
    if x.ndim < 3 or 0 in x.shape[-3:]:  # noqa: PLR2004 - h, w, c
        msg = f"image must be [*b, h, w, c] with at least one pixel, got {list(x.shape)}"
        raise ShapeError(msg)
    x = x.float() if x.is_floating_point() else x.float() / 255
    *batch, height, width, channels = x.shape
    rows, columns = -(-height // size), -(-width // size)
    x = _filled(_filled(x, -3, rows * size), -2, columns * size)
    x = x.reshape(*batch, rows, size, columns, size, channels).transpose(-4, -3)
    grid = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    return (
        x.reshape(*batch, rows * columns, size * size * channels),
        torch.stack(grid, -1).reshape(-1, 2),
    )


def _filled(x: Tensor, axis: int, length: int) -> Tensor:
    """Repeat the last row or column until there are so many."""
    there = x.shape[axis]
    if there == length:
        return x
    return x.index_select(axis, torch.arange(length, device=x.device).clamp(max=there - 1))

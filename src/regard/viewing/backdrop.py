"""Pictures behind a page's weights: the image or the sound whose parts are the keys."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regard.errors import ShapeError

__all__ = ["over_image", "over_sound", "png"]

WIDEST = 2000  # pixels across of a spectrogram; of more the means
MATRIX, PIXELS = 2, 3  # axes
WHITE = 255


def over_image(pixels: ArrayLike, patch: int, offset: int = 0) -> dict[str, Any]:
    """An image cut into square patches, row by row; the last ones may reach beyond it.

    Args:
        pixels: [h, w, c], 0 to 255, with 1 channel or 3.
        patch: pixels of a patch's side.
        offset: how many keys come before the first patch.

    """
    x = np.asarray(pixels)
    if x.ndim != PIXELS or x.shape[2] not in {1, 3} or not x.size:
        msg = f"pixels must be [h, w, c] with 1 channel or 3, got the shape {list(x.shape)}"
        raise ShapeError(msg)
    rows, cols = (-(-size // patch) for size in x.shape[:2])
    whole = np.full((rows * patch, cols * patch, x.shape[2]), WHITE, np.uint8)
    whole[: x.shape[0], : x.shape[1]] = x.clip(0, WHITE)
    return _backdrop("image", whole, rows, cols, offset)


def over_sound(frames: ArrayLike, stride: int) -> dict[str, Any]:
    """A spectrogram of which so many frames at a time are a key; low pitches below.

    Args:
        frames: [n, features], log-mel or other, low pitches first.
        stride: frames of a key; the last key may have fewer.

    """
    x = np.asarray(frames, np.float64)
    if x.ndim != MATRIX or not x.size:
        msg = f"frames must be [n, features] and not empty, got the shape {list(x.shape)}"
        raise ShapeError(msg)
    low, high = np.quantile(x, [0.02, 0.998])
    grey = WHITE * (1 - ((x - low) / max(high - low, 1e-9)).clip(0, 1))  # dark where it is loud
    cols = -(-len(x) // stride)
    whole = np.full((cols * stride, x.shape[1]), WHITE, np.float64)
    whole[: len(x)] = grey
    every = -(-len(whole) // WIDEST)
    starts = np.arange(0, len(whole), every)
    means = np.add.reduceat(whole, starts) / np.diff([*starts, len(whole)])[:, None]
    return _backdrop("spectrogram", means.T[::-1, :, None].astype(np.uint8), 1, cols, 0)


def _backdrop(
    kind: str, pixels: NDArray[np.uint8], rows: int, cols: int, offset: int
) -> dict[str, Any]:
    data = base64.b64encode(png(pixels)).decode("ascii")
    return {
        "kind": kind,
        "image": f"data:image/png;base64,{data}",
        "width": pixels.shape[1],
        "height": pixels.shape[0],
        "rows": rows,
        "cols": cols,
        "offset": offset,
    }


def png(pixels: NDArray[np.uint8]) -> bytes:
    """An image [h, w, 1 or 3] as PNG; so small that no package is needed for it."""
    height, width, channels = pixels.shape
    lines = np.zeros((height, 1 + width * channels), np.uint8)  # each line begins with "unfiltered"
    lines[:, 1:] = pixels.reshape(height, -1)
    colour = 0 if channels == 1 else 2
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )

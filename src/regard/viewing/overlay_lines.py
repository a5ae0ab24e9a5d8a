"""Attention over a text, a spectrogram or an image, drawn with characters in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regard.errors import ShapeError
from regard.viewing.terminal import columns_of, label

__all__ = ["image_lines", "sound_lines", "text_lines"]

SHADES, ASCII_SHADES = " ░▒▓█", " .:*#"
STEPS = (0.08, 0.25, 0.5, 0.8)  # of the largest weight; from here on the next shade
HEIGHTS, ASCII_HEIGHTS = " ▁▂▃▄▅▆▇█", " .:-=+*#@"
HOT = np.array([213.0, 94.0, 0.0])
STRONGEST = 0.85
BANDS = 6  # rows of a spectrogram
TALL = 24  # rows of an image, at most
NARROW = 8  # columns that something is drawn in, at least


def text_lines(
    pieces: Sequence[str],
    weights: ArrayLike,
    *,
    width: int = 80,
    color: bool = False,
    unicode: bool = True,
) -> list[str]:
    """The text in lines, and below each how much each piece was looked at.

    In colours the words themselves have a ground.

    >>> for line in text_lines(["▁good", "▁day"], [0.9, 0.1]):
    ...     print(line)
    good day
    ████ ░░░
    """
    w = _relative(weights, (len(pieces),))
    shades = SHADES if unicode else ASCII_SHADES
    lines: list[str] = []
    words, marks, used = "", "", 0
    for piece, part in zip(pieces, w, strict=True):
        name = label(piece, unicode=unicode)
        gap = " " if piece.startswith("▁") and used else ""
        if used and used + len(gap) + columns_of(name) > max(width, NARROW):
            lines += [words] if color else [words, marks.rstrip()]
            words, marks, used, gap = "", "", 0, ""
        words += gap + (_painted(name, part) if color else name)
        marks += gap + _shade(part, shades) * columns_of(name)
        used += len(gap) + columns_of(name)
    return lines + ([words] if color else [words, marks.rstrip()])


def sound_lines(
    frames: ArrayLike,
    weights: ArrayLike,
    seconds: float,
    *,
    width: int = 80,
    color: bool = False,
    unicode: bool = True,
) -> list[str]:
    """A small spectrogram, high pitches above, and below it how much each moment was looked at.

    Args:
        frames: [n, features], low pitches first.
        weights: [m], evenly over the sound.
        seconds: how long it is.
        width: columns of the terminal.
        color: whether it shows 24-bit colours.
        unicode: whether it shows more than ASCII.

    """
    x = np.asarray(frames, np.float64)
    w = _relative(weights, (np.size(weights),))
    columns = max(min(width - 2, len(w) * max(1, 60 // len(w))), NARROW)
    bands = min(BANDS, x.shape[1])
    seen = _resized(x, columns, bands).T[::-1]
    low, high = np.quantile(x, [0.05, 0.995])
    dark = np.clip((seen - low) / max(high - low, 1e-9), 0, 1)
    across = w[np.arange(columns) * len(w) // columns]
    shades = SHADES if unicode else ASCII_SHADES
    if color:
        lines = ["".join(map(_cell, row, across)) for row in dark]
    else:
        lines = ["".join(_shade(part, shades) for part in row) for row in dark]
    heights = HEIGHTS if unicode else ASCII_HEIGHTS
    lines.append("".join(heights[round(part * (len(heights) - 1))] for part in across))
    end = f"{seconds:.2f} s"
    return [line.rstrip() for line in (*lines, "0" + end.rjust(columns - 1))]


def image_lines(
    image: ArrayLike,
    weights: ArrayLike,
    *,
    patch: int,
    width: int = 80,
    color: bool = False,
    unicode: bool = True,
) -> list[str]:
    """The image, and beside it how much each patch was looked at; in colours both in one.

    Args:
        image: [h, w, c], from 0 to 255.
        weights: [rows, columns], one a patch.
        patch: pixels a side.
        width: columns of the terminal.
        color: whether it shows 24-bit colours.
        unicode: whether it shows more than ASCII.

    """
    x = np.asarray(image, np.float64)
    high, wide = x.shape[:2]
    w = _relative(weights, (-(-high // patch), -(-wide // patch)))
    # a character is about twice as high as wide
    columns = min(2 * TALL, (width - 3) // 2, max(wide, NARROW))
    rows = max(round(columns * high / wide / 2), 1)
    if rows > TALL:
        rows, columns = TALL, max(round(2 * TALL * wide / high), 1)
    grey = _resized(_resized(x.mean(2) / 255, rows, wide).T, columns, rows).T
    down = (np.arange(rows) + 0.5) * high / rows // patch
    across = (np.arange(columns) + 0.5) * wide / columns // patch
    looked = w[np.ix_(down.astype(int), across.astype(int))]
    if color:
        return [
            "".join(map(_cell, row, weight)) for row, weight in zip(1 - grey, looked, strict=True)
        ]
    shades = SHADES if unicode else ASCII_SHADES
    return [
        (
            "".join(_shade(part, shades) for part in row)
            + "   "
            + "".join(_shade(part, shades) for part in weight)
        ).rstrip()
        for row, weight in zip(grey, looked, strict=True)
    ]


def _relative(weights: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Weights as parts of the largest."""
    w = np.asarray(weights, np.float64)
    if w.shape != shape or not w.size:
        msg = f"weights must have the shape {list(shape)} and not be empty, got {list(w.shape)}"
        raise ShapeError(msg)
    w = np.clip(np.nan_to_num(w, nan=0.0, posinf=0.0, neginf=0.0), 0.0, None)
    return w / (w.max() or 1.0)


def _resized(x: NDArray[np.float64], rows: int, columns: int) -> NDArray[np.float64]:
    """Means of the parts of a matrix, or its numbers repeated, in this shape."""
    for axis, count in enumerate((rows, columns)):
        size = x.shape[axis]
        starts = np.arange(count) * size // count
        if count < size:
            total = np.add.reduceat(x, starts, axis=axis)
            counts = np.diff([*starts.tolist(), size])
            x = total / (counts[:, None] if axis == 0 else counts)
        else:
            x = x.take(starts, axis=axis)
    return x


def _shade(part: float, shades: str) -> str:
    return shades[sum(part >= step for step in STEPS)]


def _cell(dark: float, part: float) -> str:
    """One column, grey, and the more of the one colour the more was looked at."""
    ground = np.full(3, 255.0 * (1 - 0.8 * dark))
    red, green, blue = np.rint(ground + STRONGEST * part * (HOT - ground)).astype(int).tolist()
    return f"\x1b[48;2;{red};{green};{blue}m \x1b[0m"


def _painted(word: str, part: float) -> str:
    red, green, blue = np.rint(255 + STRONGEST * part * (HOT - 255)).astype(int).tolist()
    return f"\x1b[48;2;{red};{green};{blue}m\x1b[30m{word}\x1b[0m"

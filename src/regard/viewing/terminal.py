"""An alignment drawn with characters: who looked where, in a terminal."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

from torch import Tensor

from regard.errors import ShapeError

__all__ = ["alignment_lines", "columns_of", "cut", "label", "padded"]

SHADES = " ░▒▓█"
ASCII_SHADES = " .:*#"
STEPS = (0.05, 0.2, 0.4, 0.7)  # a weight from here on gets the next shade
LEAST, MOST = 3, 10  # columns of a source token
ROW_LABEL = 14  # columns of a target token, at most
BLOCKS = 3  # as many drawings below one another; more are not read
COLD, WARM, HOT = (40, 60, 92), (196, 78, 82), (255, 214, 102)  # of weights 0, 1/2 and 1
HALF = 0.5
DARK, LIGHT = "30", "97"  # letters on a bright and on a dark ground


def label(token: str, *, unicode: bool = True) -> str:
    r"""A token as it can be printed: sentencepiece's "▁" is a space, and nothing moves a cursor.

    >>> label("▁Xi'an"), label("▁"), label("a\x1b[31m\u202e")
    ("Xi'an", '·', 'a�[31m')
    """
    text = token.replace("▁", " ").strip(" ")
    text = "".join(
        letter if letter.isprintable() else "\ufffd"
        for letter in text
        if unicodedata.category(letter) != "Cf"  # has no width, and may turn the line around
    )
    if not unicode:
        return text.encode("ascii", "replace").decode("ascii") or "."
    return text or "·"


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes: a Chinese character takes two.

    >>> columns_of("Xi'an"), columns_of("西安")
    (5, 4)
    """
    return sum(map(_columns, text))


def _columns(letter: str) -> int:
    if unicodedata.category(letter) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def alignment_lines(
    weights: Tensor,
    source_tokens: Sequence[str],
    tokens: Sequence[str],
    *,
    width: int = 80,
    color: bool = False,
    unicode: bool = True,
) -> list[str]:
    """Draw a row a target token and a column a source token, darker where it looked more.

    What is wider than the terminal is drawn in blocks of columns below one another; what would
    take more than three of them is told in words instead: each token's strongest source token.

    Args:
        weights: [n, m], from each target token to the source tokens.
        source_tokens: m pieces.
        tokens: n pieces.
        width: columns of the terminal.
        color: whether it shows 24-bit colours; the cells then hold per cents.
        unicode: whether it shows more than ASCII.

    >>> import torch
    >>> weights = torch.tensor([[0.9, 0.1], [0.25, 0.75]])
    >>> for line in alignment_lines(weights, ["▁西安", "很大"], ["▁Xi'an", "▁big"]):
    ...     print(line)
           西安 很大
    Xi'an  ████ ░░░░
    big    ▒▒▒▒ ████

    """
    shape = (len(tokens), len(source_tokens))
    if tuple(weights.shape) != shape:
        msg = (
            f"weights must be [n, m], a row a token and a column a source token: there are "
            f"{shape[0]} and {shape[1]} of them, got the shape {list(weights.shape)}"
        )
        raise ShapeError(msg)
    if not weights.numel():
        return []
    more = "…" if unicode else "~"
    across = [cut(label(token, unicode=unicode), MOST, more) for token in source_tokens]
    down = [cut(label(token, unicode=unicode), ROW_LABEL, more) for token in tokens]
    left = max(map(columns_of, down)) + 1
    rows: list[list[float]] = weights.detach().float().cpu().tolist()
    widths = [max(columns_of(name), LEAST) for name in across]
    blocks = _blocks(widths, width - left)
    if len(blocks) > BLOCKS or left + 1 + max(widths) > width:
        return [
            cut(f"{padded(name, left)}-> {_strongest(row, across)}", width, more)
            for name, row in zip(down, rows, strict=True)
        ]
    shades = None if color else SHADES if unicode else ASCII_SHADES
    lines: list[str] = []
    for block in blocks:
        names = map(padded, across[block], widths[block])
        lines += [""] * bool(lines) + [" ".join([" " * left, *names]).rstrip()]
        for name, row in zip(down, rows, strict=True):
            cells = (_cell(w, n, shades) for w, n in zip(row[block], widths[block], strict=True))
            lines.append(" ".join([padded(name, left), *cells]).rstrip())
    return lines


def cut(text: str, width: int, more: str = "…") -> str:
    """The text in at most so many columns, with a sign where there was more.

    >>> cut("西安很大", 6), cut("西安", 6)
    ('西安…', '西安')
    """
    if columns_of(text) <= width:
        return text
    room, kept = width - 1, ""
    for letter in text:
        room -= _columns(letter)
        if room < 0:
            break
        kept += letter
    return (kept + more)[: max(width, 0)]


def padded(text: str, width: int) -> str:
    """The text with spaces behind it, in so many columns."""
    return text + " " * (width - columns_of(text))


def _blocks(widths: Sequence[int], room: int) -> list[slice]:
    """Which columns go into each block, every one with a space in front of it."""
    blocks, start, used = [], 0, 0
    for i, width in enumerate(widths):
        used += width + 1
        if used > room and i > start:
            blocks.append(slice(start, i))
            start, used = i, width + 1
    return [*blocks, slice(start, len(widths))]


def _strongest(row: Sequence[float], names: Sequence[str]) -> str:
    finite = [(weight, -i) for i, weight in enumerate(row) if math.isfinite(weight)]
    if not finite:
        return "?"
    weight, i = max(finite)
    return f"{names[-i]} {weight:.2f}"


def _cell(weight: float, width: int, shades: str | None) -> str:
    """A weight in one of the shades, or without them in a colour, from dark to bright."""
    if not math.isfinite(weight):
        return "?" * width
    if shades is not None:
        return shades[sum(weight >= step for step in STEPS)] * width
    part = min(max(weight, 0.0), 1.0)
    low, high, along = (COLD, WARM, 2 * part) if part < HALF else (WARM, HOT, 2 * part - 1)
    red, green, blue = (round(a + (b - a) * along) for a, b in zip(low, high, strict=True))
    text = f"{round(100 * part)}" if part >= STEPS[0] else ""
    letters = DARK if part > HALF else LIGHT
    return f"\x1b[48;2;{red};{green};{blue}m\x1b[{letters}m{text:^{width}}\x1b[0m"

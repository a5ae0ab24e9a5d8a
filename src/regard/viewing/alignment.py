"""A figure of an alignment: which source token each target token was written from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from regard.errors import ShapeError, ValueRangeError
from regard.optional import need
from regard.viewing.figures import FAINT, INK, LOOK, Axes, AxesImage, Figure, matrix_image
from regard.viewing.fonts import lettering
from regard.viewing.terminal import columns_of, label

__all__ = ["check_drawable", "draw_alignment"]

CELL = 0.44  # inches a token, where there is room
ROOM = (13.0, 15.0)  # inches of all cells, at most
LETTER = 0.075  # inches a column of a label takes, in its size
SIZE = 10.5  # points of a label where there is room
NUMBERED = 400  # cells that get a number each; more would be a grey of digits
NAMED = 160  # tokens on a side that get a label each; more could not be read
LARGEST = 2000  # tokens on a side that are drawn; a cell of more would be less than a dot
SEEN = 0.095  # weights from here on are worth a number
DARK = 0.5  # weights from here on have a dark cell, and so a white number
PLAIN = {"parse_math": False}  # a token may be a dollar sign
UPRIGHT = {"rotation": 60, "ha": "left", "va": "bottom", "rotation_mode": "anchor"}


def draw_alignment(
    weights: Tensor, source_tokens: Sequence[str], tokens: Sequence[str], title: str | None = None
) -> Figure:
    """Draw a row a target token and a column a source token, dark where it looked.

    Up to 400 cells hold their per cents; more have a colour bar beside them. Of more than 160
    tokens on a side the places are counted, not named. More than 2,000 are not drawn.

    Args:
        weights: [n, m], from each target token to the source tokens.
        source_tokens: m pieces, written above the columns.
        tokens: n pieces, written beside the rows.
        title: above it all.

    Returns:
        A matplotlib Figure; ``regard.viewing.save`` writes it.

    >>> import torch
    >>> from regard.viewing import draw_alignment
    >>> figure = draw_alignment(torch.eye(2), ["▁bon", "jour"], ["▁good", "▁day"])
    >>> [text.get_text() for text in figure.axes[0].get_xticklabels()]
    ['bon', 'jour']

    """
    n, m = len(tokens), len(source_tokens)
    if tuple(weights.shape) != (n, m) or not n or not m:
        msg = (
            f"weights must be [n, m], a row a token and a column a source token, and not empty: "
            f"there are {n} and {m} of them, got the shape {list(weights.shape)}"
        )
        raise ShapeError(msg)
    check_drawable(n, m)
    matplotlib = need("matplotlib", extra="view", why="a figure")
    named = max(n, m) <= NAMED
    across, down = ([label(token) for token in side] for side in (source_tokens, tokens))
    letters = lettering([*(across + down if named else ()), title])
    across, down = ([letters.text(name) for name in side] for side in (across, down))
    cell = min(CELL, ROOM[0] / m, ROOM[1] / n)
    size = max(SIZE * min(1.0, 1.25 * cell / CELL), 3.0)
    turned = _longest(across, size) > 1.05 * cell
    with matplotlib.rc_context(LOOK):
        figure = need("matplotlib.figure", extra="view", why="a figure").Figure(
            figsize=(
                max(
                    cell * m + (_longest(down, size) if named else 0.5) + 0.6 + (n * m > NUMBERED),
                    min(_longest([title or ""], 12.0) + 0.3, ROOM[0]),  # a title is not cut off
                ),
                cell * n + (_longest(across, size) if turned and named else 0.3) + 0.7,
            ),
            layout="compressed",
        )
        ax = figure.subplots()
        image = matrix_image(ax, _array(weights), cmap="Blues", most=1.0, aspect="equal")
        ax.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0, pad=4)
        ax.spines[:].set_color("#d0d0d0")
        if named:
            style = letters.style | {"fontsize": size} | PLAIN
            ax.set_xticks(range(m), across, **style, **(UPRIGHT if turned else {}))
            ax.set_yticks(range(n), down, **style)
            _lines(ax, n, m)
        if n * m <= NUMBERED:
            _numbers(ax, weights, 0.74 * size)
            ax.set_xlabel("attention weight, %", color=FAINT)
        else:
            _bar(figure, ax, image)
        if title:
            style = letters.style | PLAIN
            figure.suptitle(letters.text(title), fontsize=11.5, color=INK, **style)
    return figure


def check_drawable(n: int, m: int) -> None:
    """Raise if an alignment of n tokens to m source tokens is too large for a figure."""
    if max(n, m) > LARGEST:
        msg = (
            f"a figure of an alignment has at most {LARGEST:,} tokens on a side, got {n:,} written "
            f"and {m:,} read; draw a part of the text"
        )
        raise ValueRangeError(msg)


def _array(weights: Tensor) -> Any:  # noqa: ANN401 - an array of numpy's
    return weights.detach().double().cpu().numpy()


def _longest(names: Sequence[str], size: float) -> float:
    """Inches of the longest of these labels."""
    return max(map(columns_of, names)) * LETTER * size / SIZE


def _lines(ax: Axes, n: int, m: int) -> None:
    """Pale lines between the cells, so that one can be told from the next."""
    ax.set_xticks([i - 0.5 for i in range(1, m)], minor=True)
    ax.set_yticks([i - 0.5 for i in range(1, n)], minor=True)
    ax.grid(which="minor", color="#e6e6e6", linewidth=0.7)
    ax.tick_params(which="minor", top=False, bottom=False, left=False)


def _numbers(ax: Axes, weights: Tensor, size: float) -> None:
    style = {"fontsize": size, "ha": "center", "va": "center"}
    for i, row in enumerate(_array(weights).tolist()):
        for j, weight in enumerate(row):
            if SEEN <= weight <= 1.01:  # noqa: PLR2004 - what is no weight has no per cents
                color = "white" if weight > DARK else INK
                ax.text(j, i, f"{100 * weight:.0f}", color=color, **style)


def _bar(figure: Figure, ax: Axes, image: AxesImage) -> None:
    bar = figure.colorbar(image, ax=ax, pad=0.02, aspect=18, shrink=0.4, anchor=(0.0, 1.0))
    bar.set_ticks([0, 0.5, 1], labels=["0", "50", "100"])
    bar.set_label("attention weight, %", color=FAINT)
    bar.ax.tick_params(length=0, labelcolor=FAINT)
    bar.outline.set_visible(False)

"""Which words each word looked at, drawn as well as the terminal can."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from torch import Tensor

from regard.cli.terminals import has_colors, has_shades
from regard.tasks.tagging.tagged_words import MOST
from regard.viewing.terminal import alignment_lines

if TYPE_CHECKING:
    from regard.tasks.tagging import Tagged

__all__ = ["draw", "show"]

Look = Callable[["Tagged"], Tensor]


def show(tagged: Tagged, weights: Look, stream: TextIO) -> None:
    """Write a row a word, dark where it looked, and an empty line between two sentences."""
    for i, sentence in enumerate(tagged.sentences):
        if len(sentence) > MOST:
            lines = [f"({len(sentence):,} words, which are too many to draw)"]
        else:
            lines = alignment_lines(
                weights(sentence),
                sentence.words,
                _rows(sentence),
                width=shutil.get_terminal_size().columns,
                color=has_colors(stream),
                unicode=has_shades(stream),
            )
        stream.write("".join(f"{line}\n" for line in ([""] if i else []) + lines))
    stream.flush()


def draw(tagged: Tagged, weights: Look, path: Path) -> bool:
    """Save the same of all sentences as a figure; False if there is nothing in it.

    Raises:
        ValueRangeError: the text is too long for a figure.

    """
    from regard.viewing import draw_alignment, figures  # noqa: PLC0415 - imports matplotlib later
    from regard.viewing.alignment import check_drawable  # noqa: PLC0415 - likewise

    if not tagged.words:
        return False
    # before the weights: those of a whole text are as many as its words, squared
    check_drawable(len(tagged.words), len(tagged.words))
    figures.save(draw_alignment(weights(tagged), tagged.words, _rows(tagged)), path)
    return True


def _rows(tagged: Tagged) -> list[str]:
    return [f"{word}/{label}" for word, label in tagged]

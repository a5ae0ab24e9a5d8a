"""Alignments of translations, drawn as well as the terminal can."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from regard.viewing.terminal import SHADES, alignment_lines

if TYPE_CHECKING:
    from regard.tasks.translation.translated import Translation

__all__ = ["draw", "show"]


def show(translation: Translation, stream: TextIO) -> None:
    """Write the alignment of each sentence, with an empty line between two."""
    shown = [part for part in translation.parts or (translation,) if part.tokens]
    for i, part in enumerate(shown):
        lines = alignment_lines(
            part.look(),  # not kept: those of a long text would fill the memory
            part.source_tokens,
            part.tokens,
            width=shutil.get_terminal_size().columns,
            color=_has_colors(stream),
            unicode=_has_shades(stream),
        )
        stream.write("".join(f"{line}\n" for line in ([""] if i else []) + lines))
    stream.flush()


def draw(translation: Translation, path: Path) -> bool:
    """Save the alignment as a figure; False if there is nothing in it.

    Raises:
        ValueRangeError: the text is too long for a figure.

    """
    from regard.viewing import draw_alignment, figures  # noqa: PLC0415 - imports matplotlib later
    from regard.viewing.alignment import check_drawable  # noqa: PLC0415 - likewise

    if not translation.tokens:
        return False
    # before the weights: those of a whole text are as many as its tokens, squared
    check_drawable(len(translation.tokens), len(translation.source_tokens))
    figure = draw_alignment(translation.weights, translation.source_tokens, translation.tokens)
    figures.save(figure, path)
    return True


def _has_colors(stream: TextIO) -> bool:
    told = os.environ.get("COLORTERM", "") in {"truecolor", "24bit"}
    return told and stream.isatty() and "NO_COLOR" not in os.environ


def _has_shades(stream: TextIO) -> bool:
    try:
        f"{SHADES}…中".encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True

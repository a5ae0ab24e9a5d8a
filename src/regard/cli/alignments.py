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
            part.weights,
            part.source_tokens,
            part.tokens,
            width=shutil.get_terminal_size().columns,
            color=_has_colors(stream),
            unicode=_has_shades(stream),
        )
        stream.write("".join(f"{line}\n" for line in ([""] if i else []) + lines))
    stream.flush()


def draw(translation: Translation, path: Path) -> bool:
    """Save the alignment as a figure; False if there is nothing in it."""
    from regard.viewing import draw_alignment, figures  # noqa: PLC0415 - imports matplotlib later

    if not translation.tokens:
        return False
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

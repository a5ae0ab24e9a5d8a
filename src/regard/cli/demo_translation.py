"""The end of ``regard demo``: a few sentences translated, and where the words looked."""

from __future__ import annotations

import sys
from pathlib import Path

from regard.cli.translate import MODEL
from regard.optional import has

__all__ = ["SENTENCES", "alignment_path", "show"]

SENTENCES = ("你想看书吗？", "如果明天下雨，我就待在家里。", "这本书是谁写的？")  # noqa: RUF001 - Chinese
DRAWN = 1  # which of them has its alignment drawn


def alignment_path(path: Path) -> Path:
    """Where the figure of the alignment goes, beside the first one.

    >>> alignment_path(Path("build/demo.png")).name
    'demo-alignment.png'
    """
    return path.with_name(f"{path.stem}-alignment{path.suffix}")


def show(path: Path | None) -> None:
    """Translate and draw, or say in a line why not.

    Args:
        path: the figure of the demo; None: none is wanted.

    """
    write = sys.stdout.write
    if not has("sentencepiece"):
        write("To see a translation too: pip install 'regard[text]'\n")
        return
    from regard.cli import alignments  # noqa: PLC0415 - imports torch
    from regard.tasks.translation.translator import Translator, shipped_models  # noqa: PLC0415
    from regard.viewing.terminal import columns_of, padded  # noqa: PLC0415 - imports torch

    if MODEL not in shipped_models():
        write(f"No translation to see: no model {MODEL} came with this regard\n")
        return
    write(f"Attention at work, in the model {MODEL}:\n\n")
    found = Translator.load(shipped_models()[MODEL])(SENTENCES)
    widest = max(columns_of(translation.source) for translation in found)
    for translation in found:
        write(f"  {padded(translation.source, widest)}  {translation.text}\n")
    write("\nWhere each word looked, darker for more:\n\n")
    alignments.show(found[DRAWN], sys.stdout)
    write("\n")
    if path is not None:
        alignments.draw(found[DRAWN], alignment_path(path))
        write(f"The same is drawn in {alignment_path(path)}\n")
    write(f'Your own: regard translate "{SENTENCES[0]}" --show\n')

"""The verb ``regard export``: a translator as ONNX graphs, for programs without regard."""

from __future__ import annotations

import argparse
from pathlib import Path

from regard.cli.progress import progress
from regard.cli.prose import say

__all__ = ["arguments", "run"]

MIB = 2**20


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags and the help text of ``regard export``."""
    parser.description = (
        "Write a translator as two ONNX graphs, encoder.onnx and decoder.onnx, beside them its "
        "vocabularies, and a README.md with the few lines of Python that translate with them."
    )
    add = parser.add_argument
    add(
        "translator",
        metavar="RUN|NAME",
        help="the folder of a run, or a model that comes with regard",
    )
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="where to; new or empty, or an earlier export, which is written over",
    )


def run(args: argparse.Namespace) -> int:
    """Load, export, write."""
    from regard.tasks.translation.exported import (  # noqa: PLC0415 - imports torch
        check_folder,
        export,
        save,
    )
    from regard.tasks.translation.translator import Translator  # noqa: PLC0415 - likewise

    check_folder(args.out)  # before the work
    with progress() as tell:
        tell("reading", 0.0)
        translator = Translator.load(args.translator)
        tell("exporting", 0.1)
        graphs = export(translator.model)
    source, target = translator.source, translator.target
    paths = save(
        graphs, source.model, target.model, args.out, vocab=len(target), example="介绍一下西安"
    )
    size = sum(path.stat().st_size for path in paths) / MIB
    names = ", ".join(path.name for path in paths)
    say(f"{args.out} has {names}: {size:.1f} MiB.")
    return 0

"""The verb ``regard translate``: texts in, their translations out."""

from __future__ import annotations

import argparse
import gc
import json
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli import pages, texts
from regard.cli.drawings import check_drawings
from regard.cli.flags import number
from regard.cli.progress import progress
from regard.cli.streams import complain
from regard.errors import ValueRangeError

if TYPE_CHECKING:  # torch takes seconds to import, and `regard translate --help` does without
    from regard.tasks.translation.translated import Translation
    from regard.tasks.translation.translator import Translator

__all__ = ["MODEL", "arguments", "as_json", "run", "search_flags"]

MODEL = "zh-en"  # which to take unless told
BEAM = 4
WIDEST = 100  # as the translator has it
DIGITS = 6  # of a weight in JSON


def search_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of every verb that translates."""
    add = parser.add_argument
    add(
        "--beam",
        type=lambda text: number(text, int, 1, WIDEST),
        metavar="N",
        help=f"translations followed at a time; 1 is greedy (default {BEAM}, or --n-best)",
    )
    add(
        "--length-penalty",
        type=lambda text: number(text, float, -10, 10),
        default=1.0,
        metavar="X",
        help="more favours longer translations (default %(default)s)",
    )
    add(
        "--device",
        choices=("cpu", "cuda"),
        default="cpu",
        help="where to compute (default %(default)s)",
    )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags and the help text of ``regard translate``."""
    parser.description = (
        "Translate texts, the lines of a file, or without either the lines of standard input, each "
        "answered at once. A long text is translated sentence by sentence. Only translations go to "
        "standard output, one line for each text; drawings and messages go to standard error."
    )
    add = parser.add_argument
    add("text", nargs="*", metavar="TEXT", help="what to translate; quote it")
    add("--file", type=Path, metavar="PATH", help="a file of lines to translate, in UTF-8")
    add(
        "--model",
        metavar="NAME|RUN",
        help=f"a model that comes with regard, or the folder of a run (default {MODEL})",
    )
    search_flags(parser)
    add(
        "--n-best",
        type=lambda text: number(text, int, 1, WIDEST),
        default=1,
        metavar="N",
        help="print so many different translations, each with its score and a tab before it",
    )
    add("--show", action="store_true", help="draw which source word each word looked at")
    add(
        "--figure",
        type=Path,
        metavar="PATH",
        help="save that drawing of one text there, as .png, .svg or .pdf",
    )
    pages.flag(parser, "it, with each of the --n-best translations,")
    add(
        "--json",
        action="store_true",
        help="print an object a line: translation, tokens, score, weights, alternatives",
    )


def _check(args: argparse.Namespace) -> None:
    """Before the work: a typing error should not cost it."""
    if args.text and args.file is not None:
        msg = "translate takes a TEXT or --file, got both"
        raise ValueRangeError(msg)
    if args.beam is not None and args.n_best > args.beam:
        msg = f"--n-best must be at most --beam {args.beam}, got {args.n_best}"
        raise ValueRangeError(msg)
    check_drawings(args.figure, args.page, args.text, "TEXT")


def run(args: argparse.Namespace) -> int:
    """Translate, and print as asked to."""
    _check(args)
    file = None if args.file is None else args.file.open("rb")  # missed before torch is imported
    from regard.tasks.translation.translator import (  # noqa: PLC0415 - imports torch
        Translator,
        shipped_models,
    )

    # nobody said the name: a run that is called so is not meant
    model = shipped_models().get(MODEL, MODEL) if args.model is None else args.model
    gc.disable()  # it would look through all of torch, in a tenth of a second, and find nothing
    try:
        translator = Translator.load(model, args.device)
    finally:
        gc.enable()
    answer = _Answer(args, translator)
    if args.text:
        answer.all(map(texts.word, args.text))
    elif file is not None:
        with file:
            answer.all(texts.lines(file, str(args.file)))
    else:
        for line in texts.typed():
            answer.all([line])
            sys.stdout.flush()
    answer.end()
    return 0


class _Answer:
    """Translates and prints what came of it."""

    def __init__(self, args: argparse.Namespace, translator: Translator) -> None:
        self.args, self.translator = args, translator
        self.beam = args.beam or max(BEAM, args.n_best)
        self.started = False
        self.few = 0

    def all(self, given: Iterable[str]) -> None:
        """Answer some texts at a time, in their order."""
        for some in texts.grouped(given):
            with progress() as tell:
                found = self.translator(
                    some,
                    beam=self.beam,
                    n_best=self.args.n_best,
                    length_penalty=self.args.length_penalty,
                    tell=lambda part: tell("translating", part),
                )
            for translation in found:
                self._print(translation)
                self.few += 0 < len(translation.alternatives) < self.args.n_best

    def end(self) -> None:
        """Say what was asked for and is not there."""
        if self.few:
            whose = "a text has" if self.few == 1 else f"{self.few:,} texts have"
            wanted = self.args.n_best
            complain(f"{whose} fewer than {wanted} different translations in a beam of {WIDEST}")

    def _print(self, translation: Translation) -> None:
        if self.args.json:
            sys.stdout.write(as_json(translation) + "\n")
        elif self.args.n_best > 1:
            sys.stdout.write("\n" * self.started)  # between those of two texts
            for way in translation.alternatives:
                sys.stdout.write(f"{way.score:.4f}\t{way.text}\n")
        else:
            sys.stdout.write(translation.text + "\n")
        self.started = True
        if self.args.page is not None:
            sys.stdout.flush()
            view = pages.of_translation(translation)
            if view is not None:
                view.save(self.args.page)
            what = "Nothing to show" if view is None else f"The page is {self.args.page}"
            sys.stderr.write(f"{what}\n")
        if self.args.show or self.args.figure is not None:
            from regard.cli import alignments  # noqa: PLC0415 - imports torch

            sys.stdout.flush()  # the drawing belongs below its text
            if self.args.show:
                alignments.show(translation, sys.stderr)
            if self.args.figure is not None:
                drawn = alignments.draw(translation, self.args.figure)
                what = f"The alignment is in {self.args.figure}" if drawn else "Nothing to draw"
                sys.stderr.write(f"{what}\n")


def as_json(translation: Translation) -> str:
    """Everything about a translation on one line; what is no number is null.

    Of a text of several sentences ``weights`` is null and ``parts`` has an object a sentence: the
    weights of all tokens of one on all of the other would be mostly zeros, and fill any memory.
    """
    # where the terminal cannot show a letter its escape must be JSON's, not Python's
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    return json.dumps(_object(translation), ensure_ascii=plain, allow_nan=False)


def _object(translation: Translation) -> dict[str, Any]:
    def clean(value: float) -> float | None:
        return value if math.isfinite(value) else None

    whole: dict[str, Any] = {
        "source": translation.source,
        "translation": translation.text,
        "source_tokens": translation.source_tokens,
        "tokens": translation.tokens,
        "score": clean(translation.score),
        "weights": None,
        "alternatives": [
            {"translation": way.text, "tokens": way.tokens, "score": clean(way.score)}
            for way in translation.alternatives
        ],
    }
    if translation.parts:
        whole["parts"] = [_object(part) for part in translation.parts]
    else:
        rows = translation.look().tolist()  # not kept: those of a long text fill the memory
        whole["weights"] = [[clean(round(weight, DIGITS)) for weight in row] for row in rows]
    return whole

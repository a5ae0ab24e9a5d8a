"""The verb ``regard tag``: texts in, their words with labels out."""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli import pages, texts
from regard.cli.drawings import check_drawings
from regard.cli.flags import number
from regard.cli.progress import progress
from regard.errors import StateError, ValueRangeError

if TYPE_CHECKING:  # torch takes seconds to import, and `regard tag --help` does without
    from torch import Tensor

    from regard.tasks.tagging import Tagged, Tagger

__all__ = ["MODEL", "arguments", "as_json", "run"]

MODEL = "en"  # which to take unless told
DIGITS = 6  # of a number in JSON


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags and the help text of ``regard tag``."""
    parser.description = (
        "Give each word of a text its label, such as its part of speech: of texts, of the lines of "
        "a file, or without either of the lines of standard input, each answered at once. Only "
        "tagged words go to standard output, a line for each sentence; drawings and messages go to "
        "standard error."
    )
    add = parser.add_argument
    add("text", nargs="*", metavar="TEXT", help="what to tag; quote it")
    add("--file", type=Path, metavar="PATH", help="a file of lines to tag, in UTF-8")
    add(
        "--model",
        metavar="NAME|RUN",
        help=f"a model that comes with regard, or the folder of a run (default {MODEL})",
    )
    add(
        "--words",
        action="store_true",
        help="each text or line is a sentence whose words have spaces between them already",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--tsv",
        action="store_true",
        help="print a word and its label a line, with a tab between and an empty line after each "
        "sentence, as `regard train tagging` reads it",
    )
    form.add_argument(
        "--json",
        action="store_true",
        help="print an object a text: sentences with words, labels and probabilities",
    )
    add("--weights", action="store_true", help="in JSON also how much each word looked at each")
    add("--show", action="store_true", help="draw which words each word looked at")
    add(
        "--figure",
        type=Path,
        metavar="PATH",
        help="save that drawing of one text there, as .png, .svg or .pdf",
    )
    pages.flag(parser, "all layers and heads of one text")
    add(
        "--layer",
        type=lambda text: number(text, int, 1, 100),
        metavar="N",
        help="draw the Nth layer of attention, not the mean of all",
    )
    add(
        "--head",
        type=lambda text: number(text, int, 1, 1024),
        metavar="N",
        help="draw the Nth head, not the mean of all",
    )
    add(
        "--device",
        choices=("cpu", "cuda"),
        default="cpu",
        help="where to compute (default %(default)s)",
    )


def _check(args: argparse.Namespace) -> None:
    """Before the work: a typing error should not cost it."""
    if args.text and args.file is not None:
        msg = "tag takes a TEXT or --file, got both"
        raise ValueRangeError(msg)
    if args.weights and not args.json:
        msg = "--weights are printed with --json only; give that, too, or --show"
        raise ValueRangeError(msg)
    drawn = args.show or args.figure is not None or args.page is not None or args.weights
    if (args.layer or args.head) and not drawn:
        msg = (
            "--layer and --head say what is drawn; give --show, --figure, --page or --weights, too"
        )
        raise ValueRangeError(msg)
    check_drawings(args.figure, args.page, args.text, "TEXT")


def run(args: argparse.Namespace) -> int:
    """Tag, and print as asked to."""
    _check(args)
    file = None if args.file is None else args.file.open("rb")  # missed before torch is imported
    from regard.tasks.tagging.tagger import Tagger, shipped_models  # noqa: PLC0415 - imports torch

    # nobody said the name: a run that is called so is not meant
    model = shipped_models().get(MODEL, MODEL) if args.model is None else args.model
    gc.disable()  # it would look through all of torch, in a tenth of a second, and find nothing
    try:
        tagger = Tagger.load(model, args.device)
    finally:
        gc.enable()
    answer = _Answer(args, tagger)
    if args.text:
        answer.all(map(texts.word, args.text))
    elif file is not None:
        with file:
            answer.all(texts.lines(file, str(args.file)))
    else:
        for line in texts.typed():
            answer.all([line])
            sys.stdout.flush()
    return 0


class _Answer:
    """Tags and prints what came of it."""

    def __init__(self, args: argparse.Namespace, tagger: Tagger) -> None:
        self.args, self.tagger = args, tagger
        if args.show or args.figure is not None or args.page is not None or args.weights:
            self._check_looks()

    def _check_looks(self) -> None:
        """Whether there is what should be drawn."""
        config = self.tagger.model.config.encoder
        if not self.tagger.looks:
            msg = (
                f"this model's encoder is {config.kind!r}, which has no attention to draw; train "
                "one with --encoder self-attention, or leave --show, --figure and --weights out"
            )
            raise StateError(msg)
        for name, most in (("layer", config.layers), ("head", config.heads)):
            asked = getattr(self.args, name)
            if asked is not None and asked > most:
                msg = f"--{name} must be from 1 to {most}, as many as this model has, got {asked}"
                raise ValueRangeError(msg)

    def all(self, given: Iterable[str]) -> None:
        """Answer some texts at a time, in their order."""
        for some in texts.grouped(given):
            with progress() as tell:
                found = self.tagger.many(
                    [text.split() if self.args.words else text for text in some],
                    tell=lambda part: tell("tagging", part),
                )
            for tagged in found:
                self._print(tagged)

    def _print(self, tagged: Tagged) -> None:
        if self.args.json:
            sys.stdout.write(as_json(tagged, self._weights if self.args.weights else None) + "\n")
        elif self.args.tsv:
            for sentence in tagged.sentences:
                rows = "".join(f"{word}\t{label}\n" for word, label in sentence)
                sys.stdout.write(rows + "\n")
        else:
            lines = [str(sentence) for sentence in tagged.sentences] or [""]
            sys.stdout.write("".join(f"{line}\n" for line in lines))
        if self.args.show or self.args.figure is not None:
            self._draw(tagged)
        if self.args.page is not None:
            sys.stdout.flush()
            view = pages.of_tagged(tagged, self.args.layer, self.args.head)
            if view is not None:
                view.save(self.args.page)
            what = "Nothing to show" if view is None else f"The page is {self.args.page}"
            sys.stderr.write(f"{what}\n")

    def _weights(self, sentence: Tagged) -> Tensor:
        """[words, words] of the layer and the head that are asked for, or the mean."""
        found = sentence.look()  # not kept: those of many sentences would fill the memory
        layer, head = self.args.layer, self.args.head
        found = found if layer is None else found[layer - 1 : layer]
        found = found if head is None else found[:, head - 1 : head]
        return found.mean((0, 1))

    def _draw(self, tagged: Tagged) -> None:
        from regard.cli import attended  # noqa: PLC0415 - imports torch

        sys.stdout.flush()  # the drawing belongs below its text
        if self.args.show:
            attended.show(tagged, self._weights, sys.stderr)
        if self.args.figure is not None:
            drawn = attended.draw(tagged, self._weights, self.args.figure)
            what = f"The drawing is in {self.args.figure}" if drawn else "Nothing to draw"
            sys.stderr.write(f"{what}\n")


def as_json(tagged: Tagged, weights: Any = None) -> str:  # noqa: ANN401 - a function or None
    """A text on one line: its sentences with words, labels, probabilities and perhaps weights."""
    sentences = []
    for sentence in tagged.sentences:
        told: dict[str, Sequence[Any]] = {
            "words": sentence.words,
            "labels": sentence.labels,
            "probabilities": [round(x, DIGITS) for x in sentence.probabilities],
        }
        if weights is not None:
            told["weights"] = [
                [round(x, DIGITS) for x in row] for row in weights(sentence).tolist()
            ]
        sentences.append(told)
    # where the terminal cannot show a letter its escape must be JSON's, not Python's
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    return json.dumps({"sentences": sentences}, ensure_ascii=plain, allow_nan=False)

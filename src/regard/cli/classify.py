"""The verb ``regard classify``: texts, sounds or images in, a label for each out."""

from __future__ import annotations

import argparse
import gc
import json
import math
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.cli import pages
from regard.cli.drawings import check_drawings
from regard.cli.flags import number
from regard.cli.streams import complain
from regard.cli.terminals import has_colors, has_shades
from regard.cli.texts import typed, word
from regard.errors import RegardError, ValueRangeError
from regard.tasks.findings import shown

if TYPE_CHECKING:  # torch takes seconds to import, and `regard classify --help` does without
    from regard.tasks.classification import Classified, Classifier

__all__ = ["arguments", "as_json", "run"]

TOGETHER = 64  # classified at once
DIGITS = 6  # of a number in JSON
REFUSED = 2  # the exit code if something was


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags and the help text of ``regard classify``."""
    parser.description = (
        "Find the label of texts, sounds (WAV) or images, whatever the model was trained for. For "
        "each a line goes to standard output: label, probability and what was classified, with "
        "tabs between. What cannot be read gets a line on standard error, the others their labels, "
        "and the exit code is 2."
    )
    add = parser.add_argument
    add(
        "what",
        nargs="*",
        metavar="PATH_OR_TEXT",
        help="files, or folders of them; of a text model texts, or without any the lines of "
        "standard input",
    )
    add("--model", required=True, metavar="RUN", help="the folder of a run")
    add(
        "--top",
        type=lambda text: number(text, int, 1, 1_000_000),
        default=1,
        metavar="N",
        help="print the N likeliest labels of each, a line a label (default %(default)s)",
    )
    add("--json", action="store_true", help="print an object a line: all probabilities, weights")
    add("--show", action="store_true", help="draw in the terminal where the model looked")
    add(
        "--figure",
        type=Path,
        metavar="PATH",
        help="draw where it looked at one of them, as .png, .svg or .pdf: over the words, the "
        "spectrogram or the image",
    )
    pages.flag(parser, "where it looked at one of them")
    add(
        "--device",
        choices=("cpu", "cuda"),
        default="cpu",
        help="where to compute (default %(default)s)",
    )


def _check(args: argparse.Namespace) -> None:
    """Before the work: a typing error should not cost it."""
    if args.json and args.top > 1:
        msg = "--json prints all labels anyway; leave --top out"
        raise ValueRangeError(msg)
    check_drawings(args.figure, args.page, args.what, "PATH_OR_TEXT")


class _Named(NamedTuple):
    """Something to classify, and how it is called."""

    name: str
    what: Any  # a text, a path or pixels


def run(args: argparse.Namespace) -> int:
    """Classify, and print as asked to; 2 if something was refused."""
    _check(args)
    from regard.tasks.classification import Classifier  # noqa: PLC0415 - imports torch

    gc.disable()  # it would look through all of torch, in a tenth of a second, and find nothing
    try:
        classifier = Classifier.load(args.model, args.device)
    finally:
        gc.enable()
    if not args.what and classifier.kind != "text":
        msg = f"the model takes {_PLURAL[classifier.kind]}; give one or more PATHs"
        raise ValueRangeError(msg)
    answer = _Answer(args, classifier)
    if classifier.kind != "text":
        things = answer.found(args.what)
        one = next((x for x in ("figure", "page") if getattr(args, x) is not None), None)
        answer.all(things if one is None else _only(things, args.what[0], one))
    elif args.what:
        answer.all(_Named(text, text) for text in map(word, args.what))
    else:  # a line is answered before the next one is typed
        answer.all((_Named(text, text) for text in typed()), together=1)
    return answer.end()


_PLURAL = {"text": "texts", "sound": "WAV files", "images": "image files"}


def _only(things: Iterator[_Named], name: str, flag: str) -> list[_Named]:
    """The one thing there is to draw."""
    few = list(islice(things, 2))
    if len(few) > 1:
        does = "draws" if flag == "figure" else "shows"
        msg = f"--{flag} {does} one PATH_OR_TEXT, and there are several in {name}"
        raise ValueRangeError(msg)
    return few


class _Answer:
    """Classifies and prints what came of it."""

    def __init__(self, args: argparse.Namespace, classifier: Classifier) -> None:
        self.args, self.classifier = args, classifier
        self.answered = self.refused = 0

    def found(self, names: Iterable[str]) -> Iterator[_Named]:
        """The files with these names or in such folders; of a file of several images each."""
        from regard.tasks.classification.several import several  # noqa: PLC0415 - torch

        for name in names:
            with self._refusing(name):
                for called, what in several(Path(name), self.classifier.kind):
                    yield _Named(called, what)

    def all(self, things: Iterable[_Named], *, together: int = TOGETHER) -> None:
        """Answer some at a time, in their order."""
        rest = iter(things)
        while some := list(islice(rest, together)):
            names, contents = [], []
            for thing in some:
                with self._refusing(thing.name):
                    contents.append(self.classifier.take(thing.what))
                    names.append(thing.name)
            self.answered += len(names)
            for name, found in zip(names, self.classifier.classified(contents), strict=True):
                self._print(name, found)
            sys.stdout.flush()

    @contextmanager
    def _refusing(self, name: str) -> Iterator[None]:
        """Say what is wrong with one of them, and go on with the next."""
        try:
            yield
        except (RegardError, OSError) as error:
            self.refused += 1
            sys.stdout.flush()
            complain(_one_line(error, name))

    def end(self) -> int:
        """The exit code; if anything was refused, how much of it all."""
        given = self.answered + self.refused
        if self.refused and given > 1:
            complain(f"{self.refused:,} of {given:,} could not be classified")
        return REFUSED if self.refused else 0

    def _print(self, name: str, classified: Classified) -> None:
        if self.args.json:
            sys.stdout.write(as_json(name, classified) + "\n")
        else:
            what = " ".join(name.split())
            for label, p in islice(classified.probabilities.items(), self.args.top):
                sys.stdout.write(f"{label}\t{p:.4f}\t{what}\n")
        if self.args.show:
            sys.stdout.flush()  # the drawing belongs below its line
            lines = classified.lines(
                width=shutil.get_terminal_size().columns,
                color=has_colors(sys.stderr),
                unicode=has_shades(sys.stderr),
            )
            sys.stderr.write("".join(f"{line}\n" for line in lines))
        if self.args.figure is not None:
            from regard.viewing import figures  # noqa: PLC0415 - imports torch

            figures.save(classified.draw(_title(name, classified)), self.args.figure)
            sys.stderr.write(f"The figure is in {self.args.figure}\n")
        if self.args.page is not None:
            sys.stdout.flush()
            pages.of_classified(name, classified).save(self.args.page)
            sys.stderr.write(f"The page is {self.args.page}\n")


def _title(name: str, classified: Classified) -> str:
    """The label, behind the name of the file; a text speaks for itself."""
    if classified.kind == "text":
        return classified.label
    return f"{Path(name).name}: {classified.label}"


def _one_line(error: Exception, name: str) -> str:
    told = shown(name)
    if isinstance(error, OSError):
        return f"{told}: {error.strerror or error}"
    text = " ".join(str(error).split())
    return text if text.startswith(told) else f"{told}: {text}"


def as_json(name: str, classified: Classified) -> str:
    """Everything about it on one line; what is no number is null."""

    def clean(value: float) -> float | None:
        return round(value, DIGITS) if math.isfinite(value) else None

    told = {
        "what": name,
        "label": classified.label,
        "probability": clean(classified.probability),
        "probabilities": {x: clean(p) for x, p in classified.probabilities.items()},
        "places": [
            x if isinstance(x, str) else [round(y, DIGITS) for y in x] for x in classified.places
        ],
        "weights": [clean(x) for x in classified.weights.tolist()],
    }
    # where the terminal cannot show a letter its escape must be JSON's, not Python's
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        plain = True  # half a character, in the name of a file
    return json.dumps(told, ensure_ascii=plain, allow_nan=False)

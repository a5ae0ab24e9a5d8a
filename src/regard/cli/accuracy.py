"""What ``regard evaluate`` says of taggers and classifiers."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from regard.cli.progress import progress
from regard.cli.prose import say
from regard.cli.table import print_table
from regard.errors import ValueRangeError

if TYPE_CHECKING:  # torch takes seconds to import, and `regard evaluate --help` does without
    from regard.tasks.classification.scoring import Scores as OfExamples
    from regard.tasks.tagging.scoring import Scores as OfWords

__all__ = ["classifier", "tagger"]

WORST, MISTAKES = 20, 10  # shown


def _refuse_search(args: argparse.Namespace, task: str) -> None:
    if args.beam is not None:
        msg = f"--beam is for translators, and this is a run of {task}; leave it out"
        raise ValueRangeError(msg)


def tagger(args: argparse.Namespace, keep: Callable[[str], None]) -> None:
    """Tag the words of a file and compare with its labels."""
    _refuse_search(args, "tagging")
    from regard.tasks.tagged import read_tagged  # noqa: PLC0415 - not for --help
    from regard.tasks.tagging.scoring import score  # noqa: PLC0415 - imports torch
    from regard.tasks.tagging.tagger import Tagger  # noqa: PLC0415 - imports torch

    model = Tagger.load(args.model, args.device)
    read = read_tagged(args.data, column=model.settings.column)
    for line in read.report():
        sys.stderr.write(f"{line}\n")
    with progress() as tell:
        scores = score(model, read.sentences, tell=lambda part: tell("tagging", part))
    keep(scores.to_tsv())
    _head(scores)
    parts = (("known words", scores.known), ("unknown words", scores.unknown))
    for name, part in parts:
        sys.stdout.write(f"{name}: {_percent(part.accuracy)} of {part.count:,}\n")
    whole = 100 * scores.whole / scores.sentences
    sys.stdout.write(f"whole sentences: {_percent(whole)} of {scores.sentences:,}\n\n")
    _rest(scores, "words", scores.all.count)
    rows = [
        (str(x.line), x.word, x.label, x.found, f"{x.probability:.3f}") for x in scores.worst(WORST)
    ]
    _worst(("line", "word", "is", "found", "probability"), rows)


def classifier(args: argparse.Namespace, keep: Callable[[str], None]) -> None:
    """Classify examples and compare with their labels."""
    _refuse_search(args, "classification")
    from regard.tasks.classification.classifier import Classifier  # noqa: PLC0415 - imports torch
    from regard.tasks.classification.examples import read_examples  # noqa: PLC0415 - imports torch
    from regard.tasks.classification.scoring import score  # noqa: PLC0415 - imports torch

    model = Classifier.load(args.model, args.device)
    read = read_examples(args.data, model.settings, model.kind, unique=False)
    for line in read.report:
        sys.stderr.write(f"{line}\n")
    with progress() as tell:
        scores = score(model, read.all, tell=lambda part: tell("classifying", part))
    keep(scores.to_tsv())
    _head(scores)
    sys.stdout.write("\n")
    _rest(scores, "examples", len(scores.examples))
    rows = [(x.name, x.label, x.found, f"{x.probability:.3f}") for x in scores.worst(WORST)]
    _worst(("example", "is", "found", "probability"), rows)


def _head(scores: OfWords | OfExamples) -> None:
    low, high = scores.interval
    sys.stdout.write(f"accuracy {scores.accuracy:6.2f}  ({low:.2f} to {high:.2f})\n")
    sys.stdout.write(f"                 {scores.signature}\n\n")


def _rest(scores: OfWords | OfExamples, unit: str, count: int) -> None:
    rows = [
        (x.label, f"{x.count:,}", _percent(x.recall), _percent(x.precision), _percent(x.f1))
        for x in scores.by_label()
    ]
    print_table(("label", unit, "found", "right when found", "F1"), rows)
    taken = [f"{a} for {b} ({often:,})" for a, b, often in _mistakes(scores)]
    if taken:
        say(f"Most often taken: {'; '.join(taken)}.")
    speed = count / max(scores.seconds, 1e-9)
    say(f"{count:,} {unit} in {scores.seconds:.1f} seconds, {speed:,.0f} a second.")


def _mistakes(scores: Any) -> Sequence[tuple[str, str, int]]:  # noqa: ANN401 - either kind
    found: Sequence[tuple[str, str, int]] = scores.mistakes(MISTAKES)
    return found


def _worst(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if rows:
        sys.stdout.write("\nThe mistakes it was surest of:\n\n")
        print_table(header, rows)


def _percent(share: float) -> str:
    return "none" if math.isnan(share) else f"{share:.2f} %"

"""The verb ``regard evaluate``: how good a model is, on data it has not seen."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli import columns
from regard.cli.progress import progress
from regard.cli.prose import say
from regard.cli.translate import BEAM, search_flags
from regard.errors import ValueRangeError

if TYPE_CHECKING:  # torch takes seconds to import, and `regard evaluate --help` does without
    from regard.tasks.translation.scoring import Scores, SentenceScore

__all__ = ["arguments", "report", "run", "worst_lines"]

WORST = 20  # sentences shown
NARROW = 12  # columns a text gets at least


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags and the help text of ``regard evaluate``."""
    parser.description = (
        "How good a model is on data it has not seen. A translator: BLEU and chrF by sacrebleu, "
        "with their signatures, and the sentences that came out worst. A tagger or a classifier: "
        "accuracy, each label's own, what is taken for what, and the mistakes it was surest of. "
        "What cannot be used is counted and told on standard error."
    )
    add = parser.add_argument
    add(
        "model",
        metavar="RUN|NAME",
        help="the folder of a run, or a model that comes with regard",
    )
    add(
        "--data",
        type=Path,
        required=True,
        metavar="PATH",
        help="what the model was trained on more of: pairs, words with labels, or labelled texts, "
        "sounds or images",
    )
    search_flags(parser)
    add(
        "--out",
        type=Path,
        metavar="PATH",
        help="write the scores of each sentence, word or example there, with tabs between",
    )
    add("--force", action="store_true", help="write over what is at --out")


def _target(args: argparse.Namespace) -> Path | None:
    """Where to write, or words, before the work: a typing error should not cost it."""
    if args.out is None:
        return None
    columns.check_not_read(args.out, [args.data])
    with suppress(FileNotFoundError):
        args.out.stat()  # links in a circle, a file as a folder: told in the system's words
    if args.out.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(args.out))
    if args.out.exists() and not args.out.is_file():
        msg = f"{args.out} is a device or a pipe, not a file; give another name"
        raise ValueRangeError(msg)
    if _is_standard_output(args.out):
        msg = f"{args.out} is where standard output goes; give another name"
        raise ValueRangeError(msg)
    if args.out.exists() and not args.force:
        msg = f"{args.out} is there already; give another name, or --force to write over it"
        raise ValueRangeError(msg)
    # a link stays one: what it points to is written
    target = Path(os.path.realpath(args.out))
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        # tried for real: rights, quotas and read-only disks cannot be told from outside
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        error.filename = str(args.out)  # the name the caller knows
        raise
    return target


def _is_standard_output(path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):  # one of them is no file
        return False


def run(args: argparse.Namespace) -> int:
    """Read, answer, score, and print."""
    target = _target(args)
    task = _task(args.model)
    if task == "translation":
        _translator(args, target)
    else:
        from regard.cli import accuracy  # noqa: PLC0415 - not for --help
        from regard.tasks.checkpoint import write_bytes  # noqa: PLC0415 - imports torch

        def keep(table: str) -> None:
            if target is not None:  # before anything is printed: nobody may be there to read it
                write_bytes(target, table.encode())

        (accuracy.tagger if task == "tagging" else accuracy.classifier)(args, keep)
        if target is not None:
            sys.stdout.write(f"The scores of each are in {args.out}\n")
    return 0


def _task(model: str) -> str:
    """What the model is for, by its run folder or its name."""
    from regard.tasks.run import Run  # noqa: PLC0415 - not for --help

    if (Path(model) / "run.json").exists():
        return Run.open(Path(model)).task
    shipped = Path(__file__).parent.parent / "tasks" / "tagging" / "shipped"
    return "tagging" if (shipped / model / "run.json").is_file() else "translation"


def _translator(args: argparse.Namespace, target: Path | None) -> None:
    """Translate the sources of pairs and compare with their targets."""
    from regard.tasks.pairs import read_pairs  # noqa: PLC0415 - not for --help

    pairs = read_pairs(args.data, unique=False)  # a sentence that comes twice counts twice
    for line in pairs.report()[pairs.dropped == {} :]:  # that all is well need not be told
        sys.stderr.write(f"{line}\n")
    from regard.tasks.checkpoint import write_bytes  # noqa: PLC0415 - imports torch
    from regard.tasks.translation.scoring import score  # noqa: PLC0415 - imports torch
    from regard.tasks.translation.translator import Translator  # noqa: PLC0415 - imports torch

    translator = Translator.load(args.model, args.device)
    with progress() as tell:
        scores = score(
            translator,
            pairs,
            beam=args.beam or BEAM,
            length_penalty=args.length_penalty,
            tell=lambda part: tell("translating", part),
        )
    if target is not None:  # before anything is printed: nobody may be there to read it
        write_bytes(target, scores.to_tsv().encode())
    report(scores)
    if target is not None:
        sys.stdout.write(f"The scores of {_counted(len(scores.sentences))} are in {args.out}\n")


def report(scores: Scores) -> None:
    """Print the scores, how they were counted, and the worst sentences."""
    count = len(scores.sentences)
    for name, value, signature in (
        ("BLEU", scores.bleu, scores.bleu_signature),
        ("chrF", scores.chrf, scores.chrf_signature),
    ):
        sys.stdout.write(f"{name} {value:6.2f}  {signature}\n")
    sys.stdout.write(f"             {scores.signature}\n\n")
    speed = count / max(scores.seconds, 1e-9)
    say(f"{_counted(count)} in {scores.seconds:.1f} seconds, {speed:.1f} a second.")
    worst = scores.worst(WORST)
    sys.stdout.write(f"\nThe {len(worst)} with the lowest chrF:\n\n" if len(worst) > 1 else "\n")
    width = min(shutil.get_terminal_size().columns, 160)
    sys.stdout.write("".join(f"{line}\n" for line in worst_lines(worst, width)) + "\n")


def _counted(count: int) -> str:
    return f"{count:,} sentence" if count == 1 else f"{count:,} sentences"


def worst_lines(worst: list[SentenceScore], width: int) -> list[str]:
    """A table of sentences in lines of at most this width, long texts cut."""
    from regard.viewing.terminal import cut, label, padded  # noqa: PLC0415 - imports torch

    room = max((width - 5 - 7 - 6) // 3, NARROW)

    def line(chrf: str, number: str, *texts: str) -> str:
        cells = (padded(cut(label(text), room), room) for text in texts)
        return "  ".join((f"{chrf:>5}", f"{number:>5}", *cells)).rstrip()

    rule = line("-----", "-----", *("-" * room,) * 3)
    header = line("chrF", "line", "source", "reference", "output")
    return [header, rule] + [
        line(f"{x.chrf:.1f}", str(x.line), x.source, x.reference, x.output) for x in worst
    ]

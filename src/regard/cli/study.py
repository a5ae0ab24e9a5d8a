"""The verb ``regard study``: encoders compared on one's own data, over how much of it there is."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.flags import number
from regard.cli.progress import progress
from regard.cli.table import print_table
from regard.errors import FileError
from regard.tasks.settings import add_flags, given, read_settings
from regard.tasks.studies.cells import Cell, cells, usual_sizes
from regard.tasks.studies.subjects import COMPARED, SUBJECTS, Subject

if TYPE_CHECKING:  # imports torch
    from regard.tasks.studies.results import Results, Summary

__all__ = ["arguments", "run"]

OWN = {"task", "encoder", "seed", "epochs", "input"}  # settings that a study decides itself
LATEST = 300  # characters of what a failed training said


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags and the help text of ``regard study``."""
    parser.description = (
        "Train several encoders on parts of the data of several sizes, with several seeds, all for "
        "the same number of steps, and judge each on the test data: one table, one plot. A study "
        "that was stopped goes on where it was when the command is given again."
    )
    subjects = parser.add_subparsers(dest="subject", required=True, metavar="SUBJECT")
    for name, subject in SUBJECTS.items():
        of = subjects.add_parser(name, help=subject.what, allow_abbrev=False)
        add = of.add_argument
        add("--data", nargs="+", type=Path, required=True, metavar="PATH", help=subject.what)
        add("--test", type=Path, required=True, metavar="PATH", help="the same, to be judged by")
        add(
            "--valid",
            type=Path,
            metavar="PATH",
            help="the same, to choose the best weights by; else some of the data are held out",
        )
        add("--out", type=Path, required=True, metavar="FOLDER", help="for results and figure")
        add(
            "--encoders",
            type=_names,
            default=COMPARED,
            metavar="NAME,...",
            help=f"which (default {','.join(COMPARED)})",
        )
        add(
            "--sizes",
            type=_sizes,
            metavar="N,...",
            help=f"{subject.unit} to learn from (default: all, a quarter, a quarter of that ...)",
        )
        add(
            "--seeds",
            type=lambda text: number(text, int, 1, 1000),
            default=3,
            metavar="N",
            help="trainings of each encoder at each size (default %(default)s)",
        )
        add(
            "--jobs",
            type=lambda text: number(text, int, 1, 1024),
            default=1,
            metavar="N",
            help="trainings at a time, which then share the machine (default %(default)s)",
        )
        add("--config", type=Path, metavar="TOML", help="settings; the flags come after it")
        add("--device", default="auto", metavar="NAME", help="auto, cpu or cuda")
        add_flags(of, subject.settings_class(), skip=OWN)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(number(part, int, 1, 10**9)) for part in text.split(","))


def run(args: argparse.Namespace) -> int:
    """Study; every training is a process of its own."""
    subject = SUBJECTS[args.subject]
    cls = subject.settings_class()
    told = {k: v for k, v in given(args, cls).items() if k not in {"task", "encoder", "seed"}}
    settings = subject.changes(told)
    for encoder in args.encoders:
        read_settings(cls, args.config, settings | {"encoder": encoder})  # refused before the work
    for path in (*args.data, args.test, *([] if args.valid is None else [args.valid])):
        if not path.is_dir():
            path.open("rb").close()
    asked: dict[str, Any] = {
        "task": subject.task,
        "class": subject.settings,
        "data": [str(path.absolute()) for path in args.data],
        "test": str(args.test.absolute()),
        "valid": None if args.valid is None else str(args.valid.absolute()),
        "config": None if args.config is None else str(args.config.absolute()),
        "settings": settings,
        "device": args.device,
    }

    from regard.tasks.studies.results import Results  # noqa: PLC0415 - not for --help

    args.out.mkdir(parents=True, exist_ok=True)
    results = Results(args.out / "results.jsonl", asked)
    sizes = args.sizes or usual_sizes(_count(asked))
    wanted = cells(args.encoders, sizes, int(args.seeds))
    failed = _try_all(wanted, results, asked, args.out, int(args.jobs))
    _report(subject, results, wanted, args.out)
    for cell, why in failed:
        sys.stderr.write(f"regard: {cell.name} came to nothing: {why}\n")
    return 1 if failed else 0


def _count(asked: dict[str, Any]) -> int:
    """How many examples there are to learn from: asked of the task itself, in its own process."""
    from regard.tasks.studies.counted import examples_in  # noqa: PLC0415 - torch

    return examples_in(asked)


def _try_all(
    wanted: list[Cell], results: Results, asked: dict[str, Any], out: Path, jobs: int
) -> list[tuple[Cell, str]]:
    left = [cell for cell in wanted if cell not in results.done]
    if len(left) < len(wanted):
        sys.stderr.write(f"{len(wanted) - len(left)} of {len(wanted)} trainings are done already\n")
    failed = []
    pool = ThreadPoolExecutor(jobs)
    with progress() as tell:
        tell(f"{len(left)} trainings", 0)
        try:
            begun = {pool.submit(_tried, cell, asked, out): cell for cell in left}
            for i, future in enumerate(as_completed(begun), start=1):
                cell = begun[future]
                try:
                    trial = results.add(cell, future.result())
                except FileError as error:
                    failed.append((cell, str(error)))
                    continue
                sys.stderr.write(
                    f"{cell.encoder}, {cell.size:,}, seed {cell.seed}: {trial.score:.2f} % in "
                    f"{trial.seconds:.0f} s\n"
                )
                tell(f"{i} of {len(left)} trainings", i / len(left))
        finally:
            pool.shutdown(cancel_futures=True)
    return failed


def _tried(cell: Cell, asked: dict[str, Any], out: Path) -> dict[str, Any]:
    """Run one training in a process of its own."""
    told = asked | cell._asdict() | {"out": str((out / "runs" / cell.name).absolute())}
    done = subprocess.run(
        [sys.executable, "-m", "regard.tasks.studies.trial"],
        input=json.dumps(told),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise FileError(lines[-1].removeprefix("regard: ")[:LATEST])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _report(subject: Subject, results: Results, wanted: list[Cell], out: Path) -> None:
    """The table on the terminal and in a file, and the plot."""
    from regard.optional import has  # noqa: PLC0415
    from regard.tasks.studies.results import as_table, summed_up  # noqa: PLC0415 - not for --help

    order = {cell: i for i, cell in enumerate(wanted)}  # not who came first: colours stay
    tried = (trial for trial in results.trials if trial.cell in order)
    rows = summed_up(sorted(tried, key=lambda trial: order[trial.cell]))
    if not rows:
        return
    header, body = as_table(rows, subject.unit)
    print_table(header, body)
    lines = [header, ("---:",) + ("---",) + ("---:",) * (len(header) - 2), *body]
    text = "".join("| " + " | ".join(line) + " |\n" for line in lines)
    (out / "results.md").write_text(text, encoding="utf-8")
    sys.stdout.write(f"The table is in {out / 'results.md'}")
    if has("matplotlib"):
        _draw(rows, subject, out / "results.png")
        sys.stdout.write(f", the plot in {out / 'results.png'}")
    sys.stdout.write("\n")


def _draw(rows: list[Summary], subject: Subject, path: Path) -> None:
    from regard.viewing.figures import save  # noqa: PLC0415 - imports torch
    from regard.viewing.learning import Curve, learning_curves  # noqa: PLC0415 - imports torch

    curves = []
    for name in dict.fromkeys(row.encoder for row in rows):
        own = [row for row in rows if row.encoder == name]
        columns = zip(*((r.size, r.score, r.spread, r.seconds) for r in own), strict=True)
        curves.append(Curve(name, *columns))
    seeds = max(row.seeds for row in rows)
    title = f"mean of {seeds} seeds, with their standard deviation" if seeds > 1 else "one seed"
    save(learning_curves(curves, subject.unit, title), path)

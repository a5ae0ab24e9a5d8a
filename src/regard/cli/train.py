"""The verb ``regard train``: translators, taggers and classifiers, each from its files."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from regard.errors import ValueRangeError
from regard.tasks.settings import add_flags, given, read_settings

__all__ = ["arguments", "run"]


class _Kind(NamedTuple):
    """A task, and what its files hold; its package has ``settings`` and ``training.TASK``."""

    settings: str  # the class
    what: str
    data: str
    valid: str


KINDS = {
    "translation": _Kind(
        "TranslationSettings",
        "a translator from pairs of sentences",
        "pairs, a source and a target in each row with a tab between; .gz or not",
        "pairs to be judged by; else 2 %% of the data are held out, 1,000 at most",
    ),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add a task's flags: the files here, everything else from its settings."""
    tasks = parser.add_subparsers(dest="task", required=True, metavar="TASK")
    for name, kind in KINDS.items():
        task = tasks.add_parser(
            name, help=kind.what, description=f"Train {kind.what}.", allow_abbrev=False
        )
        task.add_argument(
            "--data", nargs="+", type=Path, default=[], metavar="PATH", help=kind.data
        )
        task.add_argument("--valid", type=Path, metavar="PATH", help=kind.valid)
        task.add_argument(
            "--out", type=Path, required=True, metavar="FOLDER", help="where the run is kept"
        )
        task.add_argument(
            "--config", type=Path, metavar="TOML", help="settings; the flags below come after it"
        )
        task.add_argument(
            "--resume",
            action="store_true",
            help="go on from the last checkpoint in the folder, if there is one; epochs, steps, "
            "minutes and patience may be given anew",
        )
        task.add_argument(
            "--device", default="auto", metavar="NAME", help="auto, cpu, cuda, cuda:1 ..."
        )
        task.add_argument(
            "--shard",
            action="store_true",
            help="under torchrun: keep a part of every weight in each process, for a model too "
            "large for one",
        )
        add_flags(task, _settings(name), skip={"task"})


def _settings(task: str) -> Any:  # noqa: ANN401 - a class
    return getattr(import_module(f"regard.tasks.{task}.settings"), KINDS[task].settings)


def run(args: argparse.Namespace) -> int:
    """Train; the exit code is 1 if it could not write, 130 or 143 if it was interrupted."""
    cls = _settings(args.task)
    told: dict[str, Any] = given(args, cls)
    settings = read_settings(cls, args.config, told)
    if not args.data and not args.resume:
        msg = "--data must name one or more files to learn from; a run is resumed without"
        raise ValueRangeError(msg)
    for path in (*args.data, *([] if args.valid is None else [args.valid])):
        if not path.is_dir():
            path.open("rb").close()  # said before torch is imported

    from regard.tasks.engine.stopping import Stopped  # noqa: PLC0415 - imports nothing heavy
    from regard.tasks.engine.training import kept_settings, train  # noqa: PLC0415 - torch

    task = import_module(f"regard.tasks.{args.task}.training").TASK
    kept = kept_settings(task, args.out) if args.resume and args.config is None else None
    if kept is not None:
        settings = replace(kept, **told)
    try:
        train(
            task,
            settings,
            args.data,
            args.valid,
            args.out,
            resume=args.resume,
            device=args.device,
            sharded=args.shard,
        )
    except Stopped as stopped:
        if os.environ.get("RANK", "0") == "0":  # of several processes one speaks
            sys.stderr.write(f"regard: {stopped}\n")
        return stopped.code
    return 0

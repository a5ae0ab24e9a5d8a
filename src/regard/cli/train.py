"""The verb ``regard train``: a translator from files of pairs."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from regard.errors import ValueRangeError
from regard.tasks.settings import add_flags, given, read_settings
from regard.tasks.translation.settings import TranslationSettings

__all__ = ["arguments", "run"]

TASKS = ("translation",)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags: the files here, everything else from the settings."""
    parser.add_argument("task", choices=TASKS, help="what to train")
    parser.add_argument(
        "--data",
        nargs="+",
        type=Path,
        default=[],
        metavar="TSV",
        help="pairs, a source and a target in each row with a tab between; .gz or not",
    )
    parser.add_argument(
        "--valid",
        type=Path,
        metavar="TSV",
        help="pairs to be judged by; else 2 %% of the data are held out, 1,000 at most",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="where the run is kept"
    )
    parser.add_argument(
        "--config", type=Path, metavar="TOML", help="settings; the flags below come after it"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on from the last checkpoint in the folder, if there is one; epochs, steps and "
        "patience may be given anew",
    )
    parser.add_argument(
        "--device", default="auto", metavar="NAME", help="auto, cpu, cuda, cuda:1 ..."
    )
    parser.add_argument(
        "--shard",
        action="store_true",
        help="under torchrun: keep a part of every weight in each process, for a model too large "
        "for one",
    )
    add_flags(parser, TranslationSettings)


def run(args: argparse.Namespace) -> int:
    """Train; the exit code is 1 if it could not write, 130 or 143 if it was interrupted."""
    told: dict[str, Any] = given(args, TranslationSettings)
    settings = read_settings(TranslationSettings, args.config, told)
    if not args.data and not args.resume:
        msg = "--data must name one or more files of pairs; a run is resumed without"
        raise ValueRangeError(msg)
    for path in (*args.data, *([] if args.valid is None else [args.valid])):
        path.open("rb").close()  # said before torch is imported

    from regard.tasks.translation.stopping import Stopped  # noqa: PLC0415 - imports nothing heavy
    from regard.tasks.translation.training import kept_settings, train  # noqa: PLC0415 - torch

    kept = kept_settings(args.out) if args.resume and args.config is None else None
    if kept is not None:
        settings = replace(kept, **told)
    try:
        train(
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

"""The verb ``regard train``: translators, taggers and classifiers, each from its files."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from regard.cli.streams import complain
from regard.errors import ValueRangeError
from regard.optional import need
from regard.tasks.engine.stopping import Asked, Elsewhere, Stopped, interruptible, mortal, why
from regard.tasks.files import open_plain
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
    "tagging": _Kind(
        "TaggingSettings",
        "a tagger from words with their labels",
        "a word and its label in each row with a tab between, an empty row after each sentence; or "
        "CoNLL-U; .gz or not",
        "the same, to be judged by; else some sentences are held out",
    ),
    "classification": _Kind(
        "ClassificationSettings",
        "a classifier of texts, sounds or images",
        "texts: a label and a text in each row with a tab between; sounds: a folder of WAV files, "
        "or a list of files and labels; images: a folder tree, an .npz, or IDX files",
        "the same, to be judged by; else a tenth of each label is held out",
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
    """Train; the exit code is 1 if it could not go on, 130 or 143 if it was interrupted."""
    if os.environ.get("RANK", "0") != "0":
        with mortal():  # the first process speaks
            return _code(args, Asked())
    with interruptible() as asked:
        try:
            return _code(args, asked)
        except KeyboardInterrupt:
            pass
        except Exception:
            if not asked.signal:  # else it is what an import has made of the interrupt
                raise
        number = asked.signal or signal.SIGINT
        complain(f"{why(number)}{_where(args)}")
        return 128 + number


def _code(args: argparse.Namespace, asked: Asked) -> int:
    try:
        if os.environ.get("WORLD_SIZE", "1") == "1":
            _train(args, asked, _wanted(args))  # what is refused is said before torch is imported
        else:
            from regard.tasks.engine.distributed import joined  # noqa: PLC0415 - torch

            with joined(args.device) as world:
                _train(args, asked, world.together(lambda: _wanted(args)))
    except Elsewhere as stopped:
        return stopped.code
    except Stopped as stopped:
        complain(" ".join(str(stopped).split()))
        return stopped.code
    return 0


def _wanted(args: argparse.Namespace) -> tuple[Any, Collection[str]]:
    """The settings, and the names of those that were given; files that are not there are missed."""
    cls = _settings(args.task)
    told = given(args, cls)
    settings = read_settings(cls, args.config, told)
    if not args.data and not args.resume:
        msg = "--data must name one or more files to learn from; a run is resumed without"
        raise ValueRangeError(msg)
    for path in (*args.data, *([] if args.valid is None else [args.valid])):
        if not path.is_dir():
            open_plain(path).close()
    return settings, {*told, *_named(args.config)}


def _train(args: argparse.Namespace, asked: Asked, wanted: tuple[Any, Collection[str]]) -> None:
    from regard.tasks.engine.training import train  # noqa: PLC0415 - torch

    task = import_module(f"regard.tasks.{args.task}.training").TASK
    if asked.signal:  # an import has swallowed it
        raise KeyboardInterrupt
    settings, names = wanted
    train(
        task,
        settings,
        args.data,
        args.valid,
        args.out,
        resume=args.resume,
        device=args.device,
        sharded=args.shard,
        given=names,
    )


def _named(config: Path | None) -> Collection[str]:
    """The settings a file has, which was read before."""
    if config is None:
        return ()
    toml = need(
        "tomllib" if sys.version_info >= (3, 11) else "tomli",
        extra="text",
        why="a file of settings",
    )
    found: dict[str, Any] = toml.loads(config.read_text("utf-8-sig"))
    return found.keys()


def _where(args: argparse.Namespace) -> str:
    """What an interrupted training has left."""
    if (args.out / "last.safetensors").exists():
        out = quote(str(args.out))
        return (
            f"; the last checkpoint is whole, go on with: regard train {args.task} --out {out} "
            "--resume"
        )
    if (args.out / "run.json").exists():
        return " before the first checkpoint; begin with the same command and --resume"
    return " before the first checkpoint; nothing was saved"

"""What a training finds in its folder: nothing, or the run it goes on with."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from torch import Tensor

from regard.errors import FileError, StateError, ValueRangeError
from regard.tasks.engine.distributed import World
from regard.tasks.engine.progress import Progress
from regard.tasks.engine.settings import TrainingSettings
from regard.tasks.engine.task import Task
from regard.tasks.files import PREFIX
from regard.tasks.run import LOCK, Run
from regard.tasks.settings import check, parse_settings, to_toml

__all__ = [
    "Found",
    "Kept",
    "config_text",
    "find",
    "kept_settings",
    "limits_of",
    "refuse_leftovers",
    "refuse_other_data",
    "shared",
]

LIMITS = ("epochs", "steps", "minutes", "patience")  # what a resumed training may have otherwise
TASK = re.compile(r'^task = "(.*)"$', re.MULTILINE)
DATA = "# SHA-256 of the data it began with: "


@dataclass(frozen=True)
class Kept:
    """A checkpoint, and what was said about it."""

    tensors: Mapping[str, Tensor]
    about: Mapping[str, Any]

    @property
    def progress(self) -> Progress:
        """Where the training was."""
        return Progress.from_json(self.about.get("progress"))


@dataclass(frozen=True)
class Found:
    """The settings to train with, and the run and the checkpoint to go on with, if any."""

    settings: TrainingSettings
    run: Run | None = None
    kept: Kept | None = None


def find(
    task: Task,
    settings: TrainingSettings,
    out: Path,
    *,
    resume: bool,
    given: Collection[str] | None = None,
) -> Found:
    """Look into the folder; a run that is there is locked.

    Args:
        task: what is trained.
        settings: asked for.
        out: the folder.
        resume: whether to go on with a run.
        given: names of the settings that were asked for, when a run is there to have the others;
            None: all.

    Raises:
        StateError: a run is there, and nobody wants to go on with it.
        FileError: something else is there.
        ValueRangeError: the run has other settings.

    """
    there = (out / "run.json").exists()
    if there and not resume:
        msg = f"{out}: holds a run already; give --resume to go on, or another --out"
        raise StateError(msg)
    if not there:
        settings = task.completed(settings)
        check(settings)
        task.check(settings)
        _refuse_unwritable(out)
        refuse_leftovers(out)
        return Found(settings)
    run = Run.open(out)
    own = _own_settings(task, run)
    run.lock()
    try:
        kept = Kept(*run.load_last()) if run.has_last else None
        if kept is not None:
            Progress.from_json(kept.about.get("progress"))  # refused here, or never
            own = replace(own, **kept.about.get("limits", {}))
        return Found(_merged(own, settings, given, out), run, kept)
    except BaseException:
        run.close()
        raise


def kept_settings(task: Task, out: Path) -> TrainingSettings | None:
    """The settings a run in a folder goes on with; None if there is no run."""
    if not (Path(out) / "run.json").exists():
        return None
    run = Run.open(out)
    own = _own_settings(task, run)
    limits = run.load_last()[1].get("limits", {}) if run.has_last else {}
    return replace(own, **limits)


def limits_of(settings: TrainingSettings) -> dict[str, Any]:
    """The settings a checkpoint keeps, because they may change: how long to train."""
    return {name: getattr(settings, name) for name in LIMITS}


def _own_settings(task: Task, run: Run) -> TrainingSettings:
    found = TASK.search(run.config)
    kind = "translation" if found is None else found[1]  # the first task, from before the others
    if kind != task.kind:
        msg = (
            f"{run.folder}: is a run of {kind}, and cannot go on as {task.kind}; go on with: "
            f"regard train {kind} --out {quote(str(run.folder))} --resume, or give another --out"
        )
        raise StateError(msg)
    return parse_settings(task.settings, run.config, f"{run.folder}/config.toml")


def _merged(
    own: TrainingSettings, asked: TrainingSettings, given: Collection[str] | None, out: Path
) -> TrainingSettings:
    """The run's own settings, with the limits that were asked for."""
    names = asdict(own).keys() if given is None else given
    changed = {k: getattr(asked, k) for k in names if getattr(asked, k) != getattr(own, k)}
    for name, value in changed.items():
        if name not in LIMITS:
            msg = (
                f"{out}: this run has {name} = {getattr(own, name)!r}, and goes on with it, not "
                f"with {value!r}; leave it out, or give another --out"
            )
            raise ValueRangeError(msg)
    merged = replace(own, **changed)
    check(merged)
    return merged


def _refuse_unwritable(out: Path) -> None:
    """Say at once what would otherwise be found out after minutes."""
    above = next(p for p in (out, *out.absolute().parents) if p.exists())
    if not above.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(above))
    if not os.access(above, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(above))


def refuse_leftovers(out: Path, config: str | None = None) -> None:
    """Refuse a folder with something in it, as ``Run.create`` will, but before minutes of work.

    What a run that was killed as it began has left may be there: vocabularies, and the same
    settings, as far as they are known.
    """
    for path in sorted(out.iterdir()) if out.exists() else ():
        if path.name == LOCK or path.name.startswith(PREFIX):
            continue
        if path.name == "config.toml" and path.is_file():
            if config is None or path.read_bytes() == config.encode():
                continue
        elif re.fullmatch(r"[a-z]+\.model", path.name):
            continue
        msg = (
            f"{out}: must be new or empty, and holds {path.name!r}, which is no part of a run; "
            "give another --out"
        )
        raise FileError(msg)


def config_text(settings: TrainingSettings, sha256: str) -> str:
    """The text of a run's config.toml: its settings, and which data they are for."""
    return f"{to_toml(settings)}{DATA}{sha256}\n"


def refuse_other_data(found: Found, sha256: str) -> None:
    """A run goes on with the data it began with, or not at all.

    Raises:
        FileError: these are others.

    """
    if found.run is None:
        return
    line = found.run.config.rstrip("\n").rpartition("\n")[2]
    began: list[object] = [line.removeprefix(DATA)] if line.startswith(DATA) else []
    began += [] if found.kept is None else [found.kept.about.get("corpus")]
    if any(other != sha256 for other in began):
        msg = (
            f"{found.run.folder}: the data are not those this run began with; give the same "
            "files, or another --out"
        )
        raise FileError(msg)


def shared(world: World, task: Task, found: Found | None) -> Found:
    """What the first process found, for all; the run stays its own."""
    told = None
    if found is not None:
        about = None if found.kept is None else found.kept.about
        told = {"settings": to_toml(found.settings), "about": about}
    told = json.loads(world.send(json.dumps(told).encode()))
    settings = parse_settings(task.settings, told["settings"], "the first process")
    kept = None
    if told["about"] is not None:
        own = {} if found is None or found.kept is None else found.kept.tensors
        kept = Kept(world.send_tensors(own), told["about"])
    return Found(settings, None if found is None else found.run, kept)

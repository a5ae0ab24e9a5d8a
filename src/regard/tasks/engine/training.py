"""A training from its files to its end: everything before and around the loop."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.errors import FileError, StateError, ValueRangeError
from regard.tasks.engine.distributed import World, joined
from regard.tasks.engine.keeping import Keeper
from regard.tasks.engine.live import Live
from regard.tasks.engine.progress import Progress
from regard.tasks.engine.settings import TrainingSettings
from regard.tasks.engine.stepping import Stepper
from regard.tasks.engine.stopping import listening
from regard.tasks.engine.task import Lesson, Task
from regard.tasks.engine.trainer import Trainer
from regard.tasks.run import Run
from regard.tasks.settings import check, parse_settings, to_toml

__all__ = ["kept_settings", "train"]

LIMITS = ("epochs", "steps", "minutes", "patience")  # what a resumed training may have otherwise


def train(
    task: Task,
    settings: TrainingSettings,
    data: Sequence[Path],
    valid: Path | None,
    out: Path,
    *,
    resume: bool = False,
    device: str = "auto",
    sharded: bool = False,
) -> Run | None:
    """Train, and keep what came of it in a run folder.

    Started by ``torchrun`` in several processes, they train together, and the first one writes.

    Args:
        task: what is trained.
        settings: of the model and its training.
        data: what to learn from; a resumed run knows its own.
        valid: what to be judged by; None: some of the data is held out.
        out: the folder of the run.
        resume: go on from the last checkpoint in ``out``, bit for bit as if nothing had happened;
            where there is none, begin.
        device: "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:1".
        sharded: keep a part of every weight in each process, for models too large for one.

    Returns:
        The run; None in processes that do not write.

    Raises:
        Stopped: it was interrupted or could not write; the last checkpoint is whole.
        FileError: data or a file of the run cannot be used.

    """
    check(settings)
    task.check(settings)
    with joined(device) as world, Live(silent=not world.first) as live:
        run, kept = _found(out, resume=resume) if world.first else (None, None)
        try:
            settings, kept = _agreed(world, task, settings, run, kept)
            data, valid = _files(data, valid, kept)
            corpus = task.read(data, valid, settings)
            if kept is not None and kept.about["corpus"] != corpus.sha256:
                msg = (
                    f"{out}: the data are not those this run began with; give the same files, or "
                    "another --out"
                )
                raise FileError(msg)
            for line in corpus.report:
                live.say(line)
            learned = run.vocabularies if run is not None else {}
            if world.first and run is None:
                learned = task.learn(corpus, settings, live.say)
            learned = _sent(world, learned)
            lesson = task.lesson(corpus, learned, settings)
            if world.first and run is None:
                run = Run.create(out, to_toml(settings), learned)
            about = {
                "kind": task.kind,
                "corpus": corpus.sha256,
                "data": [str(path.absolute()) for path in data],
                "valid": None if valid is None else str(valid.absolute()),
            }
            prepared = _Prepared(world, task, settings, lesson, run, kept, about, live)
            prepared.train(sharded=sharded)
        finally:
            if run is not None:
                run.close()
        return Run.open(out) if world.first else None


class _Kept(NamedTuple):
    """A checkpoint, and what was said about it."""

    tensors: dict[str, Tensor]
    about: dict[str, Any]


def kept_settings(task: Task, out: Path) -> TrainingSettings | None:
    """The settings of the run in a folder; None if there is no run."""
    if not (Path(out) / "run.json").exists():
        return None
    return parse_settings(task.settings, Run.open(out).config, f"{out}/config.toml")


def _found(out: Path, *, resume: bool) -> tuple[Run | None, _Kept | None]:
    """The run to go on with and its last checkpoint, as far as they are there."""
    there = (out / "run.json").exists()
    if there and not resume:
        msg = f"{out}: holds a run already; give --resume to go on, or another --out"
        raise StateError(msg)
    if not there:
        _check_writable(out)
        return None, None
    run = Run.open(out)
    run.lock()
    return run, _Kept(*run.load_last()) if run.has_last else None


def _check_writable(out: Path) -> None:
    """Say at once what would otherwise be found out after minutes."""
    above = next(p for p in (out, *out.absolute().parents) if p.exists())
    if not above.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(above))
    if not os.access(above, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(above))


def _agreed(
    world: World, task: Task, settings: TrainingSettings, run: Run | None, kept: _Kept | None
) -> tuple[TrainingSettings, _Kept | None]:
    """The run's own settings and checkpoint, known to all processes."""
    if run is not None:
        own = parse_settings(task.settings, run.config, f"{run.folder}/config.toml")
        changed = {k: v for k, v in asdict(settings).items() if v != getattr(own, k)}
        for name, value in changed.items():
            if name not in LIMITS:
                msg = (
                    f"{run.folder}: this run has {name} = {getattr(own, name)!r}, and goes on with "
                    f"it, not with {value!r}; leave it out, or give another --out"
                )
                raise ValueRangeError(msg)
        settings = replace(own, **changed)
    told = {"settings": to_toml(settings), "about": None if kept is None else kept.about}
    told = json.loads(world.send(json.dumps(told).encode()))
    settings = parse_settings(task.settings, told["settings"], "the first process")
    if told["about"] is None:
        return settings, None
    tensors = world.send_tensors({} if kept is None else kept.tensors)
    return settings, _Kept(tensors, told["about"])


def _files(
    data: Sequence[Path], valid: Path | None, kept: _Kept | None
) -> tuple[Sequence[Path], Path | None]:
    """The files given, or those the run knows."""
    if data:
        return [Path(path) for path in data], None if valid is None else Path(valid)
    if kept is None:
        msg = "data must be one or more files, got none; give --data"
        raise ValueRangeError(msg)
    about = kept[1]
    return [Path(x) for x in about["data"]], None if about["valid"] is None else Path(
        about["valid"]
    )


def _sent(world: World, learned: Mapping[str, bytes]) -> dict[str, bytes]:
    """What the first process learned, for all."""
    names = json.loads(world.send(json.dumps(sorted(learned)).encode()))
    return {name: world.send(learned.get(name, b"")) for name in names}


@dataclass(frozen=True)
class _Prepared:
    """What a training needs, when everything that can be refused has been looked at."""

    world: World
    task: Task
    settings: TrainingSettings
    lesson: Lesson
    run: Run | None  # of the first process
    kept: _Kept | None
    about: dict[str, Any]  # the data
    live: Live

    def train(self, *, sharded: bool) -> None:
        """Make the model and its loop, and run it."""
        world, settings, kept = self.world, self.settings, self.kept
        sharded = sharded and world.size > 1  # one process has the whole anyway
        torch.manual_seed(settings.seed)
        model = self.lesson.model().to(world.device)
        whole = self.lesson.model().to(world.device) if sharded and world.first else None
        # a run keeps the batches it began with, wherever it goes on
        fixed = settings.graphs and world.device.type == "cuda"
        fixed = fixed if kept is None else bool(kept.about["fixed_shapes"])
        losses = self.lesson.losses(model)
        stepper = Stepper(losses, settings, world.device, world.size, sharded=sharded, graphs=fixed)
        progress = Progress() if kept is None else Progress.from_json(kept.about.get("progress"))
        keeper = self._keeper(fixed, None if kept is None else progress.step)
        judge = self.lesson.judge() if world.first else None
        with self.lesson.epochs(fixed_shapes=fixed) as epochs, listening() as asked:
            trainer = Trainer(
                world,
                self.task,
                settings,
                model,
                stepper,
                epochs,
                judge,
                whole,
                keeper,
                self.live,
                asked,
            )
            if kept is None:
                trainer.begin()
            else:
                trainer.load(progress, kept.tensors)
            if self.run is not None:
                self.run.rewind(trainer.progress.step)
            self.live.show(lambda: "", now=True)
            self.live.say(self._described(trainer, model))
            try:
                trainer.run()
            finally:
                keeper.close()
        self.live.say(self._ended(trainer.progress))

    def _keeper(self, fixed_shapes: bool, saved: int | None) -> Keeper:  # noqa: FBT001
        of_weights = {"kind": self.task.kind, "config": to_toml(self.settings)}
        of_weights |= self.lesson.about
        return Keeper(self.run, of_weights, self.about | {"fixed_shapes": fixed_shapes}, saved)

    def _described(self, trainer: Trainer, model: torch.nn.Module) -> str:
        count = sum(x.numel() for x in model.parameters())
        world, progress = trainer.world, trainer.progress
        where = str(world.device) + (f", {world.size} processes" if world.size > 1 else "")
        begun = f"goes on after step {progress.step:,}" if progress.step else "begins"
        name = getattr(self.settings, "model", None) or getattr(self.settings, "encoder", "")
        return (
            f"{name}, {count:,} weights, on {where}: {begun}, of about {progress.total:,} steps"
        ).removeprefix(", ")

    def _ended(self, progress: Progress) -> str:
        best = 0.0 if progress.best_score is None else progress.best_score
        folder = "" if self.run is None else quote(str(self.run.folder))
        steps = "1 step" if progress.step == 1 else f"{progress.step:,} steps"
        return (
            f"done after {steps}, {self.task.score} {best:.{self.task.digits}f} in validation; "
            f"use it with: {self.task.use} {folder}"
        )

"""A training from its files to its end: everything around the loop."""

from __future__ import annotations

import signal
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import torch

from regard.errors import FileError
from regard.tasks.engine.distributed import World, joined
from regard.tasks.engine.ending import in_words
from regard.tasks.engine.judging import Judging
from regard.tasks.engine.keeping import Keeper
from regard.tasks.engine.live import Live
from regard.tasks.engine.memory import refuse_too_large
from regard.tasks.engine.place import Place
from regard.tasks.engine.preparing import Prepared, prepare
from regard.tasks.engine.progress import Progress
from regard.tasks.engine.resuming import Found, find, kept_settings, limits_of, shared
from regard.tasks.engine.settings import TrainingSettings
from regard.tasks.engine.stepping import Stepper
from regard.tasks.engine.stopping import Stopped, listening, why
from regard.tasks.engine.task import Epochs, Task
from regard.tasks.engine.trainer import Trainer
from regard.tasks.run import Run

__all__ = ["kept_settings", "train"]


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
    given: Collection[str] | None = None,
) -> Run | None:
    """Train, and keep what came of it in a run folder.

    Started by ``torchrun`` in several processes, they train together, and the first one writes.

    Args:
        task: what is trained.
        settings: of the model and its training; of several processes those of the first.
        data: what to learn from; a resumed run knows its own.
        valid: what to be judged by; None: some of the data is held out.
        out: the folder of the run.
        resume: go on from the last checkpoint in ``out``, bit for bit as if nothing had happened;
            where there is none, begin.
        device: "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:1".
        sharded: keep a part of every weight in each process, for models too large for one.
        given: names of the settings that are asked of a resumed run, which has its own for the
            others; None: all.

    Returns:
        The run; None in processes that do not write.

    Raises:
        Stopped: it was interrupted, could not write, or had not enough memory; the last checkpoint
            is whole.
        Elsewhere: so it was in another process.
        FileError: data or a file of the run cannot be used.

    """
    out = Path(out)
    place = Place(task.kind, out)
    with (
        joined(device) as world,
        Live(silent=not world.first) as live,
        in_words(world, place),
        ExitStack() as open_runs,
    ):
        own = world.together(
            lambda: find(task, settings, out, resume=resume, given=given) if world.first else None
        )
        if own is not None and own.run is not None:
            open_runs.callback(own.run.close)
        found = shared(world, task, own)
        place.saved = None if found.kept is None else found.kept.progress.step
        prepared = prepare(world, task, found, data, valid, out, live.say)
        training = _Training(world, task, found, prepared, place, live)
        training.train(open_runs, sharded=sharded)
    return Run.open(out) if world.first else None


@dataclass(frozen=True)
class _Training:
    """Everything there is before the weights."""

    world: World
    task: Task
    found: Found
    prepared: Prepared
    place: Place
    live: Live

    def train(self, open_runs: ExitStack, *, sharded: bool) -> None:
        """Make the weights and what moves them; when nothing can be refused any more, the run."""
        world, settings, kept = self.world, self.found.settings, self.found.kept
        lesson = self.prepared.lesson
        sharded = sharded and world.size > 1  # one process has the whole anyway
        parts = world.size if sharded else 1
        world.together(lambda: refuse_too_large(lesson.model, world.device, parts))
        torch.manual_seed(settings.seed)
        model = lesson.model()
        if kept is None:
            world.together(lambda: lesson.begin(model))
        model = model.to(world.device)
        whole = lesson.model().to(world.device) if sharded and world.first else None
        # a run keeps the batches it began with, wherever it goes on
        fixed = settings.graphs and world.device.type == "cuda"
        fixed = fixed if kept is None else bool(kept.about["fixed_shapes"])
        losses = lesson.losses(model)
        stepper = Stepper(losses, settings, world.device, world.size, sharded=sharded, graphs=fixed)
        judge = world.together(lambda: lesson.judge() if world.first else None)
        with lesson.epochs(fixed_shapes=fixed) as epochs:
            if kept is None:
                self._begins_with(epochs)
            run = world.together(self._run)
            if run is not None:
                open_runs.callback(run.close)
            keeper = self._keeper(run, fixed_shapes=fixed)
            open_runs.callback(keeper.close)
            judging = Judging(world, judge, whole)
            with listening(self._say_slow) as asked:
                trainer = Trainer(
                    world,
                    self.task,
                    settings,
                    model,
                    stepper,
                    epochs,
                    judging,
                    keeper,
                    self.live,
                    asked,
                )
                try:
                    self._loop(trainer, run)
                except KeyboardInterrupt:
                    number = asked.signal or signal.SIGINT
                    msg = f"{why(number)} inside step {trainer.progress.step:,}; {self.place}"
                    raise Stopped(msg, 128 + number) from None
        self.live.say(self._ended(trainer.progress))

    def _begins_with(self, epochs: Epochs) -> None:
        """Refuse epochs of nothing; say what the user should know of them."""
        notes = tuple(epochs.notes)

        def refuse() -> None:
            if not epochs.batches(0).count(0):
                msg = "; ".join(("there is nothing to learn from", *notes))
                raise FileError(msg)

        self.world.together(refuse)
        for note in notes:
            self.live.say(note)

    def _run(self) -> Run | None:
        """The run, of the first process; made if it is not there."""
        if not self.world.first or self.found.run is not None:
            return self.found.run
        return Run.create(self.place.folder, self.prepared.config, self.prepared.learned)

    def _keeper(self, run: Run | None, *, fixed_shapes: bool) -> Keeper:
        of_weights = {"kind": self.task.kind, "config": self.prepared.config}
        of_weights |= self.prepared.lesson.about
        of_last = {**self.prepared.about, "fixed_shapes": fixed_shapes}
        of_last["limits"] = limits_of(self.found.settings)
        return Keeper(run, of_weights, of_last, self.place)

    def _loop(self, trainer: Trainer, run: Run | None) -> None:
        kept = self.found.kept
        if kept is None:
            trainer.begin()
        else:
            other = kept.about.get("limits") != limits_of(self.found.settings)
            trainer.load(kept.progress, kept.tensors, anew=other)
        if run is not None:
            run.rewind(trainer.progress.step)
        self.live.show(lambda: "", now=True)
        self.live.say(self._described(trainer))
        if short := self._too_short(trainer.progress):
            self.live.say(short)
        trainer.run()

    def _say_slow(self) -> None:
        self.live.say("what was begun is finished and kept first; Ctrl-C once more ends it now")

    def _described(self, trainer: Trainer) -> str:
        count = sum(x.numel() for x in trainer.model.parameters())
        world, progress, settings = self.world, trainer.progress, self.found.settings
        where = str(world.device) + (f", {world.size} processes" if world.size > 1 else "")
        how = f"goes on after step {progress.step:,}" if progress.step else "begins"
        how += f", of about {_steps(progress.total)}"
        how = "has ended before" if progress.done else how
        name = getattr(settings, "model", None) or getattr(settings, "encoder", "")
        return f"{name}, {count:,} weights, on {where}: {how}".removeprefix(", ")

    def _too_short(self, progress: Progress) -> str:
        settings = self.found.settings
        if progress.done or progress.total >= settings.warmup:
            return ""
        reached = settings.learning_rate * progress.total / settings.warmup
        return (
            f"the learning rate rises for {_steps(settings.warmup)}, longer than the training: it "
            f"ends at {reached:.2g} instead of {settings.learning_rate:.2g}; see --warmup"
        )

    def _ended(self, progress: Progress) -> str:
        best = 0.0 if progress.best_score is None else progress.best_score
        return (
            f"done after {_steps(progress.step)}, {self.task.score} {best:.{self.task.digits}f} in "
            f"validation; use it with: {self.task.use} {quote(str(self.place.folder))}"
        )


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count:,} steps"

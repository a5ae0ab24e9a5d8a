"""The loop of a training: step, log, validate, save, stop."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

import torch
from torch import nn

from regard.tasks.engine.distributed import World
from regard.tasks.engine.judging import Judging
from regard.tasks.engine.keeping import Keeper
from regard.tasks.engine.live import Live, Standing
from regard.tasks.engine.pace import Pace
from regard.tasks.engine.progress import Progress
from regard.tasks.engine.schedule import learning_rate
from regard.tasks.engine.seeds import drawn_from
from regard.tasks.engine.settings import TrainingSettings
from regard.tasks.engine.stepping import Stepper
from regard.tasks.engine.stopping import Asked, Stopped, why
from regard.tasks.engine.task import Batch, Epochs, Judged, Task
from regard.tasks.engine.weights import load_weights, mean_of, weights_of

__all__ = ["Trainer"]

SKIPS = 10  # updates left out in a row because the gradient was not finite
SECONDS = 3  # digits of times in the log
PEEK = 3.0  # seconds between two looks at the loss for the live line: a GPU has to be waited for


@dataclass
class Trainer:
    """A training under way. Every process of the world has one, and they go in step.

    Each step depends on the checkpoint before it and on nothing else, so a training that was
    killed and goes on gives the same bits as one that was not.
    """

    world: World
    task: Task
    settings: TrainingSettings
    model: nn.Module
    stepper: Stepper
    epochs: Epochs
    judging: Judging
    keeper: Keeper
    live: Live
    asked: Asked
    progress: Progress = field(default_factory=Progress)

    def __post_init__(self) -> None:
        self.loss = torch.zeros((), dtype=torch.float64, device=self.world.device)
        self._coming: Iterator[Batch] | None = None
        self._count = 0
        self._stopping = self._late = False
        self._ends = float("inf")
        self._shown: tuple[float | None, float | None] = (None, None)  # loss, tokens a second
        self._seen = -float("inf")  # when that was
        self._pace = Pace()
        self._first_step = self.progress.step

    def run(self) -> None:
        """Go on until the end.

        Raises:
            Stopped: it was asked to, or cannot go on; the last checkpoint is whole.

        """
        self.model.train()
        self._pace = Pace()
        self._ends = time.monotonic() + (60 * self.settings.minutes or float("inf"))
        while True:
            if self._is_due():
                with self._pace.paused(self.loss):
                    judged = self._validate()
                if not judged:
                    self._stop()
            if self._is_over():
                break
            if self._stopping:
                self._stop()
            self._step()
            if self.progress.step % self.settings.save_every == 0 and not self._is_due():
                with self._pace.paused(self.loss):
                    self._save()
        if not self.progress.done and not self._finish():
            self._stop()

    def _is_over(self) -> bool:
        p, s = self.progress, self.settings
        ended = p.epoch >= s.epochs or (s.steps > 0 and p.step >= s.steps) or self._late
        return ended or (s.patience > 0 and p.waiting >= s.patience)

    def _is_due(self) -> bool:
        """Whether a validation is."""
        p, s = self.progress, self.settings
        if p.validated == p.step:
            return False
        regular = p.step % s.validate_every == 0 if s.validate_every else p.batch == 0
        return regular or self._is_over()

    def _next(self) -> list[Batch]:
        """The batches of the next step."""
        p = self.progress
        if self._coming is None:
            batches = self.epochs.batches(p.epoch)
            self._count = batches.count(p.epoch)
            self._coming = batches.epoch(
                p.epoch, skip=p.batch, rank=self.world.rank, world=self.world.size
            )
        found = list(islice(self._coming, self.settings.accumulate))
        p.batch += len(found)
        if p.batch >= self._count:
            p.epoch, p.batch, self._coming = p.epoch + 1, 0, None
        return found

    def _step(self) -> None:
        p, s = self.progress, self.settings
        batches = self._next()
        tokens = sum(batch.all_tokens for batch in batches)
        told, overtime = int(self.asked.signal > 0), int(time.monotonic() > self._ends)
        asked, late = self.world.total(told, overtime)  # all stop at one step
        self._stopping, self._late = asked > 0, late > 0
        p.step += 1
        lr = learning_rate(s, p.step, p.total)
        seed = drawn_from(s.seed, p.step, self.world.rank)
        loss = self.stepper.step(batches, lr, tokens, seed=seed)
        self.loss += loss.nan_to_num(0.0, 0.0, 0.0)
        p.tokens += tokens
        p.row_tokens += tokens
        self._pace.tokens += tokens
        if p.step % s.log_every == 0:
            self._row(lr)
        self.live.show(self._standing)

    def _row(self, lr: float) -> None:
        """Write down what the last steps gave; a GPU is waited for."""
        p = self.progress
        if int(self.stepper.skipped) >= SKIPS:
            msg = (
                f"the gradient has not been finite for {int(self.stepper.skipped)} steps, at step "
                f"{p.step:,}; {self.keeper.place}; try a lower learning_rate or a longer warmup"
            )
            raise Stopped(msg, 1)
        loss = sum(self.world.each(float(self.loss))) / max(p.row_tokens, 1)
        speed, seconds = self._pace.lap()
        self._shown, self._seen = (loss, speed), time.monotonic()
        self.keeper.log(
            {
                "step": p.step,
                "epoch": p.number,
                "loss": loss,
                "lr": lr,
                self.task.unit: p.tokens,
                f"{self.task.unit}_per_second": round(speed, 1),
                "seconds": round(seconds, SECONDS),
            }
        )
        self.loss.zero_()
        p.row_tokens = 0

    def _standing(self) -> Standing:
        p = self.progress
        self._peek(PEEK)
        done = p.step - self._first_step
        left = self._ends - time.monotonic()
        if done:
            left = min(left, self._pace.of_a_step(done) * max(p.total - p.step, 0))
        loss, speed = self._shown
        pace = "" if speed is None else f"{speed:,.0f} {self.task.unit}/s"
        score = ""
        if p.score is not None and p.best_score is not None:
            score = f"{self._score(p.score)} (best {p.best_score:.{self.task.digits}f})"
        known = max(left, 0.0) if left < float("inf") else None
        return Standing(p.step, p.total, p.number, loss, pace, score, known)

    def _peek(self, wait: float) -> None:
        """Look at loss and speed since the last row of the log, if so many seconds have passed."""
        p, now = self.progress, time.monotonic()
        if p.row_tokens and self._pace.tokens and now - self._seen > wait:
            loss = float(self.loss) * self.world.size / p.row_tokens  # of this process alone
            self._shown, self._seen = (loss, self._pace.speed), now

    def _score(self, score: float) -> str:
        return f"{self.task.score} {score:.{self.task.digits}f}"

    def _validate(self) -> bool:
        """Judge the weights, keep them, and the best; False if there was no time to."""
        p, start = self.progress, time.perf_counter()
        self._peek(-1.0)
        self.live.show(lambda: f"{self._standing()}  validating", now=True)
        judged = self._judged()
        if judged is None:
            return False
        better = p.judge(*judged)
        seconds = time.perf_counter() - start
        row = {"step": p.step, "epoch": p.number, **self._named(judged)}
        row |= {"best": better, "seconds": round(seconds, SECONDS)}
        self.keeper.log_once(row, "valid_loss")
        weights = weights_of(self.model)
        about = {"step": p.step, **self._named(judged)}
        if better:
            self.keeper.best(weights, about)
        self.keeper.recent(p.step, weights, about, keep=self.settings.average)
        self._save()
        loss = "" if self._shown[0] is None else f"loss {self._shown[0]:.2f}, "
        best = "the best"
        if not better:
            best = f"the best is {p.best_score:.{self.task.digits}f} of step {p.best_step:,}"
        self.live.say(
            f"step {p.step:,}, epoch {p.number}: {loss}validation loss {judged.loss:.2f}, "
            f"{self._score(judged.score)} ({best})"
        )
        return True

    def _named(self, judged: Judged) -> dict[str, float]:
        """A judgement as the log has it."""
        return {self.task.score.lower(): judged.score, "valid_loss": judged.loss}

    def _judged(self) -> Judged | None:
        return self.judging(self.model, self.asked, sharded=self.stepper.sharded)

    def _finish(self) -> bool:
        """Try the mean of the last checkpoints; False if there was no time to."""
        p, told = self.progress, ""
        sets = self.keeper.kept() if self.settings.average > 1 else []
        (count,) = self.world.total(len(sets))
        if count > 1:
            own = weights_of(self.model)
            load_weights(self.model, self.world.send_tensors(mean_of(sets) if sets else {}))
            mean = weights_of(self.model)
            judged = self._judged()
            load_weights(self.model, own)
            if judged is None:
                return False
            better = p.improve(*judged)
            row = {"step": p.step, **self._named(judged), "averaged": count}
            if better:
                self.keeper.best(mean, row)
            self.keeper.log_once(row | {"best": better}, "averaged")
            what = "the best" if better else f"the best is {p.best_score:.{self.task.digits}f}"
            told = f"mean of the last {count} checkpoints: {self._score(judged.score)} ({what})"
        p.done = True
        self._save()
        if told:
            self.live.say(told)
        return True

    def _save(self) -> None:
        losses = torch.tensor(self.world.each(float(self.loss)), dtype=torch.float64)
        if self.world.first or self.stepper.sharded:  # all are needed to put parts together
            tensors = {f"weights.{k}": x for k, x in weights_of(self.model).items()}
            kept = self.stepper.state_tensors()
            tensors |= {f"optimiser.{k}": x for k, x in kept.items()}
            self.keeper.last(self.progress, tensors | {"loss": losses})

    def begin(self) -> None:
        """Estimate the steps, and keep a checkpoint of none."""
        self._plan()
        self._save()

    def _plan(self) -> None:
        p, s = self.progress, self.settings
        if not p.per_epoch:
            p.per_epoch = -(-self.epochs.batches(0).count(0) // s.accumulate)
        p.plan(s.epochs, s.steps)

    def load(
        self, progress: Progress, tensors: Mapping[str, torch.Tensor], *, anew: bool = False
    ) -> None:
        """Go on from what ``_save`` kept; ``anew``: with other limits, which are kept at once."""
        parts: dict[str, dict[str, torch.Tensor]] = {"weights": {}, "optimiser": {}}
        for name, x in tensors.items():
            kind, _, rest = name.partition(".")
            if rest:
                parts[kind][rest] = x
        load_weights(self.model, parts["weights"])
        self.stepper.load_state_tensors(parts["optimiser"])
        losses = tensors["loss"]
        if len(losses) == self.world.size:
            self.loss.fill_(float(losses[self.world.rank]))
        elif self.world.first:
            self.loss.fill_(float(losses.sum()))
        self.progress, self._first_step = progress, progress.step
        progress.done = progress.done and self._is_over()  # made longer, it ends once more
        self._plan()
        if anew:
            self._save()

    def _stop(self) -> None:
        """Leave in good order, because somebody asked."""
        self._save()
        number = self.asked.signal or signal.SIGTERM
        msg = f"{why(number)} at step {self.progress.step:,}; {self.keeper.place}"
        raise Stopped(msg, 128 + number)

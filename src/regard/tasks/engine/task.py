"""What a task gives the engine: data, a model, a loss and a judge.

The engine knows steps, checkpoints, processes and signals, and nothing of words or pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from regard.tasks.engine.settings import TrainingSettings

__all__ = ["Batch", "Batches", "Corpus", "Epochs", "Judge", "Judged", "Lesson", "Task"]


class Batch(Protocol):
    """Examples side by side, on the CPU."""

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """What the loss is computed of."""

    @property
    def tokens(self) -> int:
        """What the loss is a sum over: words, tokens, pictures."""

    @property
    def all_tokens(self) -> int:
        """The same, of the shares of all processes."""


class Batches(Protocol):
    """The batches of an epoch: a pure function of the data, the seed and the epoch's number."""

    def count(self, epoch: int) -> int:
        """How many."""

    def epoch(self, epoch: int, *, skip: int, rank: int, world: int) -> Iterator[Batch]:
        """All but the first ``skip``; process ``rank`` of ``world`` gets its rows of each."""


class Epochs(Protocol):
    """Batches epoch by epoch; a context, as threads may prepare them."""

    @property
    def notes(self) -> Sequence[str]:
        """What the user should know before the first step."""

    def batches(self, epoch: int) -> Batches:
        """Those of an epoch."""

    def __enter__(self) -> Epochs:  # noqa: PYI034 - Self came with Python 3.11
        """Begin."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End."""


class Judged(NamedTuple):
    """How good weights are: a score, higher is better; and the mean loss, which breaks ties."""

    score: float
    loss: float


Judge = Callable[[nn.Module, torch.device, Callable[[], bool]], Judged | None]
"""Judges a model on a device; None if the last argument said that there is no time for it."""


class Corpus(Protocol):
    """What a training learns from and is judged by."""

    @property
    def sha256(self) -> str:
        """A fingerprint: a run goes on with the data it began with, or not at all."""

    @property
    def report(self) -> Sequence[str]:
        """What was kept and dropped, in lines for a reader."""


class Lesson(Protocol):
    """A corpus together with what was learned of it before the weights: vocabularies, labels."""

    @property
    def about(self) -> Mapping[str, Any]:
        """To be kept with the weights."""

    def model(self) -> nn.Module:
        """With fresh weights, drawn from torch's generator."""

    def begin(self, model: nn.Module) -> None:
        """Give a fresh model the weights to begin with, if they are those of another."""

    def losses(self, model: nn.Module) -> nn.Module:
        """The model with its loss: from the parts of a batch to the sum, in float32."""

    def epochs(self, *, fixed_shapes: bool) -> Epochs:
        """What is learned from; with ``fixed_shapes`` in few different shapes, for graphs."""

    def judge(self) -> Judge:
        """What judges; only the first of several processes asks for it."""


class Task(Protocol):
    """A kind of training, such as translation."""

    @property
    def kind(self) -> str:
        """The word after ``regard train``."""

    @property
    def settings(self) -> type[TrainingSettings]:
        """The class of its settings."""

    @property
    def score(self) -> str:
        """What judges measure: "BLEU", "accuracy"."""

    @property
    def digits(self) -> int:
        """Of a score, behind the point."""

    @property
    def unit(self) -> str:
        """What speed is counted in: "tokens"."""

    @property
    def use(self) -> str:
        """The command a finished run is for, up to the folder."""

    def completed(self, settings: Any) -> Any:  # noqa: ANN401 - of the task's own class
        """The settings, with what a model to begin with decides of them."""

    def check(self, settings: Any) -> None:  # noqa: ANN401
        """Refuse settings that do not fit together."""

    def read(self, data: Sequence[Path], valid: Path | None, settings: Any) -> Any:  # noqa: ANN401
        """The corpus in these files; without ``valid`` some of it is held out."""

    def learn(self, corpus: Any, settings: Any, say: Callable[[str], None]) -> dict[str, bytes]:  # noqa: ANN401
        """What is learned before the weights; the run keeps it, by names of small letters."""

    def lesson(self, corpus: Any, learned: Mapping[str, bytes], settings: Any) -> Lesson:  # noqa: ANN401
        """All of it together."""

"""A task without words, trained in an instant: the slope of a line through points."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from regard.tasks.engine.settings import TrainingSettings, setting
from regard.tasks.engine.task import Judged

SLOPE = 3.0


@dataclass(frozen=True, kw_only=True)
class LineSettings(TrainingSettings):
    task: str = setting("line", "what is trained", choices=("line",))
    width: int = setting(1, "of nothing", low=1, high=9)


@dataclass(frozen=True)
class Points:
    """As many batches of four points as the file has bytes."""

    sha256: str
    count: int
    report: tuple[str, ...] = ()


@dataclass(frozen=True)
class Four:
    parts: tuple[Tensor, ...]
    tokens: int = 4
    all_tokens: int = 4


@dataclass(frozen=True)
class Batches:
    size: int

    def count(self, epoch: int) -> int:
        return self.size

    def epoch(self, epoch: int, *, skip: int = 0, rank: int = 0, world: int = 1) -> Any:
        for i in range(skip, self.size):
            draw = torch.Generator().manual_seed(1000 * epoch + i)
            x = torch.rand(4, 1, generator=draw)
            yield Four((x, SLOPE * x))


class Epochs(nullcontext):
    notes = ("a line has two ends",)

    def __init__(self, size: int) -> None:
        super().__init__(self)
        self.size = size

    def batches(self, epoch: int) -> Batches:
        return Batches(self.size)


class Losses(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.model(x) - y).square().sum()


@dataclass(frozen=True)
class Lesson:
    points: Points

    about: ClassVar = {"slope": SLOPE}

    def model(self) -> nn.Module:
        return nn.Linear(1, 1)

    def begin(self, model: nn.Module) -> None:
        pass

    def losses(self, model: nn.Module) -> nn.Module:
        return Losses(model)

    def epochs(self, *, fixed_shapes: bool) -> Epochs:
        return Epochs(self.points.count)

    def judge(self) -> Any:
        def judge(model: Any, device: torch.device, late: Any) -> Judged:
            return Judged(100 - abs(model.weight.item() - SLOPE), 0.5)

        return judge


class Lines:
    kind = "line"
    settings = LineSettings
    score, digits, unit = "closeness", 1, "points"
    use = "regard draw --model"

    def completed(self, settings: LineSettings) -> LineSettings:
        return settings

    def check(self, settings: LineSettings) -> None:
        pass

    def read(self, data: Any, valid: Any, settings: LineSettings) -> Points:
        found = b"".join(Path(path).read_bytes() for path in data)
        return Points(hashlib.sha256(found).hexdigest(), len(found), (f"{len(found)} bytes",))

    def learn(self, corpus: Points, settings: LineSettings, say: Any) -> dict[str, bytes]:
        say("learned nothing")
        return {"nothing": b"0"}

    def lesson(self, corpus: Points, learned: Any, settings: LineSettings) -> Lesson:
        assert learned == {"nothing": b"0"}
        return Lesson(corpus)


LINES = Lines()


def line(**changes: Any) -> LineSettings:
    """Settings that train for two epochs."""
    usual = {"epochs": 2, "warmup": 0, "log_every": 5, "save_every": 4, "learning_rate": 0.01}
    return LineSettings(**(usual | changes))

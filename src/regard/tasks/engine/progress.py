"""Where a training is: everything a resumed one must know beside weights and optimiser."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from regard.errors import FileError

__all__ = ["Progress"]


@dataclass
class Progress:
    """How far a training has come.

    ``epoch`` and ``batch`` say which batch is next; ``row_tokens`` is what was learned from since
    the last row of the log; ``per_epoch`` are the steps of the first epoch.
    """

    epoch: int = 0
    batch: int = 0
    step: int = 0
    total: int = 0
    per_epoch: int = 0
    tokens: int = 0
    row_tokens: int = 0
    validated: int = 0
    score: float | None = None
    best_score: float | None = None
    best_loss: float | None = None
    best_step: int = 0
    waiting: int = 0
    done: bool = False

    @property
    def number(self) -> int:
        """Of the epoch the last step was in, counted from 1.

        >>> Progress(epoch=1, batch=0).number, Progress(epoch=1, batch=5).number
        (1, 2)
        """
        return self.epoch + (self.batch > 0)

    def judge(self, score: float, loss: float) -> bool:
        """Note a validation; True if it is the best so far, of equal scores by the loss.

        >>> progress = Progress()
        >>> [progress.judge(*x) for x in ((0.0, 9.0), (0.0, 8.0), (0.0, 8.5), (1.0, 9.0))]
        [True, True, False, True]
        """
        self.validated, self.score = self.step, score
        self.waiting += 1
        return self.improve(score, loss)

    def improve(self, score: float, loss: float) -> bool:
        """Note weights that may be the best so far; True if they are."""
        best = (-math.inf, -math.inf)
        if self.best_score is not None and self.best_loss is not None:
            best = (self.best_score, -self.best_loss)
        if (score, -loss) <= best:
            return False
        self.best_score, self.best_loss = score, loss
        self.best_step, self.waiting = self.step, 0
        return True

    def plan(self, epochs: int, steps: int) -> None:
        """How many steps it will be, of at most so many epochs and, unless 0, so many steps.

        >>> progress = Progress(per_epoch=30)
        >>> progress.plan(epochs=4, steps=100)
        >>> progress.total
        100
        """
        self.total = epochs * self.per_epoch
        self.total = min(self.total, steps) if steps else self.total

    def as_json(self) -> dict[str, Any]:
        """To be kept with a checkpoint."""
        return asdict(self)

    @classmethod
    def from_json(cls, kept: object) -> Progress:
        """As it was kept.

        Raises:
            FileError: it is not what ``as_json`` gave.

        """
        names = {f.name for f in fields(cls)}
        if not isinstance(kept, Mapping) or kept.keys() | {"per_epoch"} != names:
            msg = "the checkpoint holds no progress of a training; was it written by regard train?"
            raise FileError(msg)
        return cls(**kept)

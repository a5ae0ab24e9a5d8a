"""How fast a training goes, not counting what is no training."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

__all__ = ["Pace"]


class Pace:
    """A watch that stands still while validations and saves run.

    ``tokens`` counts what was learned from since the last lap.
    """

    def __init__(self) -> None:
        self.tokens = 0
        self._start = self._lap = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Since the beginning, without the pauses."""
        return time.perf_counter() - self._start

    @property
    def speed(self) -> float:
        """Tokens a second since the last lap."""
        return self.tokens / max(time.perf_counter() - self._lap, 1e-9)

    def lap(self) -> tuple[float, float]:
        """Tokens a second since the last lap, and how many seconds that was."""
        now = time.perf_counter()
        seconds = now - self._lap
        speed = self.tokens / max(seconds, 1e-9)
        self.tokens, self._lap = 0, now
        return speed, seconds

    @contextmanager
    def paused(self, last: Tensor) -> Iterator[None]:
        """Stop the watch, when ``last`` is there: a GPU may still be at work on it."""
        last.item()
        start = time.perf_counter()
        try:
            yield
        finally:
            pause = time.perf_counter() - start
            self._start += pause
            self._lap += pause

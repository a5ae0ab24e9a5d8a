"""How fast a training goes, not counting what is no training."""

from __future__ import annotations

import time
from collections import deque
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
        self._marks: deque[tuple[int, float]] = deque([(0, 0.0)])  # steps done, and after how long

    @property
    def seconds(self) -> float:
        """Since the beginning, without the pauses."""
        return time.perf_counter() - self._start

    def of_a_step(self, done: int) -> float:
        """Seconds that a step takes: the mean of the later half of those done, at least one.

        The first ones wait for compilers, and would promise days.
        """
        if done > self._marks[-1][0]:
            self._marks.append((done, self.seconds))
        while len(self._marks) > 2 and 2 * self._marks[1][0] <= done:  # noqa: PLR2004 - one stays
            self._marks.popleft()
        (first, since), (last, now) = self._marks[0], self._marks[-1]
        return (now - since) / max(last - first, 1)

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

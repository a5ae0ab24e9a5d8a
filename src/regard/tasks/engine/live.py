"""How a training goes: one live line in a terminal, a plain line now and then in a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from regard.optional import has, need

__all__ = ["Live", "Standing", "duration"]

EVERY = 30.0  # seconds between plain lines
REDRAWN = 0.2  # seconds between two states of the live line


@dataclass(frozen=True)
class Standing:
    """Where a training stands; None for what is not known yet.

    >>> print(Standing(step=50, total=900, epoch=1, loss=3.21, speed="12,346 tokens/s", left=100))
    step 50 of 900  epoch 1  loss 3.21  12,346 tokens/s  2 min left
    """

    step: int
    total: int
    epoch: int
    loss: float | None = None
    speed: str = ""
    score: str = ""
    left: float | None = None

    def __str__(self) -> str:
        parts = [f"step {self.step:,} of {self.total:,}", f"epoch {self.epoch}"]
        if self.loss is not None:
            parts.append(f"loss {self.loss:.2f}")
        parts += filter(None, (self.speed, self.score))
        if self.left is not None:
            parts.append(f"{duration(self.left)} left")
        return "  ".join(parts)


def duration(seconds: float) -> str:
    """About how long, in words.

    >>> [duration(s) for s in (5, 100, 4000, 90000)]
    ['5 s', '2 min', '1 h 7 min', '25 h']
    """
    if seconds < 60:  # noqa: PLR2004
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:  # noqa: PLR2004
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 10 and minutes else f"{hours} h"  # noqa: PLR2004


class Live:
    """Says on stderr how a training goes.

    Args:
        silent: says nothing: of several processes one speaks.

    """

    def __init__(self, *, silent: bool = False) -> None:
        self._silent = silent
        self._drawn = self._written = time.monotonic()
        self._live: Any = None

    def __enter__(self) -> Live:  # noqa: PYI034 - Self came with Python 3.11
        self._silent = self._silent or sys.stderr is None
        if not self._silent and sys.stderr.isatty() and has("rich"):
            console = need("rich.console", extra="cli", why="a live line").Console(stderr=True)
            self._live = need("rich.live", extra="cli", why="a live line").Live(
                console=console, auto_refresh=False, transient=True
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def say(self, text: str) -> None:
        """A line that stays."""
        if self._silent:
            return
        try:
            if self._live is None:
                sys.stderr.write(f"{text}\n")
                sys.stderr.flush()
            else:
                self._live.console.print(text, markup=False, highlight=False, soft_wrap=True)
        except (AttributeError, OSError, ValueError):  # the terminal is gone: the training is not
            self._silent = True
        self._written = time.monotonic()

    def show(self, standing: Callable[[], object], *, now: bool = False) -> None:
        """The line that changes; asked for only when it is time to say it."""
        if self._silent:
            return
        time_now = time.monotonic()
        if self._live is not None:
            if now or time_now - self._drawn > REDRAWN:
                self._drawn = time_now
                try:
                    self._live.update(_plain(str(standing())), refresh=True)
                except (OSError, ValueError):
                    self._silent = True
        elif time_now - self._written > EVERY and (text := str(standing())):
            self.say(text)


def _plain(text: str) -> Any:  # noqa: ANN401 - rich's Text
    made = need("rich.text", extra="cli", why="a live line").Text(text)  # "[red]" is no command
    made.no_wrap, made.overflow = True, "ellipsis"
    return made

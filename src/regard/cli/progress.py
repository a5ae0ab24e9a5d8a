"""How far a verb has come, on stderr, for work of more than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from regard.optional import has, need

__all__ = ["progress"]

PATIENCE = 1.0  # seconds before a bar is shown: a quick answer needs none


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """Give a function to call with what is being done now and which part of all is done, 0 to 1.

    Draws a bar if stderr is a terminal and rich is installed, and nothing otherwise: a file of
    messages is no place for one. The bar is gone when the work is.
    """
    if not (sys.stderr.isatty() and has("rich")):
        yield lambda _what, _part: None
        return
    console = need("rich.console", extra="cli", why="a progress bar").Console(stderr=True)
    bar: Any = need("rich.progress", extra="cli", why="a progress bar").Progress(
        "{task.description}", *_columns(), console=console, transient=True
    )
    task = bar.add_task("", total=1.0)
    start, shown = time.monotonic(), False

    def tell(what: str, part: float) -> None:
        nonlocal shown
        bar.update(task, description=what, completed=part)
        if not shown and time.monotonic() - start > PATIENCE:
            shown = True
            bar.start()

    try:
        yield tell
    finally:
        if shown:
            bar.stop()


def _columns() -> tuple[object, ...]:
    rich = need("rich.progress", extra="cli", why="a progress bar")
    return rich.BarColumn(), rich.TaskProgressColumn(), rich.TimeElapsedColumn()

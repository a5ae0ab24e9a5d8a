"""Where the drawings of one thing go: asked before the work, not after it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from regard.cli import pages
from regard.errors import ValueRangeError

__all__ = ["check_drawings"]


def check_drawings(
    figure: Path | None, page: Path | None, given: Sequence[str], called: str
) -> None:
    """Raise unless there is one thing to draw, and both can be written.

    Args:
        figure: of --figure.
        page: of --page.
        given: what was given to the verb.
        called: how its help calls one of those, as TEXT.

    """
    wanted = ((figure, "--figure draws", _check_figure), (page, "--page shows", pages.check))
    for path, flag, check in wanted:
        if path is None:
            continue
        if len(given) != 1:
            msg = f"{flag} one {called}, got {len(given) or 'none'}"
            raise ValueRangeError(msg)
        check(path)


def _check_figure(path: Path) -> None:
    if path.exists() and not (path.is_file() or path.is_dir()):
        msg = f"{path} is a device or a pipe, not a file; give another name"
        raise ValueRangeError(msg)
    from regard.viewing import figures  # noqa: PLC0415 - imports torch

    figures.check_path(path)

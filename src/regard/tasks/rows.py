"""The rows of a text file with their numbers, without a byte order mark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from regard.tasks.lines import long_lines

__all__ = ["Row", "numbered_rows"]

BOM = b"\xef\xbb\xbf"

Row = tuple[int, bytes | None]  # its number from 1, and what stands in it; None for too much


def numbered_rows(path: Path) -> Iterator[Row]:
    """The lines of `regard.tasks.lines.long_lines`, counted from 1; its errors are the same."""
    for number, row in enumerate(long_lines(path), start=1):
        yield number, row.removeprefix(BOM) if number == 1 and row else row

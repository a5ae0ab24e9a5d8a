"""Tables on the terminal: with rich if it is installed, else in plain characters."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence

from regard.optional import has, need

__all__ = ["print_table"]


def print_table(
    header: Sequence[str], cells: Sequence[Sequence[str]], strong: Collection[int] = ()
) -> None:
    """Print rows under a header, the first column to the left and the others to the right.

    Args:
        header: names of the columns.
        cells: the rows.
        strong: rows printed bold, where the terminal can.

    """
    (_rich if has("rich") else _plain)(header, cells, strong)


def _rich(
    header: Sequence[str], cells: Sequence[Sequence[str]], strong: Collection[int] = ()
) -> None:
    box = need("rich.box", extra="cli", why="a table")
    text = need("rich.text", extra="cli", why="a table").Text  # else "[red]" would be a command
    table = need("rich.table", extra="cli", why="a table").Table(box=box.SIMPLE_HEAD)
    for i, name in enumerate(header):
        # a narrow terminal breaks names of columns before it breaks what stands under them
        longest = max((len(row[i]) for row in cells), default=0)
        table.add_column(text(name), justify="right" if i else "left", min_width=longest)
    for i, row in enumerate(cells):
        table.add_row(*map(text, row), style="bold" if i in strong else None)
    need("rich.console", extra="cli", why="a table").Console().print(table)


def _plain(
    header: Sequence[str],
    cells: Sequence[Sequence[str]],
    strong: Collection[int] = (),  # noqa: ARG001 - plain characters have one weight
) -> None:
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    rule = tuple("-" * width for width in widths)
    for row in (header, rule, *cells):
        left, *right = (
            f"{cell:>{width}}" if i else f"{cell:<{width}}"
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        sys.stdout.write("  ".join((left, *right)).rstrip() + "\n")
    sys.stdout.write("\n")

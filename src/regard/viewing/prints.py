"""Heads drawn for paper: one large with its tokens, or all of them small."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import torch

from regard.errors import ShapeError
from regard.viewing.alignment import NAMED, PLAIN, draw_alignment
from regard.viewing.document import Drawn, layers_of
from regard.viewing.figures import Figure
from regard.viewing.fonts import lettering
from regard.viewing.heatmaps import draw_heatmaps
from regard.viewing.reading import even

__all__ = ["draw_grid", "draw_one"]

LARGE, SMALL = 800, 64  # cells a side of the one head, and of one among many
SIDE, SIDES = 1.25, 24.0  # inches of one among many, and of all of them at most
COLOURS = "cividis"  # even in lightness, and the same to colour-blind readers
BUDGET = 1 << 33  # scores worked out for a figure
ALL = slice(None)


def draw_one(one: Drawn, tokens: Sequence[Sequence[str]], title: str) -> Figure:
    """One head: with its tokens where they can be read, else as a picture."""
    head = one.head
    if one.row_tokens is not None and one.col_tokens is not None and max(head.n, head.m) <= NAMED:
        weights = head.tile(ALL, ALL, NAMED).values
        return draw_alignment(weights, tokens[one.col_tokens], tokens[one.row_tokens], title)
    tile = head.tile(ALL, ALL, even(max(head.n, head.m), LARGE), "mass", BUDGET).values
    across, down = (
        f"{what} (in {cells:,} cells)" if cells < size else what
        for what, size, cells in (
            (f"{head.m:,} keys", head.m, tile.shape[1]),
            (f"{head.n:,} queries", head.n, tile.shape[0]),
        )
    )
    plain = title.replace("$", r"\$")  # no formula of matplotlib's
    return draw_heatmaps(tile[None, None], across, down, [plain], (6.4, 5.6), COLOURS)


def draw_grid(drawn: Sequence[Drawn], title: str = "") -> Figure:
    """All heads, a row a layer, in cells that hold the mass of several weights."""
    layers, places = layers_of(drawn)
    rows = [
        [one.head for one, _ in some]
        for _, some in groupby(zip(drawn, places, strict=True), lambda pair: pair[1])
    ]
    tiles = [
        [
            head.tile(
                ALL, ALL, even(max(head.n, head.m), SMALL), "mass", BUDGET // len(drawn)
            ).values
            for head in row
        ]
        for row in rows
    ]
    sizes, shapes = {len(row) for row in tiles}, {tile.shape for row in tiles for tile in row}
    if len(sizes) > 1 or len(shapes) > 1:
        msg = (
            "a figure of all heads needs as many in each layer, and as many queries and keys; "
            "choose a layer, or one head, with layer= and head="
        )
        raise ShapeError(msg)
    grid = torch.stack([torch.stack(row) for row in tiles])
    side = min(SIDE, SIDES / max(grid.shape[:2]))
    size = (side * grid.shape[1] + 1.2, side * grid.shape[0] + 0.8)
    figure = draw_heatmaps(grid, "keys", "queries", None, size, COLOURS)
    axes = [ax for ax in figure.axes if ax.images]
    for ax, head in zip(axes, rows[0], strict=False):  # the first row
        ax.set_title(f"head {head.number}", fontsize=9)
    names = _short([x["name"] for x in layers])
    sides = [
        " ".join(filter(None, (layer["model"], f"layer {name}" if name else "")))
        for name, layer in zip(names, layers, strict=True)
    ]
    letters = lettering([*sides, title])
    style = letters.style | PLAIN
    for ax, name in zip(axes[:: len(rows[0])], sides, strict=True):
        ax.set_ylabel(f"{letters.text(name)}\nqueries".strip(), fontsize=9, **style)
    if title:
        figure.suptitle(letters.text(title), **style)
    return figure


def _short(names: Sequence[str]) -> list[str]:
    """Names without the dotted parts that all of them begin and end with.

    >>> _short(["encoder.layer.0.self", "encoder.layer.1.self"])
    ['0', '1']
    >>> _short(["attention"])
    ['attention']

    """
    parts = [name.split(".") for name in names]
    if len(set(names)) > 1:
        for end in (0, -1):
            while min(map(len, parts)) > 1 and len({some[end] for some in parts}) == 1:
                for some in parts:
                    del some[end]
    return [".".join(some) for some in parts]

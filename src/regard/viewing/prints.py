"""Heads drawn for paper: one large with its tokens, or all of them small."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import torch

from regard.errors import ShapeError
from regard.viewing.alignment import NAMED, draw_alignment
from regard.viewing.document import Drawn, layers_of
from regard.viewing.figures import Figure
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


def draw_grid(drawn: Sequence[Drawn]) -> Figure:
    """All heads, a row a layer, in cells that hold the mass of several weights."""
    _, places = layers_of(drawn)
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
    titles = [f"{head.number}" for head in rows[0]]
    return draw_heatmaps(grid, "keys", "queries", titles, size, COLOURS)

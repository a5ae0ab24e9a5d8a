"""All that a page says of a head, told in one pass over its weights."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.inspect import Top
from regard.attention.pooling import Grid, RowsOfWeights

__all__ = ["Along", "Survey", "survey"]

NEAR = 0.02  # of the keys: what still counts as on the diagonal
STATS = ("entropy", "distance", "diagonality", "first")


class Survey(NamedTuple):
    """Of one head, told from every query, or from every so many-th.

    ``mass`` and ``max`` are grids as ``Head.tile`` has them, None if none was wanted, and so is
    ``top``; ``stats``, ``entropy`` and ``received`` are those of the head. On the CPU.
    """

    every: int
    mass: Float[Tensor, "r c"] | None
    max: Float[Tensor, "r c"] | None
    stats: dict[str, float]
    entropy: Float[Tensor, " n"]
    received: Float[Tensor, " m"]
    top: Top | None


class Along(NamedTuple):
    """Where on the diagonal queries stand: query i at the key i * step + moved."""

    step: float
    moved: int


def survey(
    source: RowsOfWeights, along: Along, *, every: int = 1, cells: int | None = None, count: int = 0
) -> Survey:
    """Go through the weights once.

    Args:
        source: of the weights.
        along: where its queries stand.
        every: of the queries, how far those that are read are apart.
        cells: how many a side of a grid, at most; None: no grids.
        count: how many of the largest weights of each query, if all are read; 0: none.

    """
    n, m, device = source.n, source.m, source.device
    read = len(range(every // 2, n, every))
    grids = []
    if cells is not None and n and m:
        grids = [Grid((n, m), cells, how, every, device) for how in ("mass", "max")]
    top = Top(torch.zeros(n, count), torch.zeros(n, count, dtype=torch.int64)) if count else None
    spread = torch.zeros(read, dtype=torch.float64, device=device)
    got = torch.zeros(m, dtype=torch.float64, device=device)
    sums = torch.zeros(3, dtype=torch.float64, device=device)
    j = torch.arange(m, dtype=torch.float32, device=device)
    near = max(1.0, NEAR * m)
    for done, block in source.blocks(every // 2, n, every):
        w = block[0]
        rows = slice(done, done + len(w))
        spread[rows] = _entropy(w)
        got += w.sum(0)
        at = torch.arange(rows.start, rows.stop, device=device) * every + every // 2
        away = (j - (at * along.step + along.moved).float()[:, None]).abs_().to(w.dtype)
        parts = torch.linalg.vecdot(w, away), _within(w, away, near), w[:, :1].sum(-1)
        sums += torch.stack([part.sum(dtype=torch.float64) for part in parts])
        for grid in grids:
            grid.add(done, block)
        if top is not None:
            best = w.topk(count, -1)
            top.weights[rows], top.keys[rows] = best.values, best.indices
    mean = torch.cat([spread.sum()[None], sums]) / max(read, 1)
    nearest = (torch.arange(n) // every).clamp_max(max(read - 1, 0))
    entropy = spread.float().cpu()
    mass, largest = [grid.values[0].float().cpu() for grid in grids] or (None, None)
    return Survey(
        every,
        mass,
        largest,
        dict(zip(STATS, mean.tolist(), strict=True)),
        entropy[nearest] if every > 1 else entropy,
        (got * (n / max(read, 1))).float().cpu(),
        top,
    )


def _entropy(w: Float[Tensor, "r m"]) -> Float[Tensor, " r"]:
    """As torch.special.entr, added up; in steps that are done several numbers at a time."""
    if not w.shape[-1]:
        return w.sum(-1)
    tiny = torch.finfo(w.dtype).tiny  # a weight of 0 has none: 0, times any number
    found = -torch.linalg.vecdot(w, w.clamp_min(tiny).log_())
    return torch.where(w.amin(-1) < 0, -torch.inf, found)


def _within(w: Tensor, away: Tensor, near: float) -> Float[Tensor, " r"]:
    return torch.where(away <= near, w, 0).sum(-1)

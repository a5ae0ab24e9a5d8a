"""Looking at the weights: exact, a few rows at a time, never n x m unless asked.

Every function takes the q, k, score and mask of an ``attend`` call. A few whole rows of scores are
made at a time, turned into weights by the same softmax as the reference's, and reduced; so memory
is O(n + m) and the weights are those of the call, to rounding. None of them is differentiated.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.pooling import Reduce, pooled, span_of
from regard.attention.rows import Rows
from regard.errors import ShapeError, ValueRangeError
from regard.masks import Mask
from regard.scores import Dot, Score

__all__ = ["Top", "entropy", "overview", "received", "rectangle", "top", "weights"]

_DOT = Dot()
_EVERYTHING = slice(None)


class Top(NamedTuple):
    """The largest weights of each query, largest first, and whose they are."""

    weights: Float[Tensor, "*b n k"]
    keys: Int[Tensor, "*b n k"]


def weights(
    q: Float[Tensor, "*b n d"],
    k: Float[Tensor, "*b m e"],
    *,
    score: Score = _DOT,
    mask: Mask | None = None,
) -> Float[Tensor, "*b n m"]:
    """All the weights, n x m of them: what ``attend`` averages with.

    >>> import torch
    >>> from regard import Causal, Uniform, weights
    >>> x = torch.zeros(3, 1)
    >>> weights(x, x, score=Uniform(), mask=Causal())[1].tolist()
    [0.5, 0.5, 0.0]
    """
    rows = Rows(q, k, score, mask)
    out = torch.zeros(rows.entries, rows.n, rows.m, dtype=q.dtype, device=q.device)
    for start, w in rows.blocks():
        out[:, start : start + w.shape[1]] = w.to(q.dtype)
    return out.reshape(*rows.batch, rows.n, rows.m)


def rectangle(
    q: Float[Tensor, "*b n d"],
    k: Float[Tensor, "*b m e"],
    rows: slice,
    cols: slice,
    *,
    score: Score = _DOT,
    mask: Mask | None = None,
) -> Float[Tensor, "*b r c"]:
    """The weights of some queries on some keys, exactly as in the whole: a zoom.

    Args:
        q: queries [*b, n, d].
        k: keys [*b, m, e].
        rows: which queries, a slice with step 1.
        cols: which keys, a slice with step 1.
        score: as in ``attend``.
        mask: as in ``attend``.

    """
    source = Rows(q, k, score, mask)
    (first, last), (left, right) = (
        span_of(name, piece, size)
        for name, piece, size in (("rows", rows, source.n), ("cols", cols, source.m))
    )
    return source.shaped(source.rectangle(first, last, left, right), last - first, right - left)


def overview(
    q: Float[Tensor, "*b n d"],
    k: Float[Tensor, "*b m e"],
    *,
    cells: int = 512,
    reduce: Reduce = "mass",
    rows: slice = _EVERYTHING,
    cols: slice = _EVERYTHING,
    every: int = 1,
    score: Score = _DOT,
    mask: Mask | None = None,
) -> Float[Tensor, "*b r c"]:
    """The whole n x m picture, or a part of it, in a small grid, at most cells x cells.

    Args:
        q: queries [*b, n, d].
        k: keys [*b, m, e].
        cells: how many cells a side at most; a cell is a run of queries by a run of keys.
        reduce: "mass": how much of its attention the average query of a cell's rows gives to the
            cell's keys, so each row of cells adds up to 1 (less where queries see nothing). "max":
            the largest single weight in the cell.
        rows: which queries, a slice with step 1.
        cols: which keys, a slice with step 1.
        every: read every so many queries only: a sample, for a first look at very many. Each row
            of cells has to have one that is read.
        score: as in ``attend``.
        mask: as in ``attend``.

    >>> import torch
    >>> from regard import Causal, Uniform, overview
    >>> x = torch.zeros(4, 1)
    >>> overview(x, x, cells=2, score=Uniform(), mask=Causal()).double().round(decimals=3).tolist()
    [[1.0, 0.0], [0.583, 0.417]]

    """
    source = Rows(q, k, score, mask)
    found = pooled(source, rows, cols, cells=cells, reduce=reduce, every=every)
    return source.shaped(found, *found.shape[1:])


def top(
    q: Float[Tensor, "*b n d"],
    k: Float[Tensor, "*b m e"],
    count: int,
    *,
    score: Score = _DOT,
    mask: Mask | None = None,
) -> Top:
    """The ``count`` largest weights of each query and the keys they belong to, largest first.

    A key that cannot be seen has weight 0; where a query sees fewer, such keys fill up the rest.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        msg = f"count must be an integer of at least 1, got {count!r}"
        raise ValueRangeError(msg)
    rows = Rows(q, k, score, mask)
    if count > rows.m:
        msg = f"count must be at most m={rows.m}, the number of keys, got {count}"
        raise ShapeError(msg)
    values = torch.zeros(rows.entries, rows.n, count, dtype=torch.float64, device=q.device)
    keys = torch.zeros(rows.entries, rows.n, count, dtype=torch.int64, device=q.device)
    for start, w in rows.blocks():
        found = w.topk(count, -1)
        values[:, start : start + w.shape[1]] = found.values
        keys[:, start : start + w.shape[1]] = found.indices
    return Top(rows.shaped(values, rows.n, count), keys.reshape(*rows.batch, rows.n, count))


def entropy(
    q: Float[Tensor, "*b n d"],
    k: Float[Tensor, "*b m e"],
    *,
    score: Score = _DOT,
    mask: Mask | None = None,
) -> Float[Tensor, "*b n"]:
    """How spread out each query's attention is, in nats: 0 on one key, log m on all alike."""
    rows = Rows(q, k, score, mask)
    if rows.look is not None:
        return rows.shaped(rows.look.entropy(), rows.n)
    out = torch.zeros(rows.entries, rows.n, dtype=rows.q.dtype, device=q.device)
    for start, w in rows.blocks():
        out[:, start : start + w.shape[1]] = torch.special.entr(w).sum(-1)
    return rows.shaped(out, rows.n)


def received(
    q: Float[Tensor, "*b n d"],
    k: Float[Tensor, "*b m e"],
    *,
    score: Score = _DOT,
    mask: Mask | None = None,
) -> Float[Tensor, "*b m"]:
    """How much attention each key receives from all queries together; the mean is n / m."""
    rows = Rows(q, k, score, mask)
    out = None if rows.look is None else rows.look.received()
    if out is not None:
        return rows.shaped(out, rows.m)
    out = torch.zeros(rows.entries, rows.m, dtype=torch.float64, device=q.device)
    for _, w in rows.blocks():
        out += w.sum(1, dtype=torch.float64)
    return rows.shaped(out, rows.m)

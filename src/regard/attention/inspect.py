"""Looking at the weights: exact, a few rows at a time, never n x m unless asked.

Every function takes the q, k, score and mask of an ``attend`` call. A few whole rows of scores are
made at a time, turned into weights by the same softmax as the reference's, and reduced; so memory
is O(n + m) and the weights are those of the call, to rounding. None of them is differentiated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, Protocol

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.rows import Rows
from regard.errors import KindError, ShapeError, ValueRangeError
from regard.masks import Mask
from regard.scores import Dot, Score

__all__ = [
    "Reduce",
    "RowsOfWeights",
    "Top",
    "check_pooling",
    "entropy",
    "overview",
    "pooled",
    "received",
    "rectangle",
    "span_of",
    "top",
    "weights",
]

Reduce = Literal["mass", "max"]

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


def span_of(name: str, piece: slice, size: int) -> tuple[int, int]:
    """First and last + 1 of the positions that a slice means, or what is wrong with it."""
    if not isinstance(piece, slice):
        msg = (
            f"{name} must be a slice, got {type(piece).__name__}; for one line use slice(i, i + 1)"
        )
        raise KindError(msg)
    start, stop, step = piece.indices(size)
    if step != 1:
        msg = f"{name} must be a slice with step 1, got step {step}"
        raise ValueRangeError(msg)
    return start, max(start, stop)


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


class RowsOfWeights(Protocol):
    """Whatever gives rows of weights, some at a time."""

    @property
    def entries(self) -> int:
        """How many batch entries."""

    @property
    def n(self) -> int:
        """How many queries."""

    @property
    def m(self) -> int:
        """How many keys."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""

    def blocks(
        self, start: int = 0, stop: int | None = None, step: int = 1
    ) -> Iterator[tuple[int, Float[Tensor, "B r m"]]]:
        """Every step-th row from start to stop: how many came before, and the next ones."""

    def whole(self, height: int, width: int, reduce: Reduce) -> Tensor | None:
        """Sums or maxima over a grid of cells, if there is a faster way than by rows."""


def check_pooling(cells: int, reduce: str, every: int = 1) -> None:
    """Raise unless these say how to pool."""
    for name, value in (("cells", cells), ("every", every)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            msg = f"{name} must be an integer of at least 1, got {value!r}"
            raise ValueRangeError(msg)
    if reduce not in ("mass", "max"):
        msg = f"reduce must be 'mass' or 'max', got {reduce!r}"
        raise ValueRangeError(msg)


def pooled(
    source: RowsOfWeights,
    rows: slice,
    cols: slice,
    *,
    cells: int,
    reduce: Reduce,
    every: int = 1,
) -> Float[Tensor, "B r c"]:
    """A part of the weights in a small grid, as ``overview`` has it."""
    check_pooling(cells, reduce, every)
    (first, last), (left, right) = (
        span_of(name, piece, size)
        for name, piece, size in (("rows", rows, source.n), ("cols", cols, source.m))
    )
    height, width = min(last - first, cells), min(right - left, cells)
    if every > 1 and every > (last - first) // max(height, 1):
        msg = (
            f"every must be at most {(last - first) // max(height, 1)}, the queries that a row of "
            f"cells has at least, got {every}"
        )
        raise ValueRangeError(msg)
    if not source.entries * height * width:
        return torch.zeros(source.entries, height, width, device=source.device)
    row_of, col_of = (_cells(x, cells, source.device) for x in (last - first, right - left))
    row_of = row_of[every // 2 :: every]  # from the middle: no row of cells leans to its start
    everything = every == 1 and (last - first, right - left) == (source.n, source.m)
    grid = source.whole(height, width, reduce) if everything else None
    if grid is None:
        grid = _by_rows(
            source, (first + every // 2, last, every), (left, right), row_of, col_of, reduce
        )
    if reduce == "mass":
        grid = grid / torch.bincount(row_of, minlength=height)[:, None]
    return grid


def _by_rows(
    source: RowsOfWeights,
    rows: tuple[int, int, int],
    cols: tuple[int, int],
    row_of: Tensor,
    col_of: Tensor,
    reduce: Reduce,
) -> Tensor:
    """Sums or maxima over the cells of the rows (start, stop, step) and the columns."""
    grid = None
    height, width = (int(x[-1]) + 1 for x in (row_of, col_of))
    for done, w in source.blocks(*rows):
        here = row_of[done : done + w.shape[1]]
        narrow = _narrowed(w[..., slice(*cols)], col_of, width, reduce)
        if reduce == "mass":
            narrow = narrow.double()
        if grid is None:
            grid = narrow.new_zeros(source.entries, height, width)
        if reduce == "mass":
            grid.index_add_(1, here, narrow)
        else:
            grid.scatter_reduce_(1, here[:, None].expand_as(narrow), narrow, "amax")
    assert grid is not None  # there is a row
    return grid


def _cells(size: int, cells: int, device: torch.device) -> Tensor:
    """Which cell each of ``size`` positions falls in: runs as equal as can be."""
    here = torch.arange(size, device=device)
    return here if size <= cells else here * cells // size


def _narrowed(w: Tensor, col_of: Tensor, width: int, reduce: str) -> Tensor:
    """[B, r, c] to [B, r, width]."""
    m = w.shape[-1]
    if width == m:
        return w
    if m % width == 0:  # equal runs: a reshape, several times as fast as scattering
        runs = w.reshape(*w.shape[:-1], width, m // width)
        return runs.sum(-1) if reduce == "mass" else runs.amax(-1)
    out = w.new_zeros(*w.shape[:-1], width)
    if reduce == "mass":
        return out.index_add_(-1, col_of, w)
    return out.scatter_reduce_(-1, col_of.expand_as(w), w, "amax")


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

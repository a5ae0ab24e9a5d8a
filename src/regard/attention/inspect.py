"""Looking at the weights: exact, a few rows at a time, never n x m unless asked.

Every function takes the q, k, score and mask of an ``attend`` call. A few whole rows of scores are
made at a time, turned into weights by the same softmax as the reference's, and reduced; so memory
is O(n + m) and the weights are those of the call, to rounding. None of them is differentiated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention import reference
from regard.attention.api import check_score_and_mask, takes_halves
from regard.attention.call import Call, make_call
from regard.attention.choice import MATERIALISE_UP_TO, why_not_triton
from regard.errors import KindError, ShapeError, ValueRangeError
from regard.masks import Mask
from regard.optional import has
from regard.scores import Dot, Score
from regard.shapes import check_qkv

if TYPE_CHECKING:
    from regard.attention.triton import Look

__all__ = ["Top", "entropy", "overview", "received", "rectangle", "top", "weights"]

_DOT = Dot()
_AT_A_TIME = 1 << 21  # weights in memory at once, in all batch entries together


class Top(NamedTuple):
    """The largest weights of each query, largest first, and whose they are."""

    weights: Float[Tensor, "*b n k"]
    keys: Int[Tensor, "*b n k"]


class _Rows:
    """A source of rows of weights: q, k, score and mask, checked and laid out once."""

    def __init__(self, q: Tensor, k: Tensor, score: Score, mask: Mask | None) -> None:
        check_qkv(q, k)
        check_score_and_mask(q, k, score, mask)
        self.dtype = q.dtype
        q, k = q.detach(), k.detach()
        on_gpu = not why_not_triton(q, k, k, score)
        if not (on_gpu and takes_halves("triton", score)):
            q, k = reference.widened(q), reference.widened(k)
        self.batch, self.n, self.m = q.shape[:-2], q.shape[-2], k.shape[-2]
        self.entries = self.batch.numel()
        self.device = q.device
        nothing = k.new_zeros(*k.shape[:-1], 0)
        with torch.no_grad():
            form = score.form(q, k)
            self.call = None if form is None else make_call(q, k, nothing, form, mask)
        self.q, self.k, self.score, self.mask = q, k, score, mask
        self.look: Look | None = None
        if on_gpu and self.call is not None and self.entries and self.n and self.m:
            from regard.attention.triton import Look  # noqa: PLC0415 - triton, when first needed

            self.look = Look(self.call)

    def __call__(self, start: int, stop: int) -> Float[Tensor, "B r m"]:
        """The weights of the queries from start to stop."""
        if not self.entries or stop <= start or not self.m:
            return self.q.new_zeros(self.entries, stop - start, self.m)
        with torch.no_grad():
            if self.look is not None:
                return self.look.weights(slice(start, stop), slice(0, self.m))
            if self.call is None:
                s, allowed = self._pairwise(start, stop)
            elif self._fused(self.call, stop - start):
                from regard.attention import cpu  # noqa: PLC0415 - numba, when first needed

                return reference.softmax(cpu.scores(self.call, start, stop), None)
            else:
                s, allowed = _defined(self.call, start, stop)
            # a hidden key may hold anything, and softmax hides it; a seen NaN stays
            return reference.softmax(s, allowed)

    def _fused(self, call: Call, rows: int) -> bool:
        size = self.entries * rows * self.m * max(call.q.shape[-1], 1)
        linear = call.phi == "q * k"  # a matrix product: torch's own is the best there is
        return (
            not linear and size > MATERIALISE_UP_TO and self.device.type == "cpu" and has("numba")
        )

    def _pairwise(self, start: int, stop: int) -> tuple[Tensor, Tensor | None]:
        i = torch.arange(start, stop, device=self.device)
        j = torch.arange(self.m, device=self.device)
        s = self.score.at(self.q[..., start:stop, :], self.k, i, j)
        s = s.reshape(self.entries, stop - start, self.m)
        if self.mask is None:
            return s, None
        allowed = self.mask.allows(self.batch, self.n, self.m, self.device)
        allowed = allowed.expand(*self.batch, self.n, self.m)[..., start:stop, :]
        return s, allowed.reshape(self.entries, stop - start, self.m)

    def blocks(self, features: int = 1) -> Iterator[tuple[int, Float[Tensor, "B r m"]]]:
        """All rows, in blocks that keep memory bounded: the first row's number, and weights."""
        if self.look is not None:
            features = 1
        elif (
            self.call is not None
            and self.call.phi != "q * k"
            and not self._fused(self.call, self.n)
        ):
            features = max(self.call.q.shape[-1], 1)  # the definition makes n x m x h
        elif self.call is None:
            features = max(self.q.shape[-1], 1)
        step = max(_AT_A_TIME // max(self.entries * self.m * features, 1), 1)
        for start in range(0, self.n, step):
            yield start, self(start, min(start + step, self.n))

    def shaped(self, x: Tensor, *tail: int) -> Tensor:
        """A result for the caller: its batch axes and its dtype."""
        return x.reshape(*self.batch, *tail).to(self.dtype)


def _defined(call: Call, start: int, stop: int) -> tuple[Tensor, Tensor | None]:
    s = call.scores(start, stop)
    if call.lo is None:
        return s, None
    return s, call.allowed(start, stop)


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
    rows = _Rows(q, k, score, mask)
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
    source = _Rows(q, k, score, mask)
    (first, last), (left, right) = (
        _range(name, piece, size)
        for name, piece, size in (("rows", rows, source.n), ("cols", cols, source.m))
    )
    out = torch.zeros(source.entries, last - first, right - left, dtype=q.dtype, device=q.device)
    step = max(_AT_A_TIME // max(source.entries * source.m * max(q.shape[-1], 1), 1), 1)
    for start in range(first, last, step):
        stop = min(start + step, last)
        if source.look is not None:
            found = source.look.weights(slice(start, stop), slice(left, right))
        else:
            found = source(start, stop)[..., left:right]
        out[:, start - first : stop - first] = found.to(q.dtype)
    return out.reshape(*source.batch, last - first, right - left)


def _range(name: str, piece: slice, size: int) -> tuple[int, int]:
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
    reduce: Literal["mass", "max"] = "mass",
    score: Score = _DOT,
    mask: Mask | None = None,
) -> Float[Tensor, "*b r c"]:
    """The whole n x m picture in a small grid, at most cells x cells.

    Args:
        q: queries [*b, n, d].
        k: keys [*b, m, e].
        cells: how many cells a side at most; a cell is a run of queries by a run of keys.
        reduce: "mass": how much of its attention the average query of a cell's rows gives to the
            cell's keys, so each row of cells adds up to 1 (less where queries see nothing). "max":
            the largest single weight in the cell.
        score: as in ``attend``.
        mask: as in ``attend``.

    >>> import torch
    >>> from regard import Causal, Uniform, overview
    >>> x = torch.zeros(4, 1)
    >>> overview(x, x, cells=2, score=Uniform(), mask=Causal()).double().round(decimals=3).tolist()
    [[1.0, 0.0], [0.583, 0.417]]

    """
    if isinstance(cells, bool) or not isinstance(cells, int) or cells < 1:
        msg = f"cells must be an integer of at least 1, got {cells!r}"
        raise ValueRangeError(msg)
    if reduce not in ("mass", "max"):
        msg = f"reduce must be 'mass' or 'max', got {reduce!r}"
        raise ValueRangeError(msg)
    rows = _Rows(q, k, score, mask)
    row_of, col_of = (_cells(size, cells, q.device) for size in (rows.n, rows.m))
    height, width = (int(x[-1]) + 1 if x.numel() else 0 for x in (row_of, col_of))
    start_dtype = torch.float64 if reduce == "mass" else reference.widened(rows.q[:0]).dtype
    grid = torch.zeros(rows.entries, height, width, dtype=start_dtype, device=q.device)
    if not grid.numel():
        return rows.shaped(grid, height, width)
    found = None if rows.look is None else rows.look.overview(height, width, reduce)
    for start, w in rows.blocks() if found is None else ():
        here = row_of[start : start + w.shape[1]]
        narrow = _pooled(w, col_of, width, reduce)
        if reduce == "mass":
            grid.index_add_(1, here, narrow.double())
        else:
            where = here[:, None].expand_as(narrow)
            grid.scatter_reduce_(1, where, narrow, "amax")
    grid = grid if found is None else found
    if reduce == "mass":
        grid = grid / torch.bincount(row_of, minlength=height)[:, None]
    return rows.shaped(grid, height, width)


def _cells(size: int, cells: int, device: torch.device) -> Tensor:
    """Which cell each of ``size`` positions falls in: runs as equal as can be."""
    here = torch.arange(size, device=device)
    return here if size <= cells else here * cells // size


def _pooled(w: Tensor, col_of: Tensor, width: int, reduce: str) -> Tensor:
    """[B, r, m] to [B, r, width]."""
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
    rows = _Rows(q, k, score, mask)
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
    rows = _Rows(q, k, score, mask)
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
    rows = _Rows(q, k, score, mask)
    out = None if rows.look is None else rows.look.received()
    if out is not None:
        return rows.shaped(out, rows.m)
    out = torch.zeros(rows.entries, rows.m, dtype=torch.float64, device=q.device)
    for _, w in rows.blocks():
        out += w.sum(1, dtype=torch.float64)
    return rows.shaped(out, rows.m)

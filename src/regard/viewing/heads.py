"""Heads: those of captured calls, and those whose weights are there already."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.inspect import Top
from regard.attention.pooling import Reduce, RowsOfWeights, check_pooling, pooled, span_of
from regard.attention.rows import CACHED, FEWEST, Rows, last_of
from regard.errors import KindError, ShapeError, ValueRangeError
from regard.viewing.captured import Captured, Captures
from regard.viewing.head import Head, Shape, Tile
from regard.viewing.survey import Along, Survey, survey

__all__ = ["CapturedHead", "DenseHead", "Head", "Tile", "heads_of"]

LOOKED_UP = 64  # what a weight takes that is there already, beside those of ``Rows.work``


class _Source(RowsOfWeights, Protocol):
    """Rows of the weights of one head."""

    @property
    def work(self) -> int:
        """About what one weight takes, counted in products of two numbers."""

    def rectangle(self, first: int, last: int, left: int, right: int) -> Float[Tensor, "1 r c"]:
        """Some of the weights, as they are."""


class _Viewed(ABC):
    """A head whose weights come in rows."""

    def __init__(self, layer: str, number: int, n: int, m: int) -> None:
        self.layer, self.number, self.n, self.m = layer, number, n, m

    @property
    @abstractmethod
    def source(self) -> _Source:
        """Where its rows come from."""

    @abstractmethod
    def ends(self) -> Tensor:
        """Behind the last key that each query sees, [n]."""

    @property
    def work(self) -> int:
        return self.source.work

    @cached_property
    def shape(self) -> Shape:
        ends = self.ends()
        if self.n > 1 and bool((ends != ends[0]).any()):
            here = torch.arange(1, self.n + 1, device=ends.device) + max(self.m - self.n, 0)
            # with more keys than queries much ends early by chance
            late = ends > here if self.n == self.m else ends != here.clamp_max(int(ends.max()))
            if not bool(late.any()):
                return "causal"
        return "self" if self.n == self.m else "cross"

    def tile(
        self,
        rows: slice,
        cols: slice,
        cells: int = 256,
        reduce: Reduce = "mass",
        budget: int | None = None,
    ) -> Tile:
        (first, last), (left, right) = span_of("rows", rows, self.n), span_of("cols", cols, self.m)
        check_pooling(cells, reduce)
        if max(last - first, right - left) <= cells:
            return Tile(self.source.rectangle(first, last, left, right)[0].float().cpu(), 1)
        every = self._every(last - first, cells, budget)
        found = pooled(self.source, rows, cols, cells=cells, reduce=reduce, every=every)
        return Tile(found[0].float().cpu(), every)

    def line(
        self, axis: Literal["row", "col"], at: int, cells: int = 1024, budget: int | None = None
    ) -> Tile:
        if axis not in ("row", "col"):
            msg = f"axis must be 'row' or 'col', got {axis!r}"
            raise ValueRangeError(msg)
        size = self.n if axis == "row" else self.m
        if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < size:
            what = "queries" if axis == "row" else "keys"
            msg = f"at must be the number of one of the {size} {what}, from 0 on, got {at!r}"
            raise ValueRangeError(msg)
        one, everything = slice(at, at + 1), slice(None)
        rows, cols = (one, everything) if axis == "row" else (everything, one)
        return self.tile(rows, cols, cells, "max", budget)

    def top(self, count: int, rows: slice | None = None) -> Top:
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= self.m:
            msg = f"count must be an integer from 1 to m={self.m}, the keys, got {count!r}"
            raise ValueRangeError(msg)
        first, last = span_of("rows", slice(None) if rows is None else rows, self.n)
        weights = torch.zeros(last - first, count)
        keys = torch.zeros(last - first, count, dtype=torch.int64)
        for done, w in self.source.blocks(first, last):
            found = w[0].topk(count, -1)
            weights[done : done + w.shape[1]] = found.values
            keys[done : done + w.shape[1]] = found.indices
        return Top(weights, keys)

    def entropy(self, budget: int | None = None) -> Tensor:
        return self.survey(budget=budget).entropy

    def received(self, budget: int | None = None) -> Tensor:
        return self.survey(budget=budget).received

    def stats(self, budget: int | None = None) -> dict[str, float]:
        return self.survey(budget=budget).stats

    def survey(self, cells: int | None = None, count: int = 0, budget: int | None = None) -> Survey:
        every = self._every(self.n, cells or 1, budget)
        if every > 1:
            count = 0
        step = 1.0 if self.shape != "cross" else (self.m - 1) / max(self.n - 1, 1)
        moved = max(self.m - self.n, 0) if self.shape == "causal" else 0
        return survey(
            self.source,
            Along(step, moved),
            every=every,
            cells=cells,
            count=min(count, self.m),
        )

    def _every(self, queries: int, cells: int, budget: int | None) -> int:
        """How many queries apart those that are read may be."""
        if budget is None or queries <= max(cells, 1):
            return 1
        wanted = queries * self.m * self.work
        return max(min(-(-wanted // max(budget, 1)), queries // max(cells, 1)), 1)


class _Shared:
    """The rows of all heads of a call, laid out when the first is looked at."""

    def __init__(self, call: Captured) -> None:
        self._call = call

    @cached_property
    def rows(self) -> Rows:
        call = self._call
        return Rows(call.q, call.k, call.score, call.mask)


class CapturedHead(_Viewed):
    """A head of a captured call: its weights are worked out when they are looked at."""

    def __init__(self, call: Captured, number: int, entry: int, shared: _Shared) -> None:
        super().__init__(call.name, number, call.q.shape[-2], call.k.shape[-2])
        self._shared, self._entry = shared, entry

    @cached_property
    def source(self) -> Rows:
        return self._shared.rows.entry(self._entry)

    def ends(self) -> Tensor:
        return self.source.ends()[0]


class DenseHead(_Viewed):
    """A head whose n x m weights are there already."""

    def __init__(self, weights: Float[Tensor, "n m"], layer: str = "", number: int = 0) -> None:
        super().__init__(layer, number, *weights.shape)
        self.weights = weights.detach()

    @cached_property
    def source(self) -> _Written:
        return _Written(self.weights)

    def ends(self) -> Tensor:
        ends = [last_of(w[0] != 0) for _, w in self.source.blocks()]
        return torch.cat(ends) if ends else torch.zeros(0, dtype=torch.int64)


class _Written:
    """Rows of weights that are written out."""

    entries = 1
    work = LOOKED_UP

    def __init__(self, weights: Tensor) -> None:
        self.weights = weights
        self.n, self.m = weights.shape
        self.device = weights.device

    def blocks(
        self, start: int = 0, stop: int | None = None, step: int = 1
    ) -> Iterator[tuple[int, Tensor]]:
        rows = self.weights[start:stop:step]
        at_once = max(CACHED // max(self.m, 1), FEWEST)
        for done in range(0, len(rows), at_once):
            yield done, rows[None, done : done + at_once].float()

    def whole(self, height: int, width: int, reduce: Reduce) -> None:
        return None

    def rectangle(self, first: int, last: int, left: int, right: int) -> Tensor:
        return self.weights[None, first:last, left:right]


def heads_of(source: Captures | Captured | Tensor | Any, entry: int = 0) -> list[Head]:  # noqa: ANN401 - an array
    """All heads of what was captured, or of weights that are there already.

    Args:
        source: captured calls, in their order; one of them; or weights [..., n, m], a tensor or an
            array: the axis before the queries counts heads, those before it layers.
        entry: which entry of the batch; weights that are there have none.

    >>> import torch
    >>> from regard.viewing.heads import heads_of
    >>> heads = heads_of(torch.eye(4).expand(2, 3, 4, 4))
    >>> [(head.layer, head.number) for head in heads[:4]]
    [('0', 0), ('0', 1), ('0', 2), ('1', 0)]
    >>> heads[0].tile(slice(0, 4), slice(0, 4), cells=2).values.tolist()
    [[1.0, 0.0], [0.0, 1.0]]

    """
    if isinstance(source, Captured):
        return _captured(source, entry)
    if isinstance(source, Captures):
        return [head for call in source for head in _captured(call, entry)]
    if isinstance(source, np.ndarray) and not source.flags.writeable:
        source = source.copy()  # torch has none that cannot be written, and warns
    try:
        weights = torch.as_tensor(source)
    except (TypeError, ValueError, RuntimeError) as cause:
        msg = f"what is looked at is a capture, or weights [..., n, m], got {type(source).__name__}"
        raise KindError(msg) from cause
    if weights.ndim < 2 or not weights.is_floating_point():  # noqa: PLR2004 - queries and keys
        msg = (
            f"weights must be floating point numbers [..., n, m], got {weights.dtype} "
            f"{list(weights.shape)}"
        )
        raise ShapeError(msg)
    if weights.layout != torch.strided or weights.is_meta:
        kind = "on the device meta" if weights.is_meta else f"of layout {weights.layout}"
        msg = f"weights must be there one by one, got a tensor {kind}; make it dense first"
        raise KindError(msg)
    if weights.itemsize == 1:  # torch compares none of its numbers of 8 bits
        weights = weights.float()
    layers, heads = weights.shape[:-3], (*weights.shape[-3:-2], 1)[0]
    flat = weights.reshape(layers.numel() * heads, *weights.shape[-2:])
    return [
        DenseHead(w, str(number // heads) if layers else "", number % heads)
        for number, w in enumerate(flat)
    ]


def _captured(call: Captured, entry: int) -> list[Head]:
    batch = list(call.q.shape[:-2])
    heads = batch.pop() if len(batch) > 1 else 1  # [b, n, d] is a layer of one head
    entries = torch.Size(batch).numel()
    if isinstance(entry, bool) or not isinstance(entry, int) or not 0 <= entry < entries:
        msg = f"entry must be one of the {entries} entries of the batch, from 0 on, got {entry!r}"
        raise ValueRangeError(msg)
    shared = _Shared(call)
    numbers = range(heads) if call.heads is None else call.heads
    return [
        CapturedHead(call, number, entry * heads + here, shared)
        for here, number in enumerate(numbers)
    ]

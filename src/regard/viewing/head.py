"""What a head is to whoever shows it: its weights in tiles, lines and numbers, at any length."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from jaxtyping import Float
from torch import Tensor

from regard.attention.inspect import Top
from regard.attention.pooling import Reduce
from regard.viewing.survey import Survey

__all__ = ["Head", "Shape", "Tile"]

Shape = Literal["self", "cross", "causal"]


class Tile(NamedTuple):
    """A part of a picture, and how much of it was read.

    ``every`` is 1 where every query was read. s: only every s-th was, from the middle of the first
    s on, because a budget was given; the values are then those of a sample.
    """

    values: Float[Tensor, "r c"]  # float32, on the CPU
    every: int


class Head(Protocol):
    """One head of one call of attention, for one entry of the batch.

    A ``budget`` is how much may be worked out: queries x keys x ``work``. Where a picture needs
    more, queries are left out, evenly, but every cell keeps one that is read: that much, cells x
    keys x ``work``, is worked out whatever the budget. Memory is O(n + m).
    """

    @property
    def layer(self) -> str:
        """Name of the module, "" if unknown."""

    @property
    def number(self) -> int:
        """Of the head in its layer."""

    @property
    def n(self) -> int:
        """How many queries."""

    @property
    def m(self) -> int:
        """How many keys."""

    @property
    def work(self) -> int:
        """About what one weight takes to work out, counted in products of two numbers."""

    @property
    def shape(self) -> Shape:
        """Causal: no query sees a later key. Self: as many queries as keys. Else cross."""

    def tile(
        self,
        rows: slice,
        cols: slice,
        cells: int = 256,
        reduce: Reduce = "mass",
        budget: int | None = None,
    ) -> Tile:
        """Some queries on some keys in at most cells x cells, pooled as ``regard.overview`` does.

        What has no more than ``cells`` rows (columns) is not pooled that way, and a tile that is
        pooled neither way holds the weights themselves, those of ``regard.rectangle``.
        """

    def line(
        self, axis: Literal["row", "col"], at: int, cells: int = 1024, budget: int | None = None
    ) -> Tile:
        """One query over all keys [1, c], or one key over all queries [c, 1]; maxima if pooled."""

    def top(self, count: int, rows: slice | None = None) -> Top:
        """The largest weights of each query, largest first, and whose they are."""

    def entropy(self, budget: int | None = None) -> Float[Tensor, " n"]:
        """How spread out each query is, in nats; one left out has that of the nearest read."""

    def received(self, budget: int | None = None) -> Float[Tensor, " m"]:
        """How much each key gets of all queries; of a sample, scaled up to all."""

    def stats(self, budget: int | None = None) -> dict[str, float]:
        """Four numbers of the average query.

        entropy: in nats. distance: how far it looks, in keys. diagonality: how much lies within
        1 key, or 2 % of the keys, of its own place. first: how much falls on the first key. With
        another number of keys than of queries, query i stands at key i (m - 1) / (n - 1); in
        causal attention the last query stands on the last key.
        """

    def survey(self, cells: int | None = None, count: int = 0, budget: int | None = None) -> Survey:
        """All of these in one pass: grids of so many cells, and the largest weights if all is read.

        Everything in it is told of the same queries: where the budget leaves some out, of a sample.
        """

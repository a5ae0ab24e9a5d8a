"""What a page is told of one head, read in as few passes over its weights as can be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.viewing.heads import DenseHead, Head
from regard.viewing.survey import Survey

__all__ = ["Pooled", "Reading", "even", "written_out"]

SMALL = 1 << 22  # weights that are worked out once and held while they are read
AT_ONCE = 1 << 20  # weights written at a time
PROFILE = 1024  # numbers along one side; of more the means
STEPS = 255  # of a byte
ALL = slice(None)

Array = NDArray[Any]
Reduce = Literal["mass", "max"]


class _Numbers(NamedTuple):
    """What does not depend on the side of a grid."""

    stats: dict[str, float]
    entropy: Array
    received: Array
    top: tuple[Array, Array] | None


class Pooled(NamedTuple):
    """A grid in bytes: a value is byte / 255 * one."""

    reduce: Reduce
    cells: NDArray[np.uint8]
    one: float
    every: int


class Reading:
    """One head, and what was read of it so far.

    Args:
        head: whose weights.
        count: how many of the largest weights of each query, if all are read.
        budget: how much may be worked out for a picture; None: all.

    """

    def __init__(self, head: Head, count: int, budget: int | None = None) -> None:
        self.head, self.count, self.budget = head, count, budget
        self._grids: dict[tuple[int, Reduce], Pooled] = {}
        self._numbers: _Numbers | None = None

    def rows(self) -> Iterator[Array]:
        """All the weights, some rows at a time."""
        head = self.head
        step = max(AT_ONCE // max(head.m, 1) // 4, 1) * 4  # pieces of whole words, in every type
        for start in range(0, head.n, step):
            part = slice(start, min(start + step, head.n))
            yield head.tile(part, ALL, max(head.n, head.m)).values.numpy()

    def fits(self, side: int) -> bool:
        """Whether it has no more queries and keys than so many."""
        return max(self.head.n, self.head.m) <= side

    def size(self, side: int, count: int) -> int:
        """About how many bytes a page takes, before they are deflated, with so many keys a row."""
        n, m = self.head.n, self.head.m
        profiles = 2 * (_length(n) + _length(m))
        count = 0 if self.fits(side) or self.budget is not None else min(count, self.count)
        return 2 * min(n, side) * min(m, side) + profiles + 4 * n * count

    def pooled(self, side: int, reduce: Reduce) -> Pooled:
        """The whole picture in at most side x side bytes."""
        if (side, reduce) not in self._grids:
            found = self._read(even(max(self.head.n, self.head.m), side))
            grids: dict[Reduce, Tensor | None] = {"mass": found.mass, "max": found.max}
            for how, values in grids.items():
                assert values is not None  # no page is made of nothing
                self._grids[side, how] = Pooled(how, *_bytes(values), found.every)
        return self._grids[side, reduce]

    def _read(self, cells: int | None) -> Survey:
        count = self.count if self.budget is None and self._numbers is None else 0
        found = self.head.survey(cells, count, self.budget)
        if self._numbers is None:
            top = None if found.top is None else (found.top.weights.numpy(), found.top.keys.numpy())
            self._numbers = _Numbers(
                found.stats, _profile(found.entropy), _profile(found.received), top
            )
        return found

    @property
    def stats(self) -> dict[str, float]:
        """Four numbers, see ``Head.stats``."""
        return self._told.stats

    @property
    def entropy(self) -> Array:
        """Of each query, or the means of neighbours."""
        return self._told.entropy

    @property
    def received(self) -> Array:
        """By each key, or the means of neighbours."""
        return self._told.received

    @property
    def top(self) -> tuple[Array, Array] | None:
        """The largest weights of each query and their keys, [n, count]."""
        return self._told.top

    @property
    def _told(self) -> _Numbers:
        if self._numbers is None:
            self._read(None)
        assert self._numbers is not None
        return self._numbers


def written_out(head: Head) -> Head:
    """The head, its weights worked out once if they are few and read more than once."""
    if head.n * head.m > SMALL or isinstance(head, DenseHead):
        return head
    dense = DenseHead(head.tile(ALL, ALL, max(head.n, head.m, 1)).values, head.layer, head.number)
    dense.shape = head.shape
    return dense


def even(size: int, most: int) -> int:
    """At most so many cells for a run of tokens, each of as many of them.

    Of 300 tokens in 256 cells some would hold two and some one: stripes that nobody looked at.

    >>> even(300, 256), even(512, 128), even(100, 256)
    (150, 128, 100)
    """
    return -(-size // -(-size // most)) if size else 0


def _length(size: int) -> int:
    return size if size <= 2 * PROFILE else PROFILE


def _profile(numbers: Tensor) -> Array:
    """As many numbers as can be shown; pooled they are means, so that they keep their meaning."""
    size = len(numbers)
    if _length(size) == size:
        return numbers.numpy()
    cell = torch.arange(size) * PROFILE // size
    sums = torch.zeros(PROFILE, dtype=torch.float64).index_add_(0, cell, numbers.double())
    return (sums / torch.bincount(cell, minlength=PROFILE)).numpy()


def _bytes(values: Tensor) -> tuple[NDArray[np.uint8], float]:
    """A grid in bytes, and what 255 stands for: what is no number is 0."""
    cells = np.nan_to_num(values.numpy().astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    one = float(cells.max(initial=0.0))
    if one <= 0:
        return np.zeros(cells.shape, np.uint8), 1.0
    return np.rint(cells.clip(0.0) * (STEPS / one)).astype(np.uint8), one

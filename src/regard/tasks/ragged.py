"""Many rows of whole numbers, each of its own length, in one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ragged"]


@dataclass(frozen=True, eq=False)
class Ragged:
    """Row i is ``flat[starts[i]:starts[i + 1]]``; a million rows need little more than that.

    >>> rows = Ragged.of([[5, 6], [], [7]])
    >>> len(rows), rows.lengths.tolist(), rows.take(np.array([2, 0])).lists()
    (3, [2, 0, 1], [[7], [5, 6]])
    """

    flat: NDArray[np.int32]
    starts: NDArray[np.int64]  # one more than there are rows

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Ragged:
        """The rows of a list of lists."""
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        flat = np.fromiter(chain.from_iterable(rows), np.int32, int(lengths.sum()))
        return cls(flat, _starts(lengths))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many numbers each row has."""
        return np.diff(self.starts)

    def lengths_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many numbers these rows have."""
        return self.starts[rows + 1] - self.starts[rows]

    def take(self, rows: NDArray[np.int64]) -> Ragged:
        """Some of the rows, in this order."""
        begins, lengths = self.starts[rows], self.lengths_of(rows)
        starts = _starts(lengths)
        places = np.arange(starts[-1]) + np.repeat(begins - starts[:-1], lengths)
        return Ragged(self.flat[places], starts)

    def lists(self) -> list[list[int]]:
        """The rows as lists."""
        flat: list[int] = self.flat.tolist()
        starts: list[int] = self.starts.tolist()
        return [flat[a:b] for a, b in pairwise(starts)]


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])

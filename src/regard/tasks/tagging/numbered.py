"""Sentences in numbers, each different word spelled once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.tasks.ragged import Ragged
from regard.tasks.tagged import Sentence
from regard.tasks.tagging.words import LONGEST, NONE, Words

__all__ = ["Numbered", "Piece", "Stacked", "pieces"]

SPELLED = LONGEST + 2  # with begin and end
CONTEXT = 4  # a piece shares a quarter of its words with each neighbour


class Piece(NamedTuple):
    """A stretch of a sentence that is read at once, and which part of it is answered for.

    The words before ``kept`` and from ``end_kept`` on are there to be looked at: another piece
    answers for them.
    """

    sentence: int
    start: int
    end: int
    kept: int
    end_kept: int


def pieces(lengths: Sequence[int], longest: int) -> Iterator[Piece]:
    """Each sentence as it is, or if it has more words than ``longest`` in pieces that overlap.

    Every word is answered for by one piece, and has a quarter of ``longest`` around it in it, as
    far as the sentence goes.

    >>> [tuple(piece) for piece in pieces([5, 20], longest=8)]  # doctest: +NORMALIZE_WHITESPACE
    [(0, 0, 5, 0, 5), (1, 0, 8, 0, 6), (1, 4, 12, 6, 10), (1, 8, 16, 10, 14), (1, 12, 20, 14, 20)]
    """
    around = longest // CONTEXT
    for i, length in enumerate(lengths):
        start = kept = 0
        while start + longest < length:
            end = start + longest
            yield Piece(i, start, end, kept, end - around)
            kept = end - around
            start = kept - around
        yield Piece(i, start, length, kept, length)


class Stacked(NamedTuple):
    """Pieces side by side; what is not there is 0, or ``NONE`` where it is a label."""

    words: Tensor  # [b, n]
    spellings: Tensor  # [b, n, c]
    lens: Tensor  # [b]
    labels: Tensor  # [b, n]
    auxiliary: Tensor  # [b, n]


@dataclass(frozen=True, eq=False)
class Numbered:
    """Sentences in numbers.

    Args:
        kinds: for each word of each sentence, which of the different words it is.
        words: the number of each different word, for its own vector.
        spellings: its characters, [different words, 24].
        spelled: how many characters that are.
        labels: of all words, one sentence after the other.
        auxiliary: likewise.

    """

    kinds: Ragged
    words: NDArray[np.int64]
    spellings: NDArray[np.int64]
    spelled: NDArray[np.int64]
    labels: NDArray[np.int64]
    auxiliary: NDArray[np.int64]

    @classmethod
    def of(cls, sentences: Sequence[Sentence], words: Words) -> Numbered:
        """Number the words of these sentences and their labels."""
        kinds: dict[str, int] = {}
        rows = [[kinds.setdefault(x, len(kinds)) for x in s.words] for s in sentences]
        spelled = [words.spelling(x) for x in kinds]
        table = np.zeros((len(kinds), SPELLED), np.int64)
        for row, spelling in zip(table, spelled, strict=True):
            row[: len(spelling)] = spelling
        labels = [words.label(x) for s in sentences for x in s.labels]
        auxiliary = [words.second(x) for s in sentences for x in s.also or s.words[:0]]
        count = sum(map(len, rows))
        return cls(
            Ragged.of(rows),
            np.array([words.word(x) for x in kinds], np.int64),
            table,
            np.array([len(x) for x in spelled], np.int64),
            _filled_up(labels, count),
            _filled_up(auxiliary, count),
        )

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many words each sentence has."""
        return self.kinds.lengths

    def stacked(
        self,
        some: Sequence[Piece],
        *,
        rows: int | None = None,
        width: int | None = None,
        spelled: int | None = None,
    ) -> Stacked:
        """Pieces side by side, in this shape or in the smallest.

        Args:
            some: the pieces.
            rows: how many there should be; the last ones are empty.
            width: words of a row.
            spelled: characters of a word.

        """
        lens = np.zeros(len(some) if rows is None else rows, np.int64)
        lens[: len(some)] = [piece.end - piece.start for piece in some]
        width = int(lens.max(initial=0)) if width is None else width
        kinds = np.full((len(lens), width), -1, np.int64)
        labels = np.full((len(lens), width), NONE, np.int64)
        auxiliary = labels.copy()
        for row, piece in enumerate(some):
            first = int(self.kinds.starts[piece.sentence])
            kinds[row, : lens[row]] = self.kinds.flat[first + piece.start : first + piece.end]
            to = slice(piece.kept - piece.start, piece.end_kept - piece.start)
            of = slice(first + piece.kept, first + piece.end_kept)
            labels[row, to] = self.labels[of]
            auxiliary[row, to] = self.auxiliary[of]
        there = kinds >= 0
        if spelled is None:
            spelled = int(self.spelled[kinds[there]].max(initial=1))
        numbers = np.zeros(kinds.shape, np.int64)
        spellings = np.zeros((*kinds.shape, spelled), np.int64)
        numbers[there] = self.words[kinds[there]]
        spellings[there] = self.spellings[kinds[there], :spelled]
        parts = (numbers, spellings, lens, labels, auxiliary)
        return Stacked(*map(torch.from_numpy, parts))


def _filled_up(labels: list[int], count: int) -> NDArray[np.int64]:
    """As many labels as there are words; without any, none is known."""
    return np.array(labels if len(labels) == count else [NONE] * count, np.int64)

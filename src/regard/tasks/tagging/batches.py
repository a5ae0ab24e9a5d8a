"""Sentences as batches: of like lengths, in an order drawn anew for each epoch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import ValueRangeError
from regard.tasks.batching import sizes_up_to
from regard.tasks.tagging.numbered import SPELLED, Numbered, Piece, pieces
from regard.tasks.tagging.words import PAD, UNKNOWN

__all__ = ["Batch", "Batches", "Epochs"]

EIGHT = 8  # rows come in multiples of it: matrix units like that
ALIKE = 3  # lengths that count as one, so that a sentence meets others in each epoch


@dataclass(frozen=True)
class Batch:
    """Sentences side by side, on the CPU.

    Args:
        parts: words [b, n], spellings [b, n, c], lens [b], labels [b, n], and [b, n] auxiliary
            ones; a row may be empty, to fill up a batch.
        tokens: words with a label.
        all_tokens: those of all processes.

    """

    parts: tuple[Tensor, ...]
    tokens: int
    all_tokens: int


class _Cut(NamedTuple):
    """A batch to be: places among the sorted pieces, in a shape."""

    places: tuple[int, ...]
    rows: int
    width: int | None


class Batches:
    """Every epoch's batches: a pure function of the sentences, the seed and the epoch's number.

    A batch has at most ``tokens`` places, padding included, and at least one row (8 with
    ``fixed_shapes``). A sentence of more than ``max_len`` words is cut into pieces that overlap,
    and each of its words counts once: nothing is left out.

    With ``fixed_shapes`` lengths are rounded up to ``sizes_up_to(max_len)``, and each length has
    one number of rows, so that few shapes occur and CUDA graphs can be used again. What does not
    fill a batch goes to the next longer ones, or is filled up with empty rows.

    Args:
        sentences: in numbers.
        tokens: the most places of a batch.
        seed: of the order, and of which words are taken for unknown.
        max_len: as above.
        fixed_shapes: as above.
        word_dropout: a word that came c times is taken for unknown with the probability
            word_dropout / (c + word_dropout).

    """

    def __init__(
        self,
        sentences: Numbered,
        *,
        tokens: int,
        seed: int,
        max_len: int,
        fixed_shapes: bool = False,
        word_dropout: float = 0.0,
    ) -> None:
        for name, value, least in (
            ("tokens", tokens, 1),
            ("max_len", max_len, 8),
            ("seed", seed, 0),
        ):
            if value < least:
                msg = f"{name} must be at least {least}, got {value}"
                raise ValueRangeError(msg)
        self._sentences, self._tokens, self._seed = sentences, tokens, seed
        self._fixed_shapes = fixed_shapes
        self._pieces = list(pieces(sentences.lengths.tolist(), max_len))
        self.cut = len({piece.sentence for piece in self._pieces if piece.kept})
        lengths = np.array([piece.end - piece.start for piece in self._pieces], np.int64)
        if fixed_shapes:
            sizes = np.array(sizes_up_to(max_len))
            self._sizes = sizes[np.searchsorted(sizes, lengths)]
        else:
            self._sizes = np.minimum(-(-lengths // ALIKE) * ALIKE, max_len)
        in_order = np.sort(self._sizes, kind="stable").tolist()
        self._cuts = list((self._fixed if fixed_shapes else self._free)(in_order))
        self._unknown = self._chances(word_dropout)

    def _chances(self, rate: float) -> NDArray[np.float64]:
        """How likely each number of a word is to be taken for unknown."""
        numbers = self._sentences.words
        often = np.bincount(self._sentences.kinds.flat, minlength=len(numbers))
        counts = np.bincount(numbers, weights=often, minlength=UNKNOWN + 1)
        chances: NDArray[np.float64] = rate / np.maximum(counts + rate, 1e-9)
        chances[[PAD, UNKNOWN]] = 0.0
        return chances

    def _free(self, sizes: list[int]) -> Iterator[_Cut]:
        """As many pieces in each batch as fit, in their order."""
        first = 0
        for place, size in enumerate(sizes):
            if place > first and (place - first + 1) * size > self._tokens:
                yield _Cut(tuple(range(first, place)), place - first, None)
                first = place
        if sizes:
            yield _Cut(tuple(range(first, len(sizes))), len(sizes) - first, None)

    def _fixed(self, sizes: list[int]) -> Iterator[_Cut]:
        """Batches of one number of rows for each length."""
        longer = sorted(set(sizes))
        waiting: list[int] = []
        for k, size in enumerate(longer):
            waiting += [place for place, other in enumerate(sizes) if other == size]
            rows = max(self._tokens // size // EIGHT * EIGHT, EIGHT)
            while len(waiting) >= rows:
                yield _Cut(tuple(waiting[:rows]), rows, size)
                waiting = waiting[rows:]
            after = longer[k + 1] if k + 1 < len(longer) else 0
            if waiting and (not after or len(waiting) * after > rows * size):
                yield _Cut(tuple(waiting), rows, size)
                waiting = []

    def count(self, epoch: int = 0) -> int:
        """How many batches an epoch has: as many as any other."""
        return len(self._cuts)

    def epoch(self, epoch: int, *, skip: int = 0, rank: int = 0, world: int = 1) -> Iterator[Batch]:
        """The batches of an epoch, without the first ``skip``, which cost nothing.

        Of several processes each gets every ``world``-th row of each batch, from ``rank`` on, and
        all get as many: empty ones where rows are missing.
        """
        if skip < 0 or not 0 <= rank < world:
            msg = f"skip must be at least 0 and rank in 0..world-1, got {skip=}, {rank=}, {world=}"
            raise ValueRangeError(msg)
        rng = np.random.default_rng((self._seed, epoch))
        drawn = rng.permutation(len(self._pieces))
        order = drawn[np.argsort(self._sizes[drawn], kind="stable")]
        for i in rng.permutation(len(self._cuts))[skip:].tolist():
            cut = self._cuts[i]
            some = [self._pieces[order[place]] for place in cut.places]
            yield self._batch(cut, some, (self._seed, epoch, i), rank, world)

    def _batch(
        self, cut: _Cut, some: list[Piece], seed: tuple[int, ...], rank: int, world: int
    ) -> Batch:
        fixed = {"spelled": SPELLED} if self._fixed_shapes else {}
        rows = -(-cut.rows // world) * world
        whole = self._sentences.stacked(some, rows=rows, width=cut.width, **fixed)
        chances = torch.from_numpy(self._unknown)
        lot = torch.from_numpy(np.random.default_rng((*seed, 1)).random(whole.words.shape))
        words = whole.words.masked_fill(lot < chances[whole.words], UNKNOWN)
        known = whole.labels >= 0
        mine = tuple(x[rank::world].contiguous() for x in whole._replace(words=words))
        return Batch(mine, int(known[rank::world].sum()), int(known.sum()))


class Epochs:
    """Gives the same batches for each epoch, which draw their order themselves."""

    def __init__(self, batches: Batches, max_len: int) -> None:
        self._batches, self._max_len = batches, max_len

    @property
    def notes(self) -> tuple[str, ...]:
        """That sentences were cut, if any were."""
        count = self._batches.cut
        if not count:
            return ()
        are = "1 sentence of more than" if count == 1 else f"{count:,} sentences of more than"
        return (f"{are} {self._max_len} words: cut into pieces that overlap, nothing left out",)

    def batches(self, epoch: int) -> Batches:
        return self._batches

    def __enter__(self) -> Epochs:  # noqa: PYI034 - Self came with Python 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

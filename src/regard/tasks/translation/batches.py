"""Pairs of sentences as batches: of like lengths, in an order drawn anew for each epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import ShapeError, ValueRangeError
from regard.tasks.batching import dealt, sizes_up_to
from regard.tasks.ragged import Ragged
from regard.tasks.vocabulary import BOS, EOS, PAD

__all__ = ["Batch", "Batches"]

EIGHT = 8  # rows come in multiples of it: matrix units like that


@dataclass(frozen=True, eq=False)
class Batch:
    """Sentences side by side, on the CPU; what is not there is PAD.

    A row may be empty, to fill up a batch: its source is one PAD, its ``target_out`` all PAD.
    """

    source: Tensor  # [b, m] int64
    source_lens: Tensor  # [b] int64
    target_in: Tensor  # [b, n] BOS, then the tokens
    target_out: Tensor  # [b, n] the tokens, then EOS
    tokens: int  # of target_out, without PAD
    all_tokens: int  # the same, of the rows of all ranks

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """What the loss is computed of."""
        return self.source, self.source_lens, self.target_in, self.target_out


class _Cut(NamedTuple):
    """A batch to be: pieces of the sorted pairs, in a shape."""

    parts: tuple[slice, ...]
    rows: int
    source: int
    target: int


class _Bucket(NamedTuple):
    """Pairs of one shape, and where they stand among the sorted ones."""

    source: int
    target: int
    start: int
    end: int

    @property
    def longer(self) -> int:
        return max(self.source, self.target)

    @property
    def places(self) -> int:
        return self.source + self.target


class Batches:
    """Everything an epoch needs: a pure function of the pairs, the seed and the epoch's number.

    Lengths are rounded up to ``sizes_up_to(max_len)``. A batch has at most ``tokens`` places on
    its longer side, source or target, and at least one row (8 with ``fixed_shapes``).

    With ``fixed_shapes`` each shape has one number of rows, so that few shapes occur and CUDA
    graphs can be used again. What is left over of a shape goes to the next larger one, or is
    filled up with empty rows when little is missing.

    Args:
        sources: ids of each source, without begin or end.
        targets: ids of each target, likewise.
        tokens: the most places of a batch.
        seed: of the order.
        fixed_shapes: as above.
        max_len: pairs with a source longer than this, or a target with its end, are left out;
            ``too_long`` says how many.

    """

    def __init__(
        self,
        sources: Sequence[Sequence[int]] | Ragged,
        targets: Sequence[Sequence[int]] | Ragged,
        *,
        tokens: int,
        seed: int,
        fixed_shapes: bool,
        max_len: int,
    ) -> None:
        if len(sources) != len(targets):
            msg = f"sources and targets must be as many, got {len(sources):,} and {len(targets):,}"
            raise ShapeError(msg)
        for name, value, least in (
            ("tokens", tokens, 1),
            ("max_len", max_len, 2),
            ("seed", seed, 0),
        ):
            if value < least:
                msg = f"{name} must be at least {least}, got {value}"
                raise ValueRangeError(msg)
        self._source, self._target = (
            x if isinstance(x, Ragged) else Ragged.of(x) for x in (sources, targets)
        )
        m, n = self._source.lengths, self._target.lengths + 1
        self._pairs = np.flatnonzero((m <= max_len) & (n <= max_len))
        self.too_long = len(m) - len(self._pairs)
        self.tokens, self.seed, self.fixed_shapes = tokens, seed, fixed_shapes
        sizes = np.array(sizes_up_to(max_len))
        across, down = (np.searchsorted(sizes, x[self._pairs]) for x in (m, n))
        if not fixed_shapes:  # like sizes are neighbours where one row ends and the next begins
            across = np.where(down % 2, len(sizes) - 1 - across, across)
        self._bucket = (down * len(sizes) + across).astype(np.int16)
        found, starts, counts = np.unique(
            np.sort(self._bucket), return_index=True, return_counts=True
        )
        down, across = np.divmod(found, len(sizes))
        if not fixed_shapes:
            across = np.where(down % 2, len(sizes) - 1 - across, across)
        columns = sizes[across], sizes[down], starts, starts + counts
        buckets = [_Bucket(*map(int, row)) for row in zip(*columns, strict=True)]
        self._cuts = list((self._fixed if fixed_shapes else self._free)(buckets))

    def _free(self, buckets: list[_Bucket]) -> Iterator[_Cut]:
        """As many pairs in each batch as fit, in their order."""
        first = place = m = n = 0
        for bucket in buckets:
            while place < bucket.end:
                wide, high = max(m, bucket.source), max(n, bucket.target)
                room = max(self.tokens // max(wide, high), 1) - (place - first)
                if room > 0:
                    place, m, n = min(place + room, bucket.end), wide, high
                else:
                    yield _Cut((slice(first, place),), place - first, m, n)
                    first, m, n = place, 0, 0
        if place > first:
            yield _Cut((slice(first, place),), place - first, m, n)

    def _fixed(self, buckets: list[_Bucket]) -> Iterator[_Cut]:
        """Batches of one number of rows for each shape.

        What does not fill one goes to the next larger bucket, if that costs less than empty rows.
        """
        waiting: list[list[slice]] = [[slice(b.start, b.end)] for b in buckets]
        for k, bucket in enumerate(buckets):
            rows = max(self.tokens // bucket.longer // EIGHT * EIGHT, EIGHT)
            parts = waiting[k][::-1]  # those that came from smaller buckets first
            while parts:
                taken, parts = dealt(parts, rows)
                count = sum(part.stop - part.start for part in taken)
                larger = [
                    i
                    for i, other in enumerate(buckets[k + 1 :], start=k + 1)
                    if other.source >= bucket.source and other.target >= bucket.target
                ]
                if count < rows and larger:
                    to = min(larger, key=lambda i: (buckets[i].longer, buckets[i].places))
                    if count * buckets[to].places < rows * bucket.places:
                        waiting[to] += taken
                        break
                yield _Cut(tuple(taken), rows, bucket.source, bucket.target)

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
        rng = np.random.default_rng((self.seed, epoch))
        drawn = rng.permutation(len(self._pairs))
        order = self._pairs[drawn[np.argsort(self._bucket[drawn], kind="stable")]]
        for i in rng.permutation(len(self._cuts))[skip:]:
            cut = self._cuts[i]
            pairs = np.concatenate([order[part] for part in cut.parts])
            yield self._batch(cut, pairs, rank, world)

    def _batch(self, cut: _Cut, pairs: NDArray[np.int64], rank: int, world: int) -> Batch:
        total = int(self._target.lengths_of(pairs).sum()) + len(pairs)
        mine = pairs[rank::world]
        rows = -(-cut.rows // world)
        lens, source = _padded(self._source, mine, rows, cut.source)
        ends, target = _padded(self._target, mine, rows, cut.target)
        shifted = np.empty_like(target)
        shifted[:, 0] = BOS
        shifted[:, 1:] = target[:, :-1]
        real = np.arange(len(mine))
        target[real, ends[: len(mine)]] = EOS
        tokens = int(ends.sum()) + len(mine)
        return Batch(
            torch.from_numpy(source),
            torch.from_numpy(np.maximum(lens, 1)),  # attention wants something to look at
            torch.from_numpy(shifted),
            torch.from_numpy(target),
            tokens,
            total,
        )


def _padded(
    ragged: Ragged, which: NDArray[np.int64], rows: int, width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lengths and values of some rows, [rows, width], with PAD behind them and empty rows below."""
    out = np.full((rows, width), PAD, np.int64)
    lens = np.zeros(rows, np.int64)
    lens[: len(which)] = ragged.lengths_of(which)
    there = np.arange(width) < lens[:, None]
    out[there] = ragged.take(which).flat  # both in the order of rows
    return lens, out

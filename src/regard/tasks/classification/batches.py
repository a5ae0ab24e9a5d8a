"""Examples as batches: of like lengths, in an order drawn anew for each epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.errors import ValueRangeError
from regard.tasks.batching import dealt, sizes_up_to
from regard.tasks.classification.augmentation import Augmentation, drawn
from regard.tasks.classification.forms import Form, Numbers, all_given, stacked
from regard.tasks.classification.ready import NONE, Ready

__all__ = ["Batch", "Batches"]

EIGHT = 8  # rows come in multiples of it: matrix units like that


@dataclass(frozen=True)
class Batch:
    """Examples side by side, on the CPU.

    Args:
        parts: x [b, n] or [b, n, size], lens [b], places [b, n, 2] if they are patches, and the
            labels [b], ``NONE`` for an empty row.
        tokens: examples.
        all_tokens: those of all processes.

    """

    parts: tuple[Tensor, ...]
    tokens: int
    all_tokens: int


class _Cut(NamedTuple):
    """A batch to be: pieces of the sorted examples, in a shape."""

    parts: tuple[slice, ...]
    rows: int
    length: int


class Batches:
    """One epoch's batches: a pure function of the examples, the seed and the epoch's number.

    A batch has at most ``places`` places, padding included, but at least one example, however
    long it is: nothing is cut off or left out.

    With ``fixed_shapes`` lengths are rounded up to ``sizes_up_to`` and each length has one number
    of rows, so that few shapes occur and CUDA graphs can be used again. What does not fill a
    batch goes to the next longer one, or is filled up with empty rows when little is missing.

    Args:
        examples: what an epoch sees.
        form: how they become what the network takes.
        places: of a batch.
        seed: of the order, and of what is changed.
        epoch: its number.
        fixed_shapes: as above.
        augmentation: what changes them; None: nothing.

    """

    def __init__(
        self,
        examples: Sequence[Ready],
        form: Form,
        *,
        places: int,
        seed: int,
        epoch: int,
        fixed_shapes: bool,
        augmentation: Augmentation | None = None,
    ) -> None:
        if places < 1 or seed < 0:
            msg = f"places must be at least 1 and seed at least 0, got {places} and {seed}"
            raise ValueRangeError(msg)
        self._examples, self._form, self._augmentation = examples, form, augmentation
        self._seed, self._epoch, self._places = seed, epoch, places
        count = len(examples)
        self._draws = None if augmentation is None else drawn(augmentation, seed, epoch, count)
        lengths = np.fromiter((form.length(self._shape(i)) for i in range(count)), np.int64, count)
        sizes = np.array(sizes_up_to(int(lengths.max(initial=1))))
        rng = np.random.default_rng((seed, epoch))
        rough = np.searchsorted(sizes, lengths)  # of like lengths any may be neighbours
        order = rng.permutation(count)
        self._order = order[np.argsort(rough[order], kind="stable")]
        self._lengths = lengths[self._order]
        if fixed_shapes:
            found, starts = np.unique(rough[self._order], return_index=True)
            ends = [*starts[1:].tolist(), count]
            parts = [slice(a, b) for a, b in zip(starts.tolist(), ends, strict=True)]
            self._cuts = list(_fixed(sizes[found].tolist(), parts, places))
        else:
            self._cuts = list(self._free(sizes[rough[self._order]].tolist()))
        self._turns = rng.permutation(len(self._cuts))

    def _shape(self, i: int) -> tuple[int, ...]:
        shape = self._examples[i].shape
        if self._augmentation is None or self._draws is None:
            return shape
        return self._augmentation.shape(shape, self._draws[i])

    def _free(self, sizes: list[int]) -> Iterator[_Cut]:
        """As many examples in each batch as fit, in their order."""
        first = 0
        for i in range(1, len(sizes) + 1):
            if i == len(sizes) or (i - first + 1) * sizes[i] > self._places:
                yield _Cut((slice(first, i),), i - first, int(self._lengths[first:i].max()))
                first = i

    def count(self, epoch: int = 0) -> int:
        """How many batches it has."""
        return len(self._cuts)

    def epoch(self, epoch: int, *, skip: int = 0, rank: int = 0, world: int = 1) -> Iterator[Batch]:
        """The batches, without the first ``skip``, which cost nothing.

        Of several processes each gets every ``world``-th row of each batch, from ``rank`` on, and
        all get as many: empty ones where rows are missing. A thread makes the next batch while
        one is learned from.
        """
        if skip < 0 or not 0 <= rank < world or epoch != self._epoch:
            msg = (
                f"skip must be at least 0, rank in 0..world-1 and epoch {self._epoch}, got "
                f"{skip=}, {rank=}, {world=}, {epoch=}"
            )
            raise ValueRangeError(msg)
        turns = self._turns[skip:].tolist()
        if not turns:
            return
        with ThreadPoolExecutor(1, "regard-batches") as ahead:
            coming = ahead.submit(self._batch, self._cuts[turns[0]], rank, world)
            for i in turns[1:]:
                now, coming = coming, ahead.submit(self._batch, self._cuts[i], rank, world)
                yield now.result()
            yield coming.result()

    def _batch(self, cut: _Cut, rank: int, world: int) -> Batch:
        which = np.concatenate([self._order[part] for part in cut.parts])
        mine = which[rank::world].tolist()
        rows = -(-cut.rows // world)
        given = all_given(self._form, [self._numbers(i) for i in mine])
        parts = stacked(given, self._form, rows, cut.length)
        labels = torch.full((rows,), NONE)
        labels[: len(mine)] = torch.tensor([self._examples[i].label for i in mine])
        return Batch((*parts, labels), len(mine), len(which))

    def _numbers(self, i: int) -> Numbers:
        numbers = self._examples[i].load()
        if self._augmentation is not None and self._draws is not None:
            numbers = self._augmentation.changed(numbers, self._draws[i])
        return numbers


def _fixed(sizes: list[int], parts: list[slice], places: int) -> Iterator[_Cut]:
    """Batches of one number of rows for each length."""
    waiting: list[slice] = []  # what came from shorter lengths
    for k, (size, part) in enumerate(zip(sizes, parts, strict=True)):
        rows = max(places // size // EIGHT * EIGHT or places // size, 1)
        waiting.append(part)
        while waiting:
            taken, waiting = dealt(waiting, rows)
            count = sum(x.stop - x.start for x in taken)
            longer = k + 1 < len(sizes) and count * sizes[k + 1] < rows * size
            if count < rows and longer:
                waiting = taken
                break
            yield _Cut(tuple(taken), rows, size)

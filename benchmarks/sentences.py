"""Random sentences to train translators on, in batches of few shapes."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from regard.tasks.ragged import Ragged
from regard.tasks.translation.batches import Batch, Batches
from regard.tasks.vocabulary import UNK

__all__ = ["SHAPES", "sentences", "shape_of"]

SHAPES = 8  # the most that occur: each is compiled for, or recorded
LONGEST = 100


def sentences(tokens: int, steps: int, vocab: int) -> list[Batch]:
    """Batches of random tokens, frequent and rare ones, with lengths like those of sentences.

    Of an epoch that is longer, the first ones of the commonest shapes.
    """
    drawn = np.random.default_rng(0)
    count = max(4 * steps * tokens // 10, 100)
    alike = drawn.standard_normal(count)  # long sentences have long translations
    other = 0.95 * alike + math.sqrt(1 - 0.95**2) * drawn.standard_normal(count)

    def side(z: NDArray[np.float64]) -> Ragged:
        lengths = np.rint(10 * np.exp(0.6 * z)).clip(1, LONGEST).astype(np.int64)
        first = UNK + 1  # the k-th token about as often as 1 / k
        ids = first + (vocab - first) ** drawn.random(int(lengths.sum())) - 1
        return Ragged(ids.astype(np.int32), np.concatenate(([0], lengths.cumsum())))

    all_of = Batches(
        side(alike), side(other), tokens=tokens, seed=0, fixed_shapes=True, max_len=LONGEST + 1
    )
    epoch = list(all_of.epoch(0))
    common = {shape for shape, _ in Counter(map(shape_of, epoch)).most_common(SHAPES)}
    return [batch for batch in epoch if shape_of(batch) in common][:steps]


def shape_of(batch: Batch) -> tuple[int, ...]:
    """Rows, source and target places."""
    return (*batch.source.shape, batch.target_in.shape[1])

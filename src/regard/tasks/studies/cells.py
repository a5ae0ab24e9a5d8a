"""The trainings of a study, and how much data each is given."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from regard.errors import ValueRangeError

__all__ = ["Cell", "cells", "some_of", "usual_sizes"]

T = TypeVar("T")
FEWEST = 50  # examples in the smallest part that is tried if nobody says


class Cell(NamedTuple):
    """One training: an encoder, so many examples, a seed."""

    encoder: str
    size: int
    seed: int

    @property
    def name(self) -> str:
        """Of its folder.

        >>> Cell("cnn", 800, 1).name
        'cnn-800-1'
        """
        return f"{self.encoder}-{self.size}-{self.seed}"


def cells(encoders: Sequence[str], sizes: Sequence[int], seeds: int) -> list[Cell]:
    """All combinations, the quick ones first; a study that is cut short has whole sizes.

    >>> [cell.name for cell in cells(["cnn", "rnn"], [100, 10], 1)]
    ['cnn-10-1', 'rnn-10-1', 'cnn-100-1', 'rnn-100-1']
    """
    every = itertools.product(sorted(set(sizes)), range(1, seeds + 1), dict.fromkeys(encoders))
    return [Cell(encoder, size, seed) for size, seed, encoder in every]


def usual_sizes(count: int) -> tuple[int, ...]:
    """All of the data, a quarter of it, a quarter of that, as long as it is more than a few.

    >>> usual_sizes(12544)
    (196, 784, 3136, 12544)
    """
    found = [count]
    while len(found) < 4 and found[-1] // 4 >= FEWEST:  # noqa: PLR2004 - points of a curve
        found.append(found[-1] // 4)
    return tuple(reversed(found))


def some_of(examples: Sequence[T], count: int, seed: int) -> tuple[T, ...]:
    """So many of the examples, drawn by lot; a larger part with the same seed holds a smaller one.

    Examples with a ``label`` are drawn in turns, so that a small part has all labels alike.

    >>> some_of("abcdef", 2, seed=1) == some_of("abcdef", 4, seed=1)[:2]
    True

    Raises:
        ValueRangeError: there are not so many.

    """
    if not 1 <= count <= len(examples):
        msg = (
            f"sizes must be from 1 to the {len(examples):,} there are to learn from, got {count:,}"
        )
        raise ValueRangeError(msg)
    order = list(examples)
    random.Random(f"part {seed}").shuffle(order)  # noqa: S311 - no secret
    seen: Counter[Any] = Counter()
    turns = []
    for example in order:
        label = getattr(example, "label", None)
        turns.append(seen[label] if label is not None else 0)
        seen[label] += 1
    return tuple(order[i] for i in sorted(range(len(order)), key=turns.__getitem__)[:count])

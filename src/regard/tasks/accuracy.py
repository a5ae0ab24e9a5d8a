"""How often labels are right: shares with their uncertainty, each label's own, what is mistaken."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["LabelScore", "interval", "label_scores", "mistaken", "share", "table"]

SURE = 1.959964  # standard deviations on either side that hold 95 of 100


@dataclass(frozen=True)
class LabelScore:
    """One label, in per cent: how many that have it were found, and how many found have it.

    A share of nothing is NaN.
    """

    label: str
    count: int
    recall: float
    precision: float

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        both = self.recall + self.precision
        return 2 * self.recall * self.precision / both if both else 0.0


def share(part: int, whole: int) -> float:
    """In per cent; NaN of nothing."""
    return 100 * part / whole if whole else math.nan


def interval(right: int, count: int) -> tuple[float, float]:
    """Between which per cents the true share lies, in 95 of 100 such counts (Wilson 1927).

    >>> [round(x, 1) for x in interval(299, 300)]
    [98.1, 99.9]
    """
    p, spread = right / count, SURE**2 / count
    middle = (p + spread / 2) / (1 + spread)
    wide = math.sqrt(p * (1 - p) * spread + spread**2 / 4) / (1 + spread)
    return 100 * max(middle - wide, 0.0), 100 * min(middle + wide, 1.0)


def label_scores(pairs: Sequence[tuple[str, str]]) -> dict[str, LabelScore]:
    """Each label that is there or was found, of pairs of both.

    >>> label_scores([("a", "a"), ("a", "b")])["b"]
    LabelScore(label='b', count=0, recall=nan, precision=0.0)
    """
    are = Counter(label for label, _ in pairs)
    found = Counter(label for _, label in pairs)
    right = Counter(label for label, other in pairs if label == other)
    return {
        label: LabelScore(
            label,
            are[label],
            share(right[label], are[label]),
            share(right[label], found[label]),
        )
        for label in are | found
    }


def mistaken(pairs: Iterable[tuple[str, str]], count: int) -> list[tuple[str, str, int]]:
    """What was most often taken for what: label, found, how often.

    >>> mistaken([("a", "b"), ("a", "b"), ("b", "a"), ("a", "a")], 1)
    [('a', 'b', 2)]
    """
    wrong = Counter(pair for pair in pairs if pair[0] != pair[1])
    order = sorted(wrong.items(), key=lambda item: (-item[1], item[0]))
    return [(label, found, often) for (label, found), often in order[:count]]


def table(rows: Iterable[Sequence[str]]) -> str:
    """Rows with tabs between the columns and none inside them."""
    return "".join("\t".join(" ".join(cell.split()) for cell in row) + "\n" for row in rows)

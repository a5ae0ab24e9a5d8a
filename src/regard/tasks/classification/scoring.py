"""How good a classifier is: accuracy, each label's own, and what is taken for what."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regard.errors import ValueRangeError
from regard.tasks.accuracy import LabelScore, interval, label_scores, mistaken, table
from regard.tasks.classification.classifier import BLOCK, Classifier
from regard.tasks.classification.examples import Example
from regard.version import __version__

__all__ = ["ExampleScore", "LabelScore", "Scores", "score"]

COLUMNS = ("name", "label", "found", "probability", "probability_of_label")


@dataclass(frozen=True)
class ExampleScore:
    """One example: what it is, what was found, and how likely both are to the model."""

    name: str
    label: str
    found: str
    probability: float  # of what was found
    of_label: float  # of what it is; 0 if it was never seen in training

    @property
    def right(self) -> bool:
        """Whether what was found is what it is."""
        return self.label == self.found


@dataclass(frozen=True)
class Scores:
    """All examples of a set, judged.

    Attributes:
        labels: those of the model, then those of the examples it never saw.
        examples: in the order of the set.
        seconds: that classifying took.
        signature: by which weights.

    """

    labels: tuple[str, ...]
    examples: tuple[ExampleScore, ...]
    seconds: float
    signature: str

    @cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        return [(x.label, x.found) for x in self.examples]

    @property
    def accuracy(self) -> float:
        """Per cent of the examples whose label was found."""
        return 100 * sum(x.right for x in self.examples) / len(self.examples)

    @property
    def interval(self) -> tuple[float, float]:
        """Between which accuracies the true one lies, in 95 of 100 such sets (Wilson 1927)."""
        return interval(sum(x.right for x in self.examples), len(self.examples))

    @property
    def loss(self) -> float:
        """The mean of -log P(label), over the examples of known labels; NaN if there are none."""
        known = [-math.log(max(x.of_label, 1e-12)) for x in self.examples if x.of_label > 0]
        return sum(known) / len(known) if known else math.nan

    @cached_property
    def confusion(self) -> NDArray[np.int64]:
        """[labels, labels]: how many examples of a row's label were found to be a column's."""
        number = {label: i for i, label in enumerate(self.labels)}
        counts = np.zeros((len(number), len(number)), np.int64)
        np.add.at(
            counts,
            ([number[x.label] for x in self.examples], [number[x.found] for x in self.examples]),
            1,
        )
        return counts

    def by_label(self) -> list[LabelScore]:
        """Each label that the examples have, or that was found."""
        scores = label_scores(self._pairs)
        return [scores[label] for label in self.labels if label in scores]

    def mistakes(self, count: int) -> list[tuple[str, str, int]]:
        """What was most often taken for what: label, found, how often."""
        return mistaken(self._pairs, count)

    def worst(self, count: int) -> list[ExampleScore]:
        """The mistakes the model was surest of, the surest first."""
        wrong = [x for x in self.examples if not x.right]
        return sorted(wrong, key=lambda x: (x.of_label - x.probability, x.name))[:count]

    def to_tsv(self) -> str:
        """A row an example, with tabs between the columns and none inside them."""
        rows = [COLUMNS]
        rows += [
            (x.name, x.label, x.found, f"{x.probability:.4f}", f"{x.of_label:.4f}")
            for x in self.examples
        ]
        return table(rows)


def score(
    classifier: Classifier,
    examples: Sequence[Example],
    *,
    tell: Callable[[float], None] | None = None,
) -> Scores:
    """Classify the examples and compare with their labels.

    A label the model never saw counts as wrong.

    Args:
        classifier: who classifies.
        examples: from ``regard.tasks.classification.examples.read_examples`` with the settings
            and the kind of the classifier.
        tell: called now and then with the part that is done, from 0 to 1.

    Raises:
        ValueRangeError: there are no examples.

    """
    if not examples:
        msg = "a score needs examples, got none"
        raise ValueRangeError(msg)
    start = time.perf_counter()
    number = {label: i for i, label in enumerate(classifier.labels)}
    found: list[ExampleScore] = []
    for first in range(0, len(examples), BLOCK):
        block = examples[first : first + BLOCK]
        likely = classifier.probabilities([example.load() for example in block])
        for example, row in zip(block, likely.tolist(), strict=True):
            best = max(range(len(row)), key=row.__getitem__)
            of_label = row[number[example.label]] if example.label in number else 0.0
            found.append(
                ExampleScore(
                    example.name, example.label, classifier.labels[best], row[best], of_label
                )
            )
        if tell is not None:
            tell(len(found) / len(examples))
    strange = sorted({example.label for example in examples} - set(number))
    return Scores(
        labels=(*classifier.labels, *strange),
        examples=tuple(found),
        seconds=time.perf_counter() - start,
        signature=f"accuracy|regard:{__version__}|weights:{classifier.sha256}",
    )

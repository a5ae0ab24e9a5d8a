"""How good a model is on sentences it never learned from, while it is trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy

from regard.models.tagger import Tagger
from regard.tasks.engine.stepping import precision_of
from regard.tasks.engine.task import Judged
from regard.tasks.tagged import Sentence
from regard.tasks.tagging.batches import Batches
from regard.tasks.tagging.numbered import Numbered
from regard.tasks.tagging.settings import TaggingSettings
from regard.tasks.tagging.words import NONE, UNKNOWN, Words

__all__ = ["Counts", "Validation"]

TOGETHER = 4096  # words read at once


@dataclass
class Counts:
    """How many words were labelled, and how many of them rightly.

    ``known`` are the words that have a vector of their own. ``loss`` is the sum of -log P(label)
    over the ``judged`` words whose label the model knows.
    """

    known: int = 0
    known_right: int = 0
    unknown: int = 0
    unknown_right: int = 0
    judged: int = 0
    loss: float = 0.0

    @property
    def accuracy(self) -> float:
        """Per cent of all words."""
        right, count = self.known_right + self.unknown_right, self.known + self.unknown
        return 100 * right / max(count, 1)


class Validation:
    """Labels sentences, and compares with their labels.

    A label that was never seen in training counts as wrong, and is left out of the loss.
    """

    def __init__(
        self, sentences: Sequence[Sentence], words: Words, settings: TaggingSettings
    ) -> None:
        self._settings = settings
        numbered = Numbered.of(sentences, words)
        self._batches = Batches(numbered, tokens=TOGETHER, seed=0, max_len=settings.max_len)

    def __call__(
        self,
        model: Tagger,
        device: torch.device,
        asked: Callable[[], bool] = lambda: False,
    ) -> Judged | None:
        """Judge a model; None if ``asked`` said in between that there is no time for it."""
        counts = self.counts(model, device, asked)
        if counts is None:
            return None
        return Judged(counts.accuracy, counts.loss / max(counts.judged, 1))

    def counts(
        self,
        model: Tagger,
        device: torch.device,
        asked: Callable[[], bool] = lambda: False,
    ) -> Counts | None:
        """The same in numbers of words, with known and unknown ones apart."""
        was = model.training
        model.eval()
        found = Counts()
        try:
            half = precision_of(self._settings, device) is torch.bfloat16
            with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=half):
                for batch in self._batches.epoch(0):
                    if asked():
                        return None
                    words, spellings, lens, labels, _ = (x.to(device) for x in batch.parts)
                    scores = model(words, spellings, lens).float()
                    right, there = scores.argmax(-1) == labels, labels != NONE
                    new = there & (words == UNKNOWN)
                    found.known += int((there & ~new).sum())
                    found.known_right += int((right & there & ~new).sum())
                    found.unknown += int(new.sum())
                    found.unknown_right += int((right & new).sum())
                    judged = labels >= 0
                    found.judged += int(judged.sum())
                    found.loss += float(
                        cross_entropy(scores[judged], labels[judged], reduction="sum")
                    )
        finally:
            model.train(was)
        return found

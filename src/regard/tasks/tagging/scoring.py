"""How good a tagger is: accuracy over all words, over each label, over known and unknown words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from regard.errors import ValueRangeError
from regard.tasks.accuracy import LabelScore, interval, label_scores, mistaken, share, table
from regard.tasks.tagged import Sentence
from regard.tasks.tagging.tagger import Tagger
from regard.tasks.tagging.words import UNKNOWN
from regard.version import __version__

__all__ = ["LabelScore", "Part", "Scores", "WordScore", "score"]

COLUMNS = ("line", "word", "label", "found", "probability", "known")


@dataclass(frozen=True)
class WordScore:
    """One word: where its sentence begins, what it is, what was found, and how likely that was."""

    line: int
    word: str
    label: str
    found: str
    probability: float
    known: bool  # whether it has a vector of its own, from the training

    @property
    def right(self) -> bool:
        """Whether what was found is what it is."""
        return self.label == self.found


@dataclass(frozen=True)
class Part:
    """Some of the words: how many, and how many of them have the right label."""

    count: int
    right: int

    @property
    def accuracy(self) -> float:
        """In per cent; NaN of no words."""
        return share(self.right, self.count)


@dataclass(frozen=True)
class Scores:
    """All words of a file, judged.

    Attributes:
        words: in the order of the file.
        sentences: how many there were.
        whole: in how many of them every label is right.
        seconds: that tagging took.
        signature: which labels, by which weights.

    """

    words: tuple[WordScore, ...]
    sentences: int
    whole: int
    seconds: float
    signature: str

    @cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        return [(word.label, word.found) for word in self.words]

    @cached_property
    def all(self) -> Part:
        """All words."""
        return _part(self.words)

    @cached_property
    def known(self) -> Part:
        """The words that have a vector of their own."""
        return _part(word for word in self.words if word.known)

    @cached_property
    def unknown(self) -> Part:
        """Those that are known by their spelling only."""
        return _part(word for word in self.words if not word.known)

    @property
    def accuracy(self) -> float:
        """Per cent of the words whose label was found."""
        return self.all.accuracy

    @property
    def interval(self) -> tuple[float, float]:
        """Between which accuracies the true one lies, in 95 of 100 such files (Wilson 1927)."""
        return interval(self.all.right, self.all.count)

    def by_label(self) -> list[LabelScore]:
        """Each label that the words have, or that was found; the commonest first."""
        scores = label_scores(self._pairs).values()
        return sorted(scores, key=lambda x: (-x.count, x.label))

    def mistakes(self, count: int) -> list[tuple[str, str, int]]:
        """What was most often taken for what: label, found, how often."""
        return mistaken(self._pairs, count)

    def worst(self, count: int) -> list[WordScore]:
        """The mistakes the model was surest of, the surest first."""
        wrong = [word for word in self.words if not word.right]
        return sorted(wrong, key=lambda word: (-word.probability, word.line, word.word))[:count]

    def to_tsv(self) -> str:
        """A row a word, with tabs between the columns and none inside them."""
        rows = [COLUMNS]
        rows += [
            (
                str(x.line),
                x.word,
                x.label,
                x.found,
                f"{x.probability:.4f}",
                "yes" if x.known else "no",
            )
            for x in self.words
        ]
        return table(rows)


def _part(words: Iterable[WordScore]) -> Part:
    some = [word.right for word in words]
    return Part(len(some), sum(some))


def score(
    tagger: Tagger,
    sentences: Iterable[Sentence],
    *,
    tell: Callable[[float], None] | None = None,
) -> Scores:
    """Tag the sentences and compare with their labels.

    A label the model never saw counts as wrong.

    Args:
        tagger: who tags.
        sentences: from ``regard.tasks.tagged.read_tagged(path, column=tagger.settings.column)``.
        tell: called now and then with the part that is done, from 0 to 1.

    Raises:
        ValueRangeError: there are no sentences.

    """
    sentences = list(sentences)
    if not sentences:
        msg = "a score needs sentences, got none"
        raise ValueRangeError(msg)
    start = time.perf_counter()
    found = tagger.many([sentence.words for sentence in sentences], tell=tell)
    seconds = time.perf_counter() - start
    judged = [
        WordScore(sentence.line, word, label, best, likely, tagger.words.word(word) != UNKNOWN)
        for sentence, tagged in zip(sentences, found, strict=True)
        for word, label, best, likely in zip(
            sentence.words, sentence.labels, tagged.labels, tagged.probabilities, strict=True
        )
    ]
    whole = sum(s.labels == t.labels for s, t in zip(sentences, found, strict=True))
    column = tagger.settings.column
    return Scores(
        words=tuple(judged),
        sentences=len(sentences),
        whole=whole,
        seconds=seconds,
        signature=f"accuracy|{column}|regard:{__version__}|weights:{tagger.sha256}",
    )

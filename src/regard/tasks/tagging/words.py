"""The words, characters and labels a tagger knows, and the numbers they have."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from regard.errors import FileError
from regard.tasks.labels import labels_to_learn
from regard.tasks.pairs import normalise
from regard.tasks.tagged import Sentence

__all__ = ["BEGIN", "END", "LONGEST", "NONE", "PAD", "STRANGE", "UNKNOWN", "Words", "folded"]

PAD, UNKNOWN = 0, 1  # of words and of characters
BEGIN, END = 2, 3  # the characters before and after a word
STRANGE = -1  # the number of a label that was never seen in training
NONE = -100  # where there is no label at all: what torch leaves out of a loss
LONGEST = 22  # characters of a spelling; of a longer word the first and the last
OF_A_CHARACTER = 3  # times a character comes in the data to have a number of its own
CUT = 1000  # characters of a word that are looked at, for its number
KIND = "the words of a tagger"
PARTS = ("words", "characters", "labels", "auxiliary")
SURROGATE = re.compile("[\ud800-\udfff]")
DIGITS = str.maketrans("123456789", "000000000")


def folded(word: str) -> str:
    """A word as it is looked up: in small letters, every digit a 0.

    >>> folded("Boeing-747")
    'boeing-000'
    """
    return normalise(word[:CUT]).lower().translate(DIGITS)


@dataclass(frozen=True)
class Words:
    """What was learned from the training sentences before the weights.

    A word that is not among them is known by its spelling, which keeps capitals and digits.

    Args:
        words: as ``folded`` has them; the first has the number 2.
        characters: the first has the number 4, after those that begin and end a word.
        labels: the first has the number 0.
        auxiliary: labels of a second kind; none if only one kind is learned.

    >>> words = Words(("the", "dog"), tuple("Tdeghot"), ("DET", "NOUN"))
    >>> words.word("The"), words.word("cat"), words.spelling("Toad")
    (2, 1, [2, 4, 9, 1, 5, 3])

    """

    words: tuple[str, ...]
    characters: tuple[str, ...]
    labels: tuple[str, ...]
    auxiliary: tuple[str, ...] = ()

    @classmethod
    def learn(cls, sentences: Sequence[Sentence], *, min_count: int, where: str) -> Words:
        """Those of the sentences; of words that come seldom only the characters.

        Raises:
            FileError: all labels are the same, so that nothing can be learned.

        """
        counts = Counter(folded(word) for sentence in sentences for word in sentence.words)
        letters: Counter[str] = Counter()
        for sentence in sentences:
            for word in sentence.words:
                letters.update(normalise(word))
        also = {label for sentence in sentences for label in sentence.also if label}
        return cls(
            _commonest(counts, min_count),
            _commonest(letters, OF_A_CHARACTER),
            labels_to_learn((x for sentence in sentences for x in sentence.labels), where),
            tuple(sorted(also)) if len(also) > 1 else (),
        )

    @property
    def word_count(self) -> int:
        """Numbers of words, with padding and unknown."""
        return UNKNOWN + 1 + len(self.words)

    @property
    def character_count(self) -> int:
        """Numbers of characters, with padding, unknown, begin and end."""
        return END + 1 + len(self.characters)

    def word(self, word: str) -> int:
        """The number of a word; 1 if it is not known."""
        return self._words.get(folded(word), UNKNOWN)

    def spelling(self, word: str) -> list[int]:
        """The numbers of a word's characters, with begin and end.

        Of more than 22 characters the first 11 and the last 11 are taken.
        """
        if len(word) > CUT:  # time must not grow with what nobody looks at
            word = word[:CUT] + word[-LONGEST:]
        word = normalise(word)
        half = LONGEST // 2
        if len(word) > LONGEST:
            word = word[:half] + word[-half:]
        return [BEGIN, *(self._characters.get(x, UNKNOWN) for x in word), END]

    def label(self, label: str) -> int:
        """The number of a label; ``STRANGE`` if it was never seen."""
        return self._labels.get(label, STRANGE)

    def second(self, label: str) -> int:
        """The number of an auxiliary label; ``NONE`` if there is none, or it was never seen."""
        return self._auxiliary.get(label, NONE)

    @cached_property
    def _words(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words, start=UNKNOWN + 1)}

    @cached_property
    def _characters(self) -> dict[str, int]:
        return {letter: i for i, letter in enumerate(self.characters, start=END + 1)}

    @cached_property
    def _labels(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.labels)}

    @cached_property
    def _auxiliary(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.auxiliary)}

    def to_json(self) -> bytes:
        """As a run keeps it."""
        told: dict[str, Any] = {"kind": KIND} | {part: getattr(self, part) for part in PARTS}
        return (json.dumps(told, ensure_ascii=False, indent=0) + "\n").encode()

    @classmethod
    def from_json(cls, data: bytes, where: str) -> Words:
        """What ``to_json`` wrote.

        Raises:
            FileError: it is something else, or damaged; ``where`` is how the message names it.

        """
        try:
            told = json.loads(data)
            problem = _problem(told)
        except (ValueError, RecursionError):
            problem = "it is no JSON"
        if problem:
            msg = f"{where}: is not what `regard train tagging` writes: {problem}"
            raise FileError(msg)
        return cls(**{part: tuple(told[part]) for part in PARTS})


def _commonest(counts: Counter[str], least: int) -> tuple[str, ...]:
    """The commonest first; among equals in the order of the alphabet, whatever the data's is."""
    kept = [(-count, text) for text, count in counts.items() if count >= least and text]
    return tuple(text for _, text in sorted(kept))


def _problem(told: object) -> str:
    """Why these are not the words of a tagger; "" if they are."""
    if not isinstance(told, dict) or told.get("kind") != KIND:
        return f"it is not {KIND}"
    if set(told) != {"kind", *PARTS}:
        return f"it must have the parts {', '.join(PARTS)}"
    for part in PARTS:
        texts = told[part]
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return f"{part} must be a list of texts"
        if len(set(texts)) != len(texts):
            return f"{part} must be different from each other"
        if not all(texts) or SURROGATE.search("".join(texts)):
            return f"{part} must be texts with something in them"
    if not all(len(letter) == 1 for letter in told["characters"]):
        return "characters must be single ones"
    if len(told["labels"]) < 2 or len(told["auxiliary"]) == 1:  # noqa: PLR2004 - to tell apart
        return "there must be at least 2 labels"
    return ""

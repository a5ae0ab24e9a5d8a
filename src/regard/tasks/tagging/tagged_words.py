"""What comes out of a tagger: the words, their labels, and which words each looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from regard.errors import ValueRangeError

__all__ = ["MOST", "Tagged", "check_lookable", "joined"]

MOST = 2000  # words whose weights on each other are put into one matrix, for each head


def _nowhere() -> Tensor:
    return torch.zeros(0, 0, 0, 0)


@dataclass(frozen=True)
class Tagged:
    """A tagged text.

    A text of several sentences is tagged sentence by sentence, and ``parts`` holds them. Its words
    are then those of the parts one after the other, and its weights those of the parts along the
    diagonal.

    Args:
        words: as they were written.
        labels: one a word.
        probabilities: of each label, as the model sees it.
        parts: the sentences, if there are several.

    >>> tagged = Tagged(("Dogs", "bark"), ("NOUN", "VERB"), (0.9, 0.8))
    >>> str(tagged), list(tagged)[0]
    ('Dogs/NOUN bark/VERB', ('Dogs', 'NOUN'))

    """

    words: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    parts: tuple[Tagged, ...] = ()
    look: Callable[[], Tensor] = field(default=_nowhere, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(zip(self.words, self.labels, strict=True))

    def __str__(self) -> str:
        return " ".join(f"{word}/{label}" for word, label in self)

    @property
    def sentences(self) -> tuple[Tagged, ...]:
        """The sentences, also if there is one; none of an empty text."""
        return self.parts or ((self,) if self.words else ())

    @cached_property
    def attention(self) -> Tensor:
        """[layers, heads, words, words], how much each looked at each; computed when first read.

        Raises:
            StateError: the encoder has no attention.
            ValueRangeError: there are too many words for one matrix.

        """
        return self.look()

    @property
    def weights(self) -> Tensor:
        """[words, words], the mean over all layers and heads; a row adds up to 1."""
        if not self.words:
            return torch.zeros(0, 0)
        return self.attention.mean((0, 1))


def check_lookable(words: int) -> None:
    """Refuse a matrix that would fill the memory.

    Raises:
        ValueRangeError: there are too many words.

    """
    if words > MOST:
        msg = (
            f"the weights of {words:,} words on each other are too many for one matrix, which has "
            f"at most {MOST:,}; look at the sentences in parts, or at a shorter text"
        )
        raise ValueRangeError(msg)


def joined(parts: Sequence[Tagged]) -> Tagged:
    """One text of several sentences, or the only one."""
    if len(parts) == 1:
        return parts[0]
    return Tagged(
        words=tuple(word for part in parts for word in part.words),
        labels=tuple(label for part in parts for label in part.labels),
        probabilities=tuple(x for part in parts for x in part.probabilities),
        parts=tuple(parts),
        look=lambda: _along_the_diagonal(parts),
    )


def _along_the_diagonal(parts: Sequence[Tagged]) -> Tensor:
    size = sum(len(part) for part in parts)
    check_lookable(size)
    if not size:
        return _nowhere()
    blocks = [part.look() for part in parts]
    whole = torch.zeros(*blocks[0].shape[:2], size, size)
    at = 0
    for block in blocks:
        to = slice(at, at + block.shape[2])
        whole[:, :, to, to] = block
        at = to.stop
    return whole

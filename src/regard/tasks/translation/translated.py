"""What comes out of a translator: the text, the tokens, and where each of them looked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

__all__ = ["END", "Alternative", "Translation", "joined"]

END = "</s>"  # the label of the token that ends a sentence


def _nowhere() -> Tensor:
    return torch.zeros(0, 0)


@dataclass(frozen=True)
class Alternative:
    """One way to say it."""

    text: str
    tokens: tuple[str, ...]
    score: float  # the logarithm of its probability, divided by a power of its length
    look: Callable[[], Tensor] = field(default=_nowhere, repr=False, compare=False)


@dataclass(frozen=True)
class Translation:
    """A translated text.

    A long text is translated sentence by sentence, and ``parts`` holds them. Its tokens are then
    those of the parts one after the other, its weights those of the parts along the diagonal, and
    its score the mean of theirs, by tokens.

    Args:
        text: the translation.
        source: what was translated, as the model read it.
        source_tokens: the pieces it was cut into; "▁" begins a word.
        tokens: the pieces of the translation, "</s>" last if the model ended it.
        score: of the best, see ``Alternative``.
        alternatives: the n best, this one first; of a long text the k-th joins the k-th of each,
            or the last a sentence has.
        parts: the sentences, if there are several.

    """

    text: str
    source: str
    source_tokens: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    score: float = 0.0
    alternatives: tuple[Alternative, ...] = ()
    parts: tuple[Translation, ...] = ()
    look: Callable[[], Tensor] = field(default=_nowhere, repr=False, compare=False)

    @cached_property
    def weights(self) -> Tensor:
        """[tokens, source_tokens], how much each looked at each; computed when first read."""
        return self.look()


def joined(parts: Sequence[Translation], source: str) -> Translation:
    """One translation of several sentences' translations."""
    most = max(len(part.alternatives) for part in parts)
    found = [_joined([_way(part, k) for part in parts]) for k in range(most)]
    ways = list({way.text: way for way in reversed(found)}.values())[::-1]  # of equals the first
    return Translation(
        text=ways[0].text,
        source=source,
        source_tokens=tuple(token for part in parts for token in part.source_tokens),
        tokens=ways[0].tokens,
        score=ways[0].score,
        alternatives=tuple(ways),
        parts=tuple(parts),
        look=lambda: _along_the_diagonal([part.weights for part in parts]),
    )


def _along_the_diagonal(parts: Sequence[Tensor]) -> Tensor:
    weights: Tensor = torch.block_diag(*parts)  # type: ignore[no-untyped-call] # torch's
    return weights


def _way(part: Translation, k: int) -> Alternative:
    """The k-th best of a sentence, or the last there is."""
    return part.alternatives[min(k, len(part.alternatives) - 1)]


def _joined(way: Sequence[Alternative]) -> Alternative:
    count = sum(len(part.tokens) for part in way)
    return Alternative(
        text=" ".join(part.text for part in way if part.text),
        tokens=tuple(token for part in way for token in part.tokens),
        score=sum(part.score * len(part.tokens) for part in way) / max(count, 1),
        look=lambda: _along_the_diagonal([part.look() for part in way]),
    )

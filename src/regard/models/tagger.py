"""A tagger: a sentence's words in, one label a word out."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.layers.base import check_dropout, check_size
from regard.models.encoder import Encoder, EncoderConfig, settled_lens
from regard.models.initial import initialise
from regard.models.spelling import Affixes, Spelling

__all__ = ["Tagger", "TaggerConfig"]


@dataclass(frozen=True)
class TaggerConfig:
    """The sizes of a tagger.

    Args:
        words, characters: how many there are, the first two being padding (0) and unknown (1).
        labels: how many there are to choose from.
        encoder: what tells each word of the others.
        embedding: the width of a word's vector.
        character_embedding: the width of a character's vector.
        spelling: the width of what the characters say of a word; 0: they say nothing.
        affixes: how many vectors there are for first and last characters; 0: none.
        auxiliary: how many labels of a second kind are learned beside the first; 0: none.
        dropout: of what the encoder is given, and of what the labels are scored from.
        word_dropout: the part of the words taken for unknown while training.

    """

    words: int
    characters: int
    labels: int
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    embedding: int = 128
    character_embedding: int = 32
    spelling: int = 128
    affixes: int = 0
    auxiliary: int = 0
    dropout: float = 0.3
    word_dropout: float = 0.05

    def __post_init__(self) -> None:
        for name in ("words", "characters", "labels", "embedding", "character_embedding"):
            check_size("TaggerConfig", name, getattr(self, name))
        for name in ("spelling", "affixes", "auxiliary"):
            if getattr(self, name) != 0:
                check_size("TaggerConfig", name, getattr(self, name))
        for name in ("words", "characters"):
            if getattr(self, name) < 2:  # noqa: PLR2004 - padding and unknown
                msg = (
                    f"TaggerConfig: {name} must be at least 2, padding and unknown, "
                    f"got {getattr(self, name)}"
                )
                raise ValueRangeError(msg)
        for part in (self.dropout, self.word_dropout):
            check_dropout("TaggerConfig", part)


class Tagger(nn.Module):
    """Score the labels of each word, from the word, its spelling and the words around it.

    >>> import torch
    >>> from regard.models.encoder import EncoderConfig
    >>> from regard.models.tagger import Tagger, TaggerConfig
    >>> net = Tagger(TaggerConfig(100, 30, 17, EncoderConfig("cnn", width=32))).eval()
    >>> words, spellings = torch.randint(100, (2, 5)), torch.randint(30, (2, 5, 8))
    >>> net(words, spellings, torch.tensor([5, 3])).shape
    torch.Size([2, 5, 17])

    """

    def __init__(self, config: TaggerConfig) -> None:
        super().__init__()
        self.config = config
        width = config.encoder.width
        self.embedding = nn.Embedding(config.words, config.embedding)
        known = config.embedding
        self.spelling: Spelling | None = None
        if config.spelling:
            self.spelling = Spelling(config.characters, config.character_embedding, config.spelling)
            known += config.spelling
        self.affixes: Affixes | None = None
        if config.affixes:
            self.affixes = Affixes(config.affixes, config.embedding)
        self.encoded_from = nn.Linear(known, width)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = Encoder(config.encoder)
        self.out = nn.Linear(width, config.labels)
        self.beside = nn.Linear(width, config.auxiliary) if config.auxiliary else None
        initialise(self)

    def forward(
        self,
        words: Int[Tensor, "b n"],
        spellings: Int[Tensor, "b n c"],
        lens: Int[Tensor, " b"] | None = None,
    ) -> Float[Tensor, "b n labels"]:
        """Score each word's labels; ``lens`` [b] words of each sentence are real."""
        return self.out(self.states(words, spellings, lens))  # type: ignore[no-any-return]

    def both(
        self,
        words: Int[Tensor, "b n"],
        spellings: Int[Tensor, "b n c"],
        lens: Int[Tensor, " b"] | None = None,
    ) -> tuple[Float[Tensor, "b n labels"], Float[Tensor, "b n auxiliary"]]:
        """The scores of the labels, and of the auxiliary ones: for training."""
        if self.beside is None:
            msg = "Tagger: there are no auxiliary labels; give TaggerConfig(auxiliary=...)"
            raise ValueRangeError(msg)
        states = self.states(words, spellings, lens)
        return self.out(states), self.beside(states)

    def states(
        self,
        words: Int[Tensor, "b n"],
        spellings: Int[Tensor, "b n c"],
        lens: Int[Tensor, " b"] | None = None,
    ) -> Float[Tensor, "b n d"]:
        """As ``forward``, before the scores."""
        _check("words", words, 2)
        _check("spellings", spellings, 3)
        if spellings.shape[:2] != words.shape:
            msg = (
                f"Tagger: spellings must be [{words.shape[0]}, {words.shape[1]}, characters], one "
                f"row a word, got the shape {list(spellings.shape)}"
            )
            raise ShapeError(msg)
        lens = settled_lens("Tagger", lens, words)
        padding = torch.arange(words.shape[1], device=words.device) >= lens.unsqueeze(1)
        words = words.masked_fill(padding, 0)
        spellings = spellings.masked_fill(padding.unsqueeze(-1), 0)
        if self.training and self.config.word_dropout:
            chance = torch.rand(words.shape, device=words.device)
            words = words.masked_fill((chance < self.config.word_dropout) & (words != 0), 1)
        x = self.embedding(words) * self.config.embedding**0.5
        if self.affixes is not None:
            x = x + self.affixes(spellings) * self.config.embedding**0.5
        if self.spelling is not None:
            x = torch.cat((x, self.spelling(spellings)), -1)
        x = self.encoded_from(self.dropout(x))
        return self.dropout(self.encoder(x, lens))  # type: ignore[no-any-return]

    @property
    def attention_weights(self) -> list[Float[Tensor, "b heads n n"]]:
        """What each word looked at in the last call, layer by layer; see ``Encoder``."""
        return self.encoder.attention_weights


def _check(name: str, x: Tensor, axes: int) -> None:
    if x.dtype not in (torch.int64, torch.int32):
        msg = f"Tagger: {name} must be numbers, int64 or int32, got {x.dtype}"
        raise KindError(msg)
    if x.ndim != axes:
        wanted = ", ".join(("b", "n", "c")[:axes])
        msg = f"Tagger: {name} must be [{wanted}], got the shape {list(x.shape)}"
        raise ShapeError(msg)

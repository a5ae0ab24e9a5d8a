"""Every setting of a tagger and of its training, and the model they describe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from regard.errors import ValueRangeError
from regard.tasks.engine.settings import LARGE, TrainingSettings, setting

if TYPE_CHECKING:  # seconds to import, and `regard train --help` does without
    from regard.models.tagger import Tagger, TaggerConfig
    from regard.tasks.tagging.words import Words

__all__ = ["TaggingSettings", "check_together", "config_of", "model_of"]

_data = partial(setting, group="the data")
_model = partial(setting, group="the model")
_words = partial(setting, group="the words")


@dataclass(frozen=True, kw_only=True)
class TaggingSettings(TrainingSettings):
    """What is trained and how; all of it is saved with the run.

    The defaults are for some 10,000 sentences.

    >>> TaggingSettings(encoder="cnn").width
    256
    """

    task: str = setting("tagging", "what is trained", group="the task", choices=("tagging",))

    column: str = _data("UPOS", "which label to learn", choices=("UPOS", "XPOS"))
    auxiliary: str = _data(
        "XPOS",
        "a second label to learn beside it, where the data have one; '': none",
        choices=("", "UPOS", "XPOS"),
    )
    auxiliary_weight: float = _data(0.5, "of the second label's loss", low=0.0, high=100.0)
    max_len: int = _data(
        256,
        "words of a sentence; a longer one is cut into pieces that overlap, none is left out",
        low=8,
        high=65536,
    )

    encoder: str = _model(
        "self-attention",
        "how each word learns of the others",
        choices=("self-attention", "truncated", "window", "cnn", "rnn"),
    )
    beneath: str = _model(
        "",
        "one layer of another kind under the encoder's own, to which words come with their "
        "neighbours then; '': none",
        choices=("", "window", "cnn", "rnn"),
    )
    width: int = _model(256, "of a word's vector in the encoder", low=1, high=65536)
    layers: int = _model(2, "on top of each other", low=1, high=100)
    heads: int = _model(4, "of attention; the width is a multiple", low=1, high=1024)
    hidden: int = _model(0, "width inside a layer; 0: what is usual", low=0, high=65536)
    reach: int = _model(
        -1,
        "neighbours on either side that a layer of truncated, window or cnn sees; -1: what is "
        "usual",
        low=-1,
        high=LARGE,
    )
    positions: str = _model(
        "relative",  # it has learned who the neighbours are while sinusoids have not yet
        "how attention knows where a word stands",
        choices=("sinusoidal", "learned", "rotary", "alibi", "relative", "none"),
    )
    dropout: float = _model(
        0.4, "of what the encoder is given, and of what it gives", low=0.0, high=0.95
    )
    encoder_dropout: float = _model(0.1, "inside the encoder", low=0.0, high=0.95)
    attention_dropout: float = _model(0.0, "of attention's weights", low=0.0, high=0.95)

    min_count: int = _words(
        1, "times a word comes in the data to have a vector of its own", low=1, high=LARGE
    )
    embedding: int = _words(128, "width of a word's own vector", low=1, high=65536)
    spelling: int = _words(
        128, "width of what its characters say of a word; 0: nothing", low=0, high=65536
    )
    character_embedding: int = _words(32, "width of a character's vector", low=1, high=65536)
    affixes: int = _words(
        8000, "vectors for first and last 1 to 4 characters; 0: none", low=0, high=1 << 24
    )
    word_dropout: float = _words(
        0.5,
        "x: a word that came c times is taken for an unknown one x / (c + x) of the time, so that "
        "unknown words are learned, too",
        low=0.0,
        high=1000.0,
    )

    batch_tokens: int = setting(1500, "words of a batch, padding included", low=8, high=LARGE)
    epochs: int = setting(12, "at most", low=1, high=LARGE)
    learning_rate: float = setting(2e-3, "at its highest", low=0.0, high=10.0)
    warmup: int = setting(200, "steps in which the learning rate rises", low=0, high=LARGE)
    schedule: str = setting(
        "cosine",
        "how the learning rate falls",
        choices=("inverse_sqrt", "cosine", "constant"),
    )
    label_smoothing: float = setting(
        0.05, "of the truth given to all answers alike", low=0.0, high=0.9
    )


def check_together(settings: TaggingSettings) -> None:
    """Refuse settings that do not fit together.

    Raises:
        ValueRangeError: names them.

    """
    if settings.column == settings.auxiliary:
        msg = (
            f"auxiliary must be another column than column={settings.column!r}, which is learned "
            f"anyway; got {settings.auxiliary!r}"
        )
        raise ValueRangeError(msg)
    _config(settings, words=2, characters=4, labels=2, auxiliary=0)


def config_of(settings: TaggingSettings, words: Words) -> TaggerConfig:
    """The sizes of the model."""
    return _config(
        settings,
        words=words.word_count,
        characters=words.character_count,
        labels=len(words.labels),
        auxiliary=len(words.auxiliary),
    )


def _config(
    settings: TaggingSettings, *, words: int, characters: int, labels: int, auxiliary: int
) -> TaggerConfig:
    from regard.models.encoder import EncoderConfig  # noqa: PLC0415 - torch
    from regard.models.tagger import TaggerConfig  # noqa: PLC0415 - torch

    return TaggerConfig(
        words,
        characters,
        labels,
        EncoderConfig(
            settings.encoder,
            width=settings.width,
            layers=settings.layers,
            heads=settings.heads,
            hidden=settings.hidden or None,
            reach=None if settings.reach < 0 else settings.reach,
            dropout=settings.encoder_dropout,
            attention_dropout=settings.attention_dropout,
            positions=settings.positions,
            beneath=settings.beneath,
            max_len=settings.max_len,
        ),
        embedding=settings.embedding,
        character_embedding=settings.character_embedding,
        spelling=settings.spelling,
        affixes=settings.affixes,
        auxiliary=auxiliary,
        dropout=settings.dropout,
        word_dropout=0.0,  # the batches do it: they know how often a word came
    )


def model_of(settings: TaggingSettings, words: Words) -> Tagger:
    """The model of these settings, with fresh weights drawn from torch's generator."""
    from regard.models.tagger import Tagger  # noqa: PLC0415 - torch

    return Tagger(config_of(settings, words))

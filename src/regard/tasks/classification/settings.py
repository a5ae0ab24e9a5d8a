"""Every setting of a classifier and of its training, and the model they describe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from regard.tasks.engine.settings import LARGE, TrainingSettings, setting

if TYPE_CHECKING:  # seconds to import, and `regard train --help` does without
    from regard.models.classifier import Classifier, ClassifierConfig

__all__ = ["INPUTS", "ClassificationSettings", "config_of", "model_of"]

INPUTS = ("text", "sound", "images")

_data = partial(setting, group="the data")
_model = partial(setting, group="the model")
_anew = partial(setting, group="the data, changed a little in each epoch")


@dataclass(frozen=True, kw_only=True)
class ClassificationSettings(TrainingSettings):
    """What is trained and how; all of it is saved with the run.

    The defaults are for some thousand short recordings, or some ten thousand small images.

    >>> ClassificationSettings(encoder="cnn").width
    128
    """

    task: str = setting(
        "classification", "what is trained", group="the task", choices=("classification",)
    )

    input: str = _data(
        "auto", "what is classified; auto: what the data are", choices=("auto", *INPUTS)
    )
    vocab_size: int = _data(4000, "subwords of texts", low=261, high=1 << 20)
    rate: int = _data(8000, "samples a second, to which sound is brought", low=100, high=384_000)
    mel_features: int = _data(40, "of a frame of sound", low=1, high=1024)
    hop: float = _data(0.01, "seconds from one frame of sound to the next", low=1e-4, high=10.0)
    patch: int = _data(4, "pixels of a patch of an image, a side; 1: pixels", low=1, high=1024)

    encoder: str = _model(
        "self-attention",
        "how each place learns of the others",
        choices=("self-attention", "truncated", "window", "cnn", "rnn"),
    )
    width: int = _model(128, "of a place's vector", low=1, high=65536)
    layers: int = _model(3, "on top of each other", low=1, high=100)
    heads: int = _model(4, "of attention; the width is a multiple", low=1, high=1024)
    hidden: int = _model(0, "width inside a layer; 0: what is usual", low=0, high=65536)
    reach: int = _model(
        -1,
        "neighbours on either side that a layer of truncated, window or cnn sees; -1: what is "
        "usual",
        low=-1,
        high=LARGE,
    )
    beneath: str = _model(
        "",
        "one layer of another kind below the others; '': none",
        choices=("", "window", "cnn", "rnn"),
    )
    stride: int = _model(
        2, "frames of sound that become one vector: 1, 2, 4, 8, ...", low=1, high=1024
    )
    looks: int = _model(
        4,
        "ways to look at all places, to find the label; the width is a multiple",
        low=1,
        high=1024,
    )
    positions: str = _model(
        "sinusoidal",
        "how attention knows where a token or a frame stands",
        choices=("sinusoidal", "learned", "rotary", "alibi", "relative", "none"),
    )
    dropout: float = _model(0.1, "of everything but attention's weights", low=0.0, high=0.95)
    attention_dropout: float = _model(0.0, "of attention's weights", low=0.0, high=0.95)

    augment: bool = _anew(True, "whether to; what follows says how")  # noqa: FBT003
    shift: int = _anew(2, "pixels that an image is moved, at most", low=0, high=1024)
    flip: bool = _anew(False, "turn every second image left to right; wrong for writing")  # noqa: FBT003
    gain: float = _anew(6.0, "decibels that a sound is made louder or softer", low=0.0, high=60.0)
    stretch: float = _anew(
        0.15, "of its length that a sound is made longer or shorter", low=0.0, high=0.9
    )
    edges: int = _anew(
        5, "frames repeated before and behind a sound, each at most", low=0, high=10_000
    )
    mask_features: int = _anew(
        8, "neighbouring features of a sound that are hidden, at most, twice", low=0, high=1024
    )
    mask_frames: float = _anew(
        0.2, "of a sound's length that is hidden at one place, at most", low=0.0, high=1.0
    )
    mask_words: float = _anew(0.1, "of a text's subwords that are hidden", low=0.0, high=0.95)

    epochs: int = setting(40, "at most", low=1, high=LARGE)
    warmup: int = setting(200, "steps in which the learning rate rises", low=0, high=LARGE)
    schedule: str = setting(
        "cosine", "how the learning rate falls", choices=("inverse_sqrt", "cosine", "constant")
    )
    patience: int = setting(  # the last steps of a cosine are the best
        0,
        "validations without a better score before it stops; 0: never",
        group="judging, keeping and stopping",
        low=0,
        high=LARGE,
    )


def config_of(
    settings: ClassificationSettings, *, source: str, size: int, labels: int
) -> ClassifierConfig:
    """The sizes of the model; refuses those that do not fit together.

    Args:
        settings: of the encoder.
        source: "tokens", "frames" or "patches".
        size: of the vocabulary, or features of a frame or a patch.
        labels: how many.

    """
    from regard.models.classifier import ClassifierConfig  # noqa: PLC0415 - torch
    from regard.models.encoder import EncoderConfig  # noqa: PLC0415 - torch

    encoder = EncoderConfig(
        kind=settings.encoder,
        width=settings.width,
        layers=settings.layers,
        heads=settings.heads,
        hidden=settings.hidden or None,
        reach=None if settings.reach < 0 else settings.reach,
        dropout=settings.dropout,
        attention_dropout=settings.attention_dropout,
        positions=settings.positions,
        beneath=settings.beneath,
    )
    return ClassifierConfig(
        labels=labels,
        encoder=encoder,
        source=source,
        size=size,
        stride=settings.stride,
        heads=settings.looks,
        dropout=settings.dropout,
    )


def model_of(
    settings: ClassificationSettings, *, source: str, size: int, labels: int
) -> Classifier:
    """The model of these settings, with fresh weights drawn from torch's generator."""
    from regard.models.classifier import Classifier  # noqa: PLC0415 - torch

    return Classifier(config_of(settings, source=source, size=size, labels=labels))

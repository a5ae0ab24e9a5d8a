"""What a classifier takes: a text as subwords, a sound as frames, an image as patches.

Each of the three is prepared in two steps, and between them a training changes it a little:
``prepared`` gives the numbers (subwords, log-mel frames, pixels), ``given`` what the network gets.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.tasks.classification.settings import ClassificationSettings
from regard.tasks.mel import Mel
from regard.tasks.patches import patches
from regard.tasks.picture import with_channels
from regard.tasks.vocabulary import UNK, Vocabulary

__all__ = [
    "Form",
    "Given",
    "Images",
    "Sounds",
    "Texts",
    "all_given",
    "mel_of",
    "stacked",
]

Numbers: TypeAlias = NDArray[Any]

LEAST = 1e-5  # deviation; a smaller one is rounding


class Given(NamedTuple):
    """One example as the network takes it."""

    x: Numbers  # [n] numbers of subwords, or [n, size]
    places: NDArray[np.int64] | None = None  # [n, 2], row and column of each patch


class Form(Protocol):
    """How examples of one kind become what the network takes."""

    @property
    def kind(self) -> str:
        """What it is the form of: "text", "sound" or "images"."""

    @property
    def source(self) -> str:
        """What the network calls it: "tokens", "frames" or "patches"."""

    @property
    def size(self) -> int:
        """Of the vocabulary, or features of a frame or a patch."""

    def learned(self) -> dict[str, bytes]:
        """What a run keeps of it, for ``regard.tasks.classification.kept_forms``."""

    def prepared(self, content: Any) -> Numbers:  # noqa: ANN401 - a text or an array
        """The content of an example as numbers."""

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the numbers of a content of this shape, which a text has none of."""

    def length(self, shape: tuple[int, ...]) -> int:
        """How many places numbers of this shape take."""

    def given(self, numbers: Numbers) -> Given:
        """What the network gets."""


class Texts:
    """Texts in subwords; one without any becomes one that is unknown."""

    kind, source = "text", "tokens"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    @property
    def size(self) -> int:
        """Of the vocabulary."""
        return len(self.vocabulary)

    def learned(self) -> dict[str, bytes]:
        return {"input": _json({"kind": self.kind}), "words": self.vocabulary.model}

    def prepared(self, content: str) -> NDArray[np.int64]:
        """The numbers of the subwords."""
        return np.array(self.vocabulary.encode(content) or [UNK], np.int64)

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def length(self, shape: tuple[int, ...]) -> int:
        return shape[0]

    def given(self, numbers: Numbers) -> Given:
        return Given(numbers)


class Sounds:
    """Sounds in log-mel frames, each feature with a mean of 0 and a deviation of 1.

    Args:
        mel: makes frames of samples.
        mean, deviation: of each feature of the training frames.

    """

    kind, source = "sound", "frames"

    def __init__(self, mel: Mel, mean: Sequence[float], deviation: Sequence[float]) -> None:
        self.mel = mel
        self.mean, self.deviation = (np.array(x, np.float32) for x in (mean, deviation))

    @classmethod
    def learn(cls, mel: Mel, sounds: Iterable[Numbers]) -> Sounds:
        """With the mean and deviation of these frames [n, features], an array a sound."""
        return cls(mel, *_moments(sounds))

    @property
    def size(self) -> int:
        """Features of a frame."""
        return len(self.mean)

    @property
    def pitches(self) -> tuple[float, ...]:
        """The middle of each feature's band, in Hz; see ``regard.tasks.mel``."""
        top = 2595 * math.log10(1 + self.mel.rate / 2 / 700)
        mels = np.linspace(0, top, self.mel.features + 2)[1:-1]
        return tuple((700 * (10 ** (mels / 2595) - 1)).tolist())

    def learned(self) -> dict[str, bytes]:
        told = {
            "kind": self.kind,
            "rate": self.mel.rate,
            "features": self.mel.features,
            "hop": self.mel.hop,
            "window": self.mel.window,
        }
        return {"input": _json(told | _spread(self.mean, self.deviation))}

    def prepared(self, content: Numbers) -> Numbers:
        """Frames are numbers already: ``Mel`` has made them when they were read."""
        return content

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def length(self, shape: tuple[int, ...]) -> int:
        return shape[0]

    def given(self, numbers: Numbers) -> Given:
        return Given(((numbers - self.mean) / self.deviation).astype(np.float32))


class Images:
    """Images in patches, each channel with a mean of 0 and a deviation of 1.

    Args:
        patch: pixels a side.
        mean, deviation: of each channel of the training images, from 0 to 1.

    """

    kind, source = "images", "patches"

    def __init__(self, patch: int, mean: Sequence[float], deviation: Sequence[float]) -> None:
        self.patch = patch
        self.mean, self.deviation = (np.array(x, np.float32) for x in (mean, deviation))

    @classmethod
    def learn(cls, patch: int, channels: int, images: Iterable[Numbers]) -> Images:
        """With the mean and deviation of these [h, w, c], made grey or coloured."""
        seen = (with_channels(x, channels).reshape(-1, channels) / np.float32(255) for x in images)
        return cls(patch, *_moments(seen))

    @property
    def channels(self) -> int:
        """1 for grey, 3 for colours."""
        return len(self.mean)

    @property
    def size(self) -> int:
        """Numbers of a patch."""
        return self.patch**2 * self.channels

    def learned(self) -> dict[str, bytes]:
        told = {"kind": self.kind, "patch": self.patch}
        return {"input": _json(told | _spread(self.mean, self.deviation))}

    def prepared(self, content: Numbers) -> Numbers:
        """The pixels [h, w, channels]."""
        return with_channels(content, self.channels)

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:2], self.channels)

    def length(self, shape: tuple[int, ...]) -> int:
        return math.prod(-(-side // self.patch) for side in shape[:2])

    def given(self, numbers: Numbers) -> Given:
        scaled = (numbers / np.float32(255) - self.mean) / self.deviation
        squares, places = patches(torch.from_numpy(scaled), self.patch)
        return Given(squares.numpy(), places.numpy())


def all_given(form: Form, numbers: Sequence[Numbers]) -> list[Given]:
    """What the network gets of each; images of one size are cut together, which is faster."""
    if isinstance(form, Images) and len({x.shape for x in numbers}) == 1:
        together = form.given(np.stack(numbers))
        return [Given(x, together.places) for x in together.x]
    return [form.given(x) for x in numbers]


def mel_of(settings: ClassificationSettings) -> Mel:
    """What makes frames of samples, by the settings."""
    return Mel(rate=settings.rate, features=settings.mel_features, hop=settings.hop)


def _json(told: Mapping[str, Any]) -> bytes:
    return (json.dumps(told, sort_keys=True) + "\n").encode()


def _spread(mean: Numbers, deviation: Numbers) -> dict[str, list[float]]:
    return {"mean": mean.astype(float).tolist(), "deviation": deviation.astype(float).tolist()}


def _moments(arrays: Iterable[Numbers]) -> tuple[list[float], list[float]]:
    """Mean and deviation of each column; a column that never changes has a deviation of 1."""
    count, total, squares = 0, np.zeros(1), np.zeros(1)
    for rows in arrays:
        exact = rows.astype(np.float64)
        count += len(exact)
        total = total + exact.sum(0)
        squares = squares + (exact**2).sum(0)
    mean = total / count
    deviation = np.sqrt(np.maximum(squares / count - mean**2, 0.0))
    return mean.tolist(), np.where(deviation > LEAST, deviation, 1.0).tolist()


def stacked(rows: Sequence[Given], form: Form, count: int, length: int) -> tuple[Tensor, ...]:
    """Examples side by side, and empty rows below them, up to ``count``; zeros are padding.

    Returns:
        x [count, length] or [count, length, size], lens [count], and of patches their places.
        An empty row has a length of 1: attention wants something to look at.

    """
    tokens = form.source == "tokens"
    x = np.zeros(
        (count, length) if tokens else (count, length, form.size),
        np.int64 if tokens else np.float32,
    )
    lens = np.ones(count, np.int64)
    places = np.zeros((count, length, 2), np.int64)
    for i, row in enumerate(rows):
        lens[i] = len(row.x)
        x[i, : lens[i]] = row.x
        if row.places is not None:
            places[i, : lens[i]] = row.places
    parts = (x, lens, places) if form.source == "patches" else (x, lens)
    return tuple(torch.from_numpy(part) for part in parts)

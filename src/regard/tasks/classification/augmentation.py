"""Examples changed a little, so that no epoch sees the same ones twice.

What is done to an example is a pure function of the training's seed, the epoch and the example: of
the row of random numbers from 0 to 1 that ``drawn`` gives it.
"""

from __future__ import annotations

import math
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from regard.tasks.classification.forms import Form, Sounds
from regard.tasks.classification.settings import ClassificationSettings
from regard.tasks.engine.seeds import drawn_from
from regard.tasks.vocabulary import UNK

__all__ = ["Augmentation", "augmentation_of", "drawn"]

Numbers: TypeAlias = NDArray[Any]
Draws: TypeAlias = NDArray[np.float64]

DECIBEL = math.log(10) / 10  # of power, in its natural logarithm
SEEDS = 1 << 53  # as many different numbers has a draw


class Augmentation(Protocol):
    """Changes prepared numbers, see ``regard.tasks.classification.forms``."""

    draws: int  # how many random numbers an example takes

    def shape(self, shape: tuple[int, ...], u: Draws) -> tuple[int, ...]:
        """The shape of what ``changed`` will give."""

    def changed(self, numbers: Numbers, u: Draws) -> Numbers:
        """The numbers of an example, changed as ``u`` [draws] says; a new array."""


def augmentation_of(settings: ClassificationSettings, form: Form) -> Augmentation | None:
    """What the settings ask for; None: nothing."""
    if not settings.augment:
        return None
    if isinstance(form, Sounds):
        return _OfSounds(settings, form.mean)
    return _OfImages(settings) if form.kind == "images" else _OfTexts(settings)


def drawn(augmentation: Augmentation, seed: int, epoch: int, count: int) -> Draws:
    """Random numbers [count, draws] of an epoch, a row an example."""
    return np.random.default_rng(drawn_from(seed, epoch)).random((count, augmentation.draws))


def _up_to(most: int, u: float) -> int:
    """A whole number from 0 to ``most``, each as likely."""
    return int(u * (most + 1))


class _OfTexts:
    """Hides some subwords."""

    draws = 1

    def __init__(self, settings: ClassificationSettings) -> None:
        self.part = settings.mask_words

    def shape(self, shape: tuple[int, ...], u: Draws) -> tuple[int, ...]:
        return shape

    def changed(self, numbers: Numbers, u: Draws) -> Numbers:
        hidden = np.random.default_rng(int(u[0] * SEEDS)).random(len(numbers)) < self.part
        return np.where(hidden, UNK, numbers)


class _OfSounds:
    """Faster or slower, louder or softer, later; and bands and a moment hidden.

    What is hidden becomes the mean frame (Park et al. 2019, SpecAugment). Nothing is cut off:
    "later" repeats the first and the last frame.
    """

    draws = 10

    def __init__(self, settings: ClassificationSettings, mean: Numbers) -> None:
        self.settings, self.mean = settings, mean

    def _lengths(self, n: int, u: Draws) -> tuple[int, int, int]:
        """Frames before, of the sound, and behind."""
        edges, stretch = self.settings.edges, self.settings.stretch
        inner = max(round(n * (1 + stretch * (2 * u[0] - 1))), 1)
        return _up_to(edges, u[1]), inner, _up_to(edges, u[2])

    def shape(self, shape: tuple[int, ...], u: Draws) -> tuple[int, ...]:
        return sum(self._lengths(shape[0], u)), *shape[1:]

    def changed(self, numbers: Numbers, u: Draws) -> Numbers:
        n, features = numbers.shape
        before, inner, behind = self._lengths(n, u)
        # where each new frame lies among the old ones, with the ends as they are
        at = np.linspace(0, n - 1, inner)
        at = np.concatenate([np.zeros(before), at, np.full(behind, n - 1)])
        low = np.minimum(at.astype(np.int64), max(n - 2, 0))
        part = (at - low)[:, None].astype(np.float32)
        x: Numbers = numbers[low] * (1 - part) + numbers[np.minimum(low + 1, n - 1)] * part
        x += np.float32(self.settings.gain * DECIBEL * (2 * u[3] - 1))
        for wide, place in ((u[4], u[5]), (u[6], u[7])):
            width = _up_to(min(self.settings.mask_features, features), wide)
            start = _up_to(features - width, place)
            x[:, start : start + width] = self.mean[start : start + width]
        width = _up_to(int(self.settings.mask_frames * len(x)), u[8])
        start = _up_to(len(x) - width, u[9])
        x[start : start + width] = self.mean
        return x


class _OfImages:
    """Moved by some pixels, the edge repeated; turned left to right, if that is allowed."""

    draws = 3

    def __init__(self, settings: ClassificationSettings) -> None:
        self.settings = settings

    def shape(self, shape: tuple[int, ...], u: Draws) -> tuple[int, ...]:
        return shape

    def changed(self, numbers: Numbers, u: Draws) -> Numbers:
        shift = self.settings.shift
        down, across = (
            np.clip(np.arange(side) + _up_to(2 * shift, x) - shift, 0, side - 1)
            for side, x in zip(numbers.shape[:2], u[:2], strict=True)
        )
        if self.settings.flip and u[2] < 0.5:  # noqa: PLR2004 - every second
            across = across[::-1]
        moved: Numbers = numbers[down[:, None], across]
        return moved

"""What comes out of a classifier: the label, how likely each one is, and where it looked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["Classified"]

Figure: TypeAlias = Any  # of matplotlib, which is imported when one is drawn


def _nowhere() -> Tensor:
    return torch.zeros(0, 0)


@dataclass(frozen=True)
class Classified:
    """One text, sound or image with the label that was found for it.

    Args:
        label: the likeliest.
        probabilities: of each label, the likeliest first.
        kind: "text", "sound" or "images".
        content: what was classified: the text, the log-mel frames [n, features], or the pixels
            [h, w, c].
        places: what each weight belongs to. Of a text its subwords, "▁" begins a word; of a sound
            the seconds from which to which, and of an image the pixels (top, left, bottom,
            right), the last ones excluded.
        pitches: of a sound the pitch of each feature, in Hz.

    """

    label: str
    probabilities: Mapping[str, float]
    kind: str
    content: Any = field(repr=False, compare=False)
    places: tuple[Any, ...] = field(default=(), repr=False, compare=False)
    pitches: tuple[float, ...] = field(default=(), repr=False, compare=False)
    look: Callable[[], Tensor] = field(default=_nowhere, repr=False, compare=False)

    @property
    def probability(self) -> float:
        """Of the label."""
        return self.probabilities[self.label]

    @cached_property
    def looks(self) -> Tensor:
        """[looks, n], the weights of each of the looks; computed when first read."""
        return self.look()

    @property
    def weights(self) -> Tensor:
        """[n], how much of each place the label was found from: the mean of the looks."""
        return self.looks.mean(0)

    @property
    def grid(self) -> NDArray[np.float64]:
        """Of an image the weights [rows, columns], a weight a patch."""
        rows = len({place[0] for place in self.places})
        return self.weights.double().numpy().reshape(rows, -1)

    @property
    def _patch(self) -> int:
        top, left, bottom, right = self.places[0]
        return int(max(bottom - top, right - left))

    def draw(self, title: str = "") -> Figure:
        """Lay the weights over the text, the spectrogram or the image.

        Returns:
            A matplotlib Figure; ``regard.viewing.save`` writes it.

        """
        from regard.viewing import overlay  # noqa: PLC0415 - only who draws needs it

        weights, likely = self.weights.numpy(), self.probabilities
        if self.kind == "text":
            return overlay.draw_over_text(self.places, weights, likely, title=title)
        if self.kind == "sound":
            return overlay.draw_over_sound(
                self.content, weights, self.places, likely, bands=self.pitches, title=title
            )
        return overlay.draw_over_image(
            self.content, self.grid, likely, patch=self._patch, title=title
        )

    def lines(self, *, width: int = 80, color: bool = False, unicode: bool = True) -> list[str]:
        """The same in characters.

        Args:
            width: columns of the terminal.
            color: whether it shows 24-bit colours.
            unicode: whether it shows more than ASCII.

        """
        from regard.viewing import overlay_lines  # noqa: PLC0415 - only who draws needs it

        look: dict[str, Any] = {"width": width, "color": color, "unicode": unicode}
        weights = self.weights.numpy()
        if self.kind == "text":
            return overlay_lines.text_lines(self.places, weights, **look)
        if self.kind == "sound":
            end = self.places[-1][1]
            return overlay_lines.sound_lines(self.content, weights, end, **look)
        return overlay_lines.image_lines(self.content, self.grid, patch=self._patch, **look)

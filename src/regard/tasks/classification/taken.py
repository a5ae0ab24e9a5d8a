"""What a user gives a classifier, as the contents it works with."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.tasks.classification.examples import frames_of
from regard.tasks.classification.forms import Form, Images, Sounds
from regard.tasks.picture import read_picture, with_channels
from regard.tasks.wav import Sound

__all__ = ["Anything", "taken"]

Anything: TypeAlias = "str | PathLike[str] | Sound | NDArray[Any] | Tensor | Any"

GREY, FLAT = 2, 3  # axes of an image


def taken(form: Form, what: Anything, rate: int | None = None) -> Any:  # noqa: ANN401 - by the kind
    """A text; or the frames [n, features] of a sound; or the pixels [h, w, c] of an image.

    Args:
        form: what the classifier takes.
        what: a text; a file, or samples; a file, or pixels.
        rate: samples a second, of samples.

    Raises:
        FileError: a file is not what it should be.
        KindError, ShapeError, ValueRangeError: it is something else.

    """
    if isinstance(form, Sounds):
        return _sound(form, what, rate)
    if isinstance(form, Images):
        return _image(form, what)
    if not isinstance(what, str):
        msg = f"a text must be a str, got {type(what).__name__}"
        raise KindError(msg)
    return what


def _sound(form: Sounds, what: Anything, rate: int | None) -> NDArray[np.float32]:
    if isinstance(what, (str, PathLike)):
        return frames_of(Path(what), form.mel)
    if isinstance(what, Sound):
        rate, what = what.rate, what.samples
    if not isinstance(what, (Tensor, np.ndarray)):
        msg = (
            "a sound must be a WAV file, a Sound, or an array or tensor of samples, got "
            f"{type(what).__name__}"
        )
        raise KindError(msg)
    frames: NDArray[np.float32] = form.mel(what, rate).numpy()
    return frames


def _image(form: Images, what: Anything) -> NDArray[np.uint8]:
    if isinstance(what, (str, PathLike)):
        return read_picture(Path(what), form.channels)
    if isinstance(what, Tensor):
        what = what.detach().cpu().numpy()
    elif hasattr(what, "__array_interface__") and not isinstance(what, np.ndarray):
        what = np.asarray(what)  # such as an image of Pillow's
    if not isinstance(what, np.ndarray) or what.dtype.kind not in "buif":
        msg = f"an image must be a file, or an array of pixels, got {type(what).__name__}"
        raise KindError(msg)
    pixels = what[..., None] if what.ndim == GREY else what
    if pixels.ndim != FLAT or pixels.shape[2] not in {1, 3} or not pixels.size:
        msg = (
            "an image must have the axes [h, w], or [h, w, c] with 1 channel or 3, and a pixel at "
            f"least; got the shape {list(what.shape)}"
        )
        raise ShapeError(msg)
    return with_channels(_eight_bits(pixels), form.channels)


def _eight_bits(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """Whole numbers from 0 to 255; fractions from 0 to 1 and truths become such."""
    if pixels.dtype == np.uint8:
        return pixels
    most = 255 if pixels.dtype.kind in "iu" else 1
    if not ((pixels >= 0) & (pixels <= most)).all():  # NaN is neither
        msg = (
            f"pixels of {pixels.dtype} must be from 0 to {most}, got {pixels.min()} to "
            f"{pixels.max()}"
        )
        raise ValueRangeError(msg)
    return np.rint(pixels.astype(np.float64) * (255 / most)).astype(np.uint8)

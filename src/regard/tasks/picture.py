r"""One picture as numbers: uint8 [h, w, c], with one channel for grey and three for colours.

Read are PNG, JPEG, GIF, BMP, WebP and PPM, by Pillow, seen from their content. Palettes
become colours, transparent pixels lie on white, 16 bits are rounded to 8, photographs are turned
upright as they say they should be, and of moving pictures the first is taken. Refused are files
that are no picture or are damaged, and pictures of more than 64 million pixels.
"""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import FileError, ValueRangeError
from regard.optional import need
from regard.tasks.files import open_plain
from regard.tasks.findings import briefly, shown

__all__ = ["Pixels", "read_picture", "with_channels"]

Pixels = NDArray[np.uint8]

# named one by one: others of Pillow's start programs (EPS), or speak of damaged files to the
# terminal behind our back (TIFF)
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "PPM")
MOST = 1 << 26  # pixels
LARGEST = 1 << 29  # bytes of a file
GREY = {"1", "L", "LA", "La"}
CLEAR = {"LA", "La", "PA", "RGBA", "RGBa"}
DEEP = {"I;16", "I;16L", "I;16B", "I;16N", "I", "F"}
ORIENTATION = 0x0112
TURNS = {  # what a camera noted, and how Pillow calls what has to be done about it
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}
_warnings = Lock()  # which warnings are heard is one setting for all threads


def read_picture(path: Path, channels: int | None = None) -> Pixels:
    """The pixels of a picture, [h, w, c]; what can be read stands at the top of this module.

    Args:
        path: the picture.
        channels: 1 for grey, 3 for colours, None for what the picture has.

    Raises:
        FileError: the file is no picture, is damaged, or its picture is too large.
        MissingError: Pillow is not installed.
        OSError: the file cannot be read.

    """
    image = need("PIL.Image", extra="images", why="a picture")
    data = _content(path)
    try:
        with _warnings, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd headers; what matters is raised
            with image.open(io.BytesIO(data), formats=FORMATS) as opened:
                _refuse_large(path, opened.size)
                pixels = _pixels(opened, image)
    except image.UnidentifiedImageError as cause:
        kinds = ", ".join(FORMATS)
        msg = (
            f"{shown(path)}: wanted a picture ({kinds}), this is another kind of file or damaged, "
            f"it begins with {data[:8]!r}; convert it to PNG"
        )
        raise FileError(msg) from cause
    except image.DecompressionBombError as cause:
        msg = f"{shown(path)}: has more than {MOST:,} pixels; make it smaller"
        raise FileError(msg) from cause
    except FileError:
        raise
    except Exception as cause:  # decoders of damaged files raise anything at all
        why = briefly(cause)
        msg = f"{shown(path)}: the picture cannot be read ({why}); is the file damaged?"
        raise FileError(msg) from cause
    return pixels if channels is None else with_channels(pixels, channels)


def with_channels(pixels: Pixels, channels: int) -> Pixels:
    """The same picture in grey (1) or in colours (3), [..., h, w, channels].

    >>> with_channels(np.uint8([[[255, 0, 0]]]), 1).tolist()
    [[[76]]]
    """
    if channels not in {1, 3}:
        msg = f"channels must be 1 for grey or 3 for colours, got {channels!r}"
        raise ValueRangeError(msg)
    if pixels.shape[-1] == channels:
        return pixels
    if channels == 3:  # noqa: PLR2004 - red, green, blue
        return np.repeat(pixels, 3, axis=-1)
    light = pixels @ np.array([0.299, 0.587, 0.114], np.float32)  # as Pillow and JPEG weigh them
    grey: Pixels = np.rint(light).astype(np.uint8)
    return grey[..., None]


def _content(path: Path) -> bytes:
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST:
            msg = f"{shown(path)}: has {size:,} bytes, a picture at most {LARGEST:,}"
            raise FileError(msg)
        data = file.read()
    if not data:
        msg = f"{shown(path)}: wanted a picture, the file is empty"
        raise FileError(msg)
    return data


def _refuse_large(path: Path, size: tuple[int, int]) -> None:
    width, height = size
    if width * height > MOST:
        msg = (
            f"{shown(path)}: has {width:,} x {height:,} pixels, more than {MOST:,}; make it smaller"
        )
        raise FileError(msg)
    if width * height < 1:
        msg = f"{shown(path)}: has {width:,} x {height:,} pixels; leave it out"
        raise FileError(msg)


def _pixels(opened: Any, image: Any) -> Pixels:  # noqa: ANN401 - Pillow is not always there
    opened.load()
    turn = TURNS.get(_orientation(opened))
    picture = opened.transpose(image.Transpose[turn]) if turn else opened
    if picture.mode in DEEP:
        return _eight_bits(np.asarray(picture))
    grey = picture.mode in GREY
    if picture.mode in CLEAR or "transparency" in picture.info:
        clear = picture.convert("RGBA")
        white = image.new("RGBA", clear.size, "white")
        picture = image.alpha_composite(white, clear)
    pixels: Pixels = np.array(picture.convert("L" if grey else "RGB"))
    return pixels[..., None] if grey else pixels


def _orientation(opened: Any) -> int:  # noqa: ANN401
    try:
        return int(opened.getexif().get(ORIENTATION, 1))
    except Exception:  # noqa: BLE001 - a damaged note is no reason to refuse the picture
        return 1


def _eight_bits(deep: NDArray[Any]) -> Pixels:
    """Grey of 16 bits, or of fractions between 0 and 1, as 0 to 255."""
    low, high = float(deep.min()), float(deep.max())
    top = 1.0 if deep.dtype.kind == "f" else 65535.0
    if not 0 <= low <= high <= top:
        msg = f"grey from {low:g} to {high:g}, wanted 0 to {top:g}"
        raise ValueError(msg)
    grey: Pixels = np.rint(deep.astype(np.float32) * np.float32(255 / top)).astype(np.uint8)
    return grey[..., None]

"""Pictures and labels in one .npz file, as ``numpy.savez(path, images=..., labels=...)`` writes.

The arrays may be called images and labels, x and y, X and Y, or data and target. Pictures are
[n, h, w] or [n, h, w, c] with 1 or 3 channels: bytes, whole numbers of 0 to 255, 16 bits (which
are rounded to 8), True and False, or fractions of 0 to 1 (of 0 to 255 where any is beyond 1).
Labels are [n] or [n, 1], whole numbers or words. Nothing is unpickled.
"""

from __future__ import annotations

import math
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import FileError
from regard.tasks.files import open_plain
from regard.tasks.findings import briefly, shown
from regard.tasks.pairs import normalise

__all__ = ["read_npz", "whole_numbers"]

NAMES = (("images", "labels"), ("x", "y"), ("X", "Y"), ("X", "y"), ("data", "target"))
LARGEST = 1 << 31  # bytes of an array
PIECE = 1 << 24  # numbers turned into bytes at a time
HEADER = 1000  # bytes of an array's description
# what numpy and zipfile raise about damaged files
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    tokenize.TokenError,
    EOFError,
    IndexError,
    KeyError,
    MemoryError,  # of a description too deep for the parser
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,  # a password
    SyntaxError,
    TypeError,
    UnicodeError,
    ValueError,
)


def read_npz(path: Path) -> tuple[NDArray[np.uint8], list[str]]:
    """The pictures [n, h, w, c] and their labels.

    Raises:
        FileError: the file is damaged, too large, or has not these arrays in it.
        OSError: it cannot be read.

    """
    with open_plain(path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                images, labels = (_array(path, archive, name) for name in _names(path, archive))
        except FileError:
            raise
        except BROKEN as cause:
            why = briefly(cause)
            msg = f"{shown(path)}: the .npz file cannot be read ({why}); is it damaged?"
            raise FileError(msg) from cause
    names = _labels(path, labels)
    return _pictures(path, images, len(names)), names


def _names(path: Path, archive: zipfile.ZipFile) -> tuple[str, str]:
    there = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
    for names in NAMES:
        if set(names) <= set(there):
            return names
    wanted = ", ".join(f"{a} and {b}" for a, b in NAMES)
    has = ", ".join(shown(name) for name in there[:10]) or "none"
    msg = f"{shown(path)}: wanted arrays called {wanted}; there are: {has}"
    raise FileError(msg)


def _array(path: Path, archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """One array, if it is as large as it says and not larger than it may be."""
    entry = archive.getinfo(f"{name}.npy")
    if entry.file_size > LARGEST:
        msg = f"{shown(path)}: {name} has {entry.file_size:,} bytes; at most {LARGEST:,} are read"
        raise FileError(msg)
    form = np.lib.format
    with archive.open(entry) as member:
        version = form.read_magic(member)
        if version == (1, 0):
            shape, _, dtype = form.read_array_header_1_0(member, max_header_size=HEADER)
        else:
            shape, _, dtype = form.read_array_header_2_0(member, max_header_size=HEADER)
        if dtype.hasobject:
            msg = (
                f"{shown(path)}: {name} holds Python objects, which are not read since they can "
                "run programs; save it as numbers, or words of one length (astype(str))"
            )
            raise FileError(msg)
        # words of no letters would take no bytes, however many they are
        if min(shape, default=0) < 0 or math.prod(shape) * max(1, dtype.itemsize) > entry.file_size:
            axes = " x ".join(f"{size:.4g}" if size > LARGEST else str(size) for size in shape)
            msg = f"{shown(path)}: {name} promises more than there is, {axes}; get it again"
            raise FileError(msg)
    with archive.open(entry) as member:
        array: NDArray[Any] = form.read_array(member, allow_pickle=False, max_header_size=HEADER)
        return array


def _pictures(path: Path, images: NDArray[Any], labels: int) -> NDArray[np.uint8]:
    shape = images.shape
    if len(shape) not in {3, 4} or (len(shape) == 4 and shape[3] not in {1, 3}):  # noqa: PLR2004
        msg = (
            f"{shown(path)}: wanted pictures [n, h, w] or [n, h, w, c] with c of 1 or 3, got "
            f"{list(shape)}; reshape or transpose them"
        )
        raise FileError(msg)
    if shape[0] != labels:
        msg = f"{shown(path)}: {shape[0]:,} pictures and {labels:,} labels; wanted one for each"
        raise FileError(msg)
    if 0 in shape:
        msg = f"{shown(path)}: there is no picture in it, the array is {list(shape)}"
        raise FileError(msg)
    if images.dtype.kind not in "buif":
        msg = f"{shown(path)}: wanted numbers for pictures, got {images.dtype}"
        raise FileError(msg)
    pixels = whole_numbers(images)
    if pixels is None:
        low, high = images.min(), images.max()
        msg = f"{shown(path)}: pictures must be of 0 to 255 or of 0 to 1, got {low:g} to {high:g}"
        raise FileError(msg)
    return pixels if pixels.ndim == 4 else pixels[..., None]  # noqa: PLR2004


def whole_numbers(images: NDArray[Any]) -> NDArray[np.uint8] | None:
    """Pixels as bytes; None if they are not of a range that means something.

    >>> whole_numbers(np.array([0.0, 0.5, 1.0])), whole_numbers(np.array([-1, 3]))
    (array([  0, 128, 255], dtype=uint8), None)
    """
    if images.dtype == np.uint8:
        return images
    low, high = float(images.min()), float(images.max())
    real, deep = images.dtype.kind == "f", images.dtype == np.uint16
    if not 0 <= low <= high <= (65535 if deep else 255):
        return None
    factor = 1.0
    if images.dtype.kind == "b" or (real and high <= 1):
        factor = 255.0
    elif high > 255:  # noqa: PLR2004
        factor = 255 / 65535
    out = np.zeros(images.shape, np.uint8)
    flat, given = out.reshape(-1), images.reshape(-1)
    for first in range(0, flat.size, PIECE):
        part = given[first : first + PIECE].astype(np.float32)
        flat[first : first + PIECE] = np.rint(part * np.float32(factor))
    return out


def _labels(path: Path, labels: NDArray[Any]) -> list[str]:
    if labels.ndim == 2 and labels.shape[1] == 1:  # noqa: PLR2004
        labels = labels[:, 0]
    kind = labels.dtype.kind
    if labels.ndim != 1 or kind not in "buifUS":
        msg = (
            f"{shown(path)}: wanted one label for each picture, a number or a word, got "
            f"{labels.dtype} {list(labels.shape)}"
        )
        raise FileError(msg)
    if kind == "f":
        if not (np.isfinite(labels).all() and (labels == np.rint(labels)).all()):
            msg = f"{shown(path)}: labels must be whole numbers or words, got fractions"
            raise FileError(msg)
        labels = labels.astype(np.int64)
    if kind == "S":
        labels = np.char.decode(labels, "utf-8", "replace")
    names = [normalise(str(label)) for label in labels.tolist()]
    if "" in names:
        msg = f"{shown(path)}: picture {names.index('')} has an empty label"
        raise FileError(msg)
    return names

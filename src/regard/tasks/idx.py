"""IDX files, as MNIST and its relatives come: a magic number, sizes, then bytes, maybe gzipped."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from regard.errors import FileError
from regard.tasks.files import open_plain
from regard.tasks.findings import shown

__all__ = ["LARGEST", "is_idx", "read_idx"]

GZIP = b"\x1f\x8b"
BYTES = 8  # the number of the type that is read
AXES = 4  # at most
LARGEST = 1 << 31  # bytes of an array
PIECE = 1 << 24


def is_idx(path: Path) -> bool:
    """Whether a file begins as an IDX file does."""
    with open_plain(path) as file:
        try:
            head = _content(file).read(4)
        except (OSError, EOFError, zlib.error):
            return False
    return len(head) == 4 and head[:2] == b"\0\0" and head[2] in range(8, 15) and head[3] > 0  # noqa: PLR2004


def read_idx(path: Path) -> NDArray[np.uint8]:
    """The array of an IDX file of bytes.

    Raises:
        FileError: it is no IDX file, not one of bytes, too large, damaged, or has not as many
            bytes as it says.
        OSError: it cannot be read.

    """
    with open_plain(path) as file:
        try:
            return _array(path, _content(file))
        except (gzip.BadGzipFile, EOFError, zlib.error) as cause:
            msg = f"{shown(path)}: the gzip file is damaged or cut off ({cause}); get it again"
            raise FileError(msg) from cause


def _content(file: BinaryIO) -> BinaryIO:
    packed = file.read(2) == GZIP
    file.seek(0)
    return gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[return-value]


def _array(path: Path, content: BinaryIO) -> NDArray[np.uint8]:
    head = content.read(4)
    if len(head) < 4 or head[:2] != b"\0\0" or not 1 <= head[3] <= AXES:  # noqa: PLR2004
        msg = (
            f"{shown(path)}: wanted an IDX file, which begins with the bytes 0 0 8 and the number "
            f"of axes, this one begins with {head!r}"
        )
        raise FileError(msg)
    if head[2] != BYTES:
        msg = f"{shown(path)}: wanted an IDX file of bytes (type 8), this one is of type {head[2]}"
        raise FileError(msg)
    sizes = content.read(4 * head[3])
    if len(sizes) < 4 * head[3]:
        msg = f"{shown(path)}: the IDX file is cut off before its first number; get it again"
        raise FileError(msg)
    shape = struct.unpack(f">{head[3]}I", sizes)
    promised = math.prod(shape)
    if promised > LARGEST:
        msg = f"{shown(path)}: the IDX file has {promised:,} bytes; at most {LARGEST:,} are read"
        raise FileError(msg)
    data = bytearray()
    # no more is set aside than there is, whatever the file promises
    while piece := content.read(min(PIECE, promised + 1 - len(data))):
        data += piece
    if len(data) != promised:
        there = "more" if len(data) > promised else f"{len(data):,}"
        msg = (
            f"{shown(path)}: the IDX file promises {' x '.join(map(str, shape))} = {promised:,} "
            f"bytes, and there are {there}; get it again"
        )
        raise FileError(msg)
    return np.frombuffer(data, np.uint8).reshape(shape)

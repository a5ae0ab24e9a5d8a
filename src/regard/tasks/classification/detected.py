"""What kind of examples a path holds: texts, sounds or images."""

from __future__ import annotations

import gzip
import os
import zlib
from collections import Counter
from contextlib import suppress
from itertools import islice
from pathlib import Path

from regard.errors import FileError
from regard.tasks.files import open_plain
from regard.tasks.lines import long_lines

__all__ = ["detected"]

SOUNDS = (".wav", ".wave")
PICTURES = (".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".gif", ".bmp", ".tif", ".tiff", ".webp",
            ".ppm", ".pgm", ".pbm", ".pnm")  # fmt: skip
IDX = b"\0\0\x08"  # 8-bit numbers; a digit follows, of the axes
GZIP, ZIP, RIFF = b"\x1f\x8b", b"PK\x03\x04", b"RIFF"
LOOKED_AT = 1000  # files of a folder, rows of a file
HINT = "say what it is with --input text, sound or images"


def detected(path: Path) -> str:
    """One of "text", "sound" and "images".

    A folder is what most of its files are by their names. A file is images if it begins as an .npz
    or IDX file does; sound or images if most of its first rows name such files; else text.

    Raises:
        FileError: it could be anything, or nothing.
        OSError: it cannot be read.

    """
    return _of_folder(path) if path.is_dir() else _of_file(path)


def _of_folder(path: Path) -> str:
    next(path.iterdir(), None)  # for the error: os.walk keeps it to itself
    names = (name for _, _, names in os.walk(path) for name in names)
    counts = Counter(filter(None, map(_of_name, islice(names, LOOKED_AT))))
    if not counts:
        msg = f"{path}: there are no WAV files, images or IDX files in it; {HINT}"
        raise FileError(msg)
    return counts.most_common(1)[0][0]


def _of_name(name: str) -> str | None:
    low = name.lower()
    if low.endswith(SOUNDS):
        return "sound"
    idx = low.removesuffix(".gz").endswith(("-ubyte", ".idx", ".npz"))
    return "images" if idx or low.endswith(PICTURES) else None


def _of_file(path: Path) -> str:
    first = _beginning(path)
    if first.startswith((ZIP, IDX)):
        return "images"
    if first.startswith(RIFF) or path.suffix.lower() in (*SOUNDS, *PICTURES):
        msg = (
            f"{path}: is one file; a set of sounds or images is a folder with a subfolder a label, "
            "or a list with a file, a tab and its label in each row"
        )
        raise FileError(msg)
    rows = [row for row in islice(long_lines(path), LOOKED_AT) if row]
    named = Counter(_of_name(row.split(b"\t")[0].decode(errors="replace")) for row in rows)
    return next((kind for kind in ("sound", "images") if 2 * named[kind] > len(rows)), "text")


def _beginning(path: Path) -> bytes:
    """The first bytes, unpacked."""
    with open_plain(path) as file:
        first = file.read(8)
        if first.startswith(GZIP):
            file.seek(0)
            with suppress(OSError, EOFError, zlib.error), gzip.open(file) as inside:
                first = inside.read(8)  # what is damaged is told by who reads it
    return first

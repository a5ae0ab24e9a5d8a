"""The lines of a file as bytes, compressed or not, in memory that does not grow with them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from regard.errors import FileError

__all__ = ["long_lines"]

CHUNK = 1 << 18  # bytes read or unpacked at a time
LONGEST = 1 << 20  # bytes of a line that is kept
GZIP = b"\x1f\x8b"
OTHERS = {  # beginnings of files that hold no lines, and what to do about them
    b"\xff\xfe": "UTF-16; save it as UTF-8",
    b"\xfe\xff": "UTF-16; save it as UTF-8",
    b"PK\x03\x04": "a zip archive or a spreadsheet; unpack it, or save it as tab-separated text",
    b"\xfd7zXZ\x00": "compressed with xz; unpack it, or compress it with gzip",
    b"BZh": "compressed with bzip2; unpack it, or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it, or compress it with gzip",
    b"PAR1": "a Parquet file; save it as tab-separated text",
}
# text shrinks to a third or a tenth; what unpacks to this and more is there to fill a memory
TIMES, AT_LEAST = 200, 1 << 28


def long_lines(path: Path) -> Iterator[bytes | None]:
    """The lines without what ends them; None for one of more than a mebibyte.

    A line ends with a line feed. Carriage returns before it are taken off, and what is empty
    after the last one is no line. A file that begins as gzip does is unpacked.

    Raises:
        FileError: the gzip file is damaged, cut off, or unpacks to very much more than text
            would; or the file is of a kind that holds no lines.
        OSError: the file cannot be read.

    """
    left, whole = b"", True  # the beginning of a line; whether it is all of it so far
    for chunk in _chunks(path):
        first, *rest = chunk.split(b"\n")
        left += first if whole else b""
        for after in rest:
            yield _line(left) if whole else None
            left, whole = after, True
        if len(left) > LONGEST:
            left, whole = b"", False
    if left or not whole:
        yield _line(left) if whole else None


def _line(data: bytes) -> bytes | None:
    return data.rstrip(b"\r") if len(data) <= LONGEST else None


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        first = file.read(CHUNK)
        if first.startswith(GZIP):
            yield from _unpacked(path, first, file)
            return
        for beginning, what in OTHERS.items():
            if first.startswith(beginning):
                msg = f"{path}: wanted lines of text, this is {what}"
                raise FileError(msg)
        while first:
            yield first
            first = file.read(CHUNK)


def _unpacked(path: Path, data: bytes, file: BinaryIO) -> Iterator[bytes]:
    """The content of a gzip file; like gzip itself it may be several, one after the other."""
    member = zlib.decompressobj(wbits=31)
    taken, given = len(data), 0

    def more() -> bytes:
        nonlocal taken
        got = file.read(CHUNK)
        taken += len(got)
        return got

    while True:
        try:
            out = member.decompress(data, CHUNK)
        except zlib.error as cause:
            msg = f"{path}: the gzip file is damaged ({cause}); get it again"
            raise FileError(msg) from cause
        given += len(out)
        if given > AT_LEAST and given > TIMES * taken:
            msg = (
                f"{path}: {taken:,} bytes of the gzip file became {given:,}, which no text does; "
                "if it is one all the same, give it unpacked"
            )
            raise FileError(msg)
        if out:
            yield out
        ended = member.eof
        data = (member.unused_data if ended else member.unconsumed_tail) or more()
        if ended:
            data = data.lstrip(b"\0")  # tapes fill up blocks with them
            while not data and (got := more()):
                data = got.lstrip(b"\0")
            if not data:
                return
            member = zlib.decompressobj(wbits=31)
        elif not data and not out:
            msg = f"{path}: the gzip file is cut off, its end is missing; get it again"
            raise FileError(msg)

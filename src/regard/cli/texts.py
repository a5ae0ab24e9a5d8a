"""Texts as they come: from the command line, a file, or standard input."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from os import fsencode
from typing import BinaryIO

from regard.errors import FileError
from regard.tasks.lines import GZIP, OTHERS

__all__ = ["grouped", "lines", "typed", "word"]

LONGEST = 1 << 24  # bytes of a line; what has more is no text
LINES, LETTERS = 256, 100_000  # of a group, at most
ZEROS = 0.25  # the part of a line: UTF-16 has more in any text of few Chinese letters
ESCAPED = re.compile("[\udc80-\udcff]")  # bytes the system's encoding does not have


def word(text: str) -> str:
    """A word of the command line, read as UTF-8 where the system's encoding could not read it."""
    if not ESCAPED.search(text):
        return text
    try:
        return fsencode(text).decode(errors="replace")
    except UnicodeEncodeError:  # halves of surrogate pairs that are no bytes
        return text


def lines(file: BinaryIO, name: str) -> Iterator[str]:
    """Lines end at a line feed and nowhere else; what is no UTF-8 becomes U+FFFD.

    Raises:
        FileError: it is UTF-16, compressed, or for another reason no text.

    """
    first = True
    while line := file.readline(LONGEST + 1):
        _check(line, name, first=first)
        text = line.decode("utf-8-sig" if first else "utf-8", errors="replace")
        yield text.removesuffix("\n").removesuffix("\r")
        first = False


def _check(line: bytes, name: str, *, first: bool) -> None:
    """Raise for a line that is of no text; single bytes of another encoding are none's business."""
    zeros, is_utf_8 = line.count(0), _is_utf_8(line)
    what = ""
    if first and (zeros or not is_utf_8):
        kinds = {GZIP: "compressed with gzip", **OTHERS}
        what = next((said for start, said in kinds.items() if line.startswith(start)), "")
    if not what and (zeros > ZEROS * len(line) or (zeros and not is_utf_8)):
        what = "UTF-16, or no text"
    if not what and len(line) > LONGEST:
        what = f"something with more than {LONGEST >> 20} MiB in a line"
    if what:
        what = what.partition(";")[0]  # without what to do where a table is wanted
        msg = f"{name}: wanted lines of text, this is {what}; give it as plain text in UTF-8"
        raise FileError(msg)


def _is_utf_8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def typed() -> Iterator[str]:
    """The lines of standard input as they come; a person is asked for each."""
    if sys.stdin is None:
        return
    asks = sys.stdin.isatty()
    rest = lines(sys.stdin.buffer, "standard input")
    while True:
        if asks:
            sys.stderr.write("> ")
            sys.stderr.flush()
        line = next(rest, None)
        if line is None:
            sys.stderr.write("\n" * asks)
            return
        yield line


def grouped(texts: Iterable[str]) -> Iterator[list[str]]:
    """Some texts at a time, in their order: few if they are long."""
    group: list[str] = []
    letters = 0
    for text in texts:
        group.append(text)
        letters += len(text)
        if len(group) == LINES or letters >= LETTERS:
            yield group
            group, letters = [], 0
    if group:
        yield group

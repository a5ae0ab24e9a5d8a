"""A text as sentences a translator can take one by one, without losing a character."""

# ruff: noqa: RUF001, RUF002 - the marks of Chinese are meant

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

__all__ = ["sentences"]

LONGEST = 200  # characters of one piece, unless told
CLOSING = "”’\"'»」』）】》〉)\\]}"  # belong to the sentence whose end they follow
OPENING = "“‘「『（【《〈"
HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
ENDS = re.compile(
    rf"[。！？；…｡][。！？；…｡.!?]*[{CLOSING}]*"  # a space after it is not needed
    # from the first of a run only: tried from each of a million marks, the time would be squared
    rf"|(?<![.!?])[.!?]+[{CLOSING}]*(?=\s)"
    rf"|(?<![.!?])[!?]+[{CLOSING}]*(?=[{HAN}{OPENING}])"
)
LINES = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
COMMAS = "，、,；;：:"
ABBREVIATED = re.compile(r"(?<![A-Za-z])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|vs|e\.g|i\.e)\.$")


def sentences(text: str, longest: int = LONGEST) -> list[str]:
    """The sentences of a text; put together they are the text, but for the spaces between them.

    A sentence ends at a line's end, after 。！？；… and after . ! ? with a space behind them, and
    takes closing quotes and brackets along. One longer than ``longest`` characters is cut after
    the last comma in reach, else after the last space, else where it is that long.

    >>> sentences("他说：“好。”然后走了！Mr. Li left. Did he?")
    ['他说：“好。”', '然后走了！', 'Mr. Li left.', 'Did he?']
    """
    found = (
        piece.strip()
        for line in LINES.split(text)
        for sentence in _parted(line, _ends(line))
        for piece in _parted(sentence, _cuts(sentence, max(longest, 1)))
    )
    return [piece for piece in found if piece]


def _parted(text: str, ends: Iterator[int]) -> Iterator[str]:
    start = 0
    for end in ends:
        yield text[start:end]
        start = end
    yield text[start:]


def _ends(line: str) -> Iterator[int]:
    for match in ENDS.finditer(line):
        # what precedes a full stop is short: a slice keeps a long line from being read each time
        if not ABBREVIATED.search(line[max(match.start() - 8, 0) : match.end()]):
            yield match.end()


def _cuts(text: str, longest: int) -> Iterator[int]:
    """Where to cut a text so that no piece, without the spaces around it, is too long."""
    start = 0
    while len(text) - start > longest:
        reach = text[start : start + longest]
        comma = max(reach.rfind(mark) for mark in COMMAS)
        space = max(reach.rfind(" "), reach.rfind("\t"))
        start += (comma if comma > 0 else space if space > 0 else _whole(text, start, longest)) + 1
        yield start


def _whole(text: str, start: int, longest: int) -> int:
    """The last character of a piece of this length, moved so that no accent starts the next."""
    last = longest - 1
    while last > 0 and _leans(text[start + last + 1]):
        last -= 1
    return last if last > 0 else longest - 1


def _leans(letter: str) -> bool:
    """Whether a character belongs to the one before it."""
    return bool(unicodedata.combining(letter)) or letter in "\u200d\ufe0e\ufe0f"

r"""Sentences with their translations, read from a file with a tab between the two.

A row is what lies between two line feeds; no other character ends one. Its first two columns are
source and target, further ones (attribution, a licence) are not looked at. A carriage return at
its end and a byte order mark at the file's start are taken off. Control characters, among them
NUL, U+0085, U+2028 and vertical tabs, count as spaces. Dropped, counted and reported are rows

- longer than 1 MiB,
- with nothing but spaces in them,
- without a tab,
- with bytes that are not UTF-8 in one of the two columns,
- with an empty side,
- with a side longer than ``max_chars`` characters,
- equal to an earlier row of the same file.

A row is dropped by the first of these rules that it breaks. Files may be compressed with gzip,
which is seen from their content.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from regard.errors import FileError, ValueRangeError
from regard.tasks.lines import long_lines

__all__ = ["Dropped", "Pair", "Pairs", "ReadFile", "normalise", "read_pairs"]

LISTED = 20  # line numbers kept for each rule
RULES = {  # a rule, and how rows that break it are called
    "long": "longer than 1 MiB",
    "blank": "without text",
    "tab": "without a tab",
    "utf-8": "with bytes that are not UTF-8",
    "empty": "with an empty side",
    "chars": "with a side of more than {max_chars:,} characters",
    "twice": "equal to an earlier one",
}
WANTED = "wanted are a source and a target in each row, with a tab between them, in UTF-8"
BOM = b"\xef\xbb\xbf"
# U+2581 is how subwords write a space: text that came with it could not be told from one
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2581]")
LONE = re.compile("[\ud800-\udfff]")
SHORT = 1000  # characters whose accents Unicode's own code puts in order soon enough
COMPOSED = 4  # characters that may become one, at most
# the only letters that become accents when they are taken apart
HIDDEN = {ord(x): unicodedata.normalize("NFD", x) for x in "\u0f73\u0f75\u0f81"}


def normalise(text: str) -> str:
    r"""One way to write a text: for training and for translating alike.

    Letters and their accents are one character where Unicode has one (NFC; full-width letters
    stay what they are), control characters are spaces, spaces of any kind and number are one,
    halves of surrogate pairs are U+FFFD. Applied twice it changes nothing more.

    >>> normalise("  cafe\u0301\t\u2028 au lait。\x00"), normalise("\ud800")
    ('café au lait。', '�')
    """
    if not text.isascii():
        text = LONE.sub("\ufffd", text)
        text = unicodedata.normalize("NFC", text if len(text) <= SHORT else _in_order(text))
    return _spaced(text)


def _spaced(text: str) -> str:
    return " ".join(CONTROL.sub(" ", text).split())


def _in_order(text: str) -> str:
    """The same text, equal for Unicode, with each letter's accents in their order.

    Python's NFC inserts them one by one, which takes hours for a million on one letter. In order
    they take no time.
    """
    order, ordered = unicodedata.combining, list[str]()
    for leans, run in groupby(text.translate(HIDDEN), key=lambda letter: order(letter) > 0):
        letters = list(run)
        ordered += sorted(letters, key=order) if leans else letters
    return "".join(ordered)


@dataclass(frozen=True)
class Pair:
    """A sentence, its translation, and the line of the file they stand in, counted from 1."""

    source: str
    target: str
    line: int


@dataclass
class Dropped:
    """Rows that broke one rule: how many, and the first of their line numbers."""

    count: int = 0
    lines: list[int] = field(default_factory=list)

    def add(self, line: int) -> None:
        """Count the row in this line."""
        self.count += 1
        if len(self.lines) < LISTED:
            self.lines.append(line)


@dataclass(frozen=True)
class ReadFile:
    """What was found in one file: its rows, and those dropped by each rule of ``RULES``."""

    path: Path
    rows: int
    dropped: dict[str, Dropped]
    max_chars: int

    @property
    def kept(self) -> int:
        """How many rows are left."""
        return self.rows - sum(dropped.count for dropped in self.dropped.values())

    def report(self) -> list[str]:
        """Lines for a reader: what is left, and which rows are not."""
        name = _shown(self.path)
        lines = [f"{name}: {_counted(self.kept, 'pair')} of {_counted(self.rows, 'row')}"]
        for rule, dropped in self.dropped.items():
            where = ", ".join(map(str, dropped.lines))
            more = dropped.count - len(dropped.lines)
            where += f" and {more:,} more" if more else ""
            few = "line" if dropped.count == 1 else "lines"
            what = RULES[rule].format(max_chars=self.max_chars)
            lines.append(f"{name}: {_counted(dropped.count, 'row')} {what} ({few} {where})")
        return lines

    def loud(self) -> list[str]:
        """A line more, when most rows are gone: it is probably not the file it should be."""
        gone = self.rows - self.kept
        if 2 * gone <= self.rows:
            return []
        name = _shown(self.path)
        return [f"{name}: MORE THAN HALF IS LOST, {gone:,} of {self.rows:,} rows; {WANTED}"]

    def summary(self) -> str:
        """The rules and their counts in half a sentence."""
        if not self.rows:
            return "the file is empty"
        return ", ".join(
            f"{_counted(dropped.count, 'row')} {RULES[rule].format(max_chars=self.max_chars)}"
            for rule, dropped in self.dropped.items()
        )


@dataclass(frozen=True)
class Pairs:
    """The pairs of one or more files, and what became of the other rows."""

    pairs: tuple[Pair, ...]
    files: tuple[ReadFile, ...]

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    @property
    def sources(self) -> list[str]:
        """One side of all pairs."""
        return [pair.source for pair in self.pairs]

    @property
    def targets(self) -> list[str]:
        """The other side."""
        return [pair.target for pair in self.pairs]

    @property
    def dropped(self) -> dict[str, int]:
        """How many rows each rule dropped, over all files."""
        counts = dict.fromkeys(RULES, 0)
        for file in self.files:
            for rule, dropped in file.dropped.items():
                counts[rule] += dropped.count
        return {rule: count for rule, count in counts.items() if count}

    def report(self) -> list[str]:
        """Lines for a reader: loud ones first, then a few for each file."""
        loud = [line for file in self.files for line in file.loud()]
        return loud + [line for file in self.files for line in file.report()]


def read_pairs(*paths: Path, max_chars: int = 2000, unique: bool = True) -> Pairs:
    """Read files of pairs; the rules stand at the top of this module.

    Args:
        paths: text with a tab between source and target, as it is or compressed with gzip.
        max_chars: the most characters a side may have.
        unique: whether a row equal to an earlier one of its file is dropped. A training gains
            nothing from it; a score has to count it.

    Raises:
        FileError: no row of any file can be used, or a compressed one is damaged.
        OSError: a file cannot be read.

    """
    if max_chars < 1:
        msg = f"max_chars must be at least 1, got {max_chars}"
        raise ValueRangeError(msg)
    pairs: list[Pair] = []
    files = tuple(_read(path, max_chars, unique, pairs) for path in paths)
    if not pairs:
        found = "; ".join(f"{_shown(file.path)}: {file.summary()}" for file in files)
        msg = f"{found or 'no file was given'}: no pair is left; {WANTED}"
        raise FileError(msg)
    return Pairs(tuple(pairs), files)


def _read(path: Path, max_chars: int, unique: bool, pairs: list[Pair]) -> ReadFile:  # noqa: FBT001
    """Add the pairs of a file to ``pairs``."""
    seen: set[tuple[str, str]] = set()
    dropped = {rule: Dropped() for rule in RULES}
    line = 0
    for line, row in enumerate(long_lines(path), start=1):
        found = _sides(row.removeprefix(BOM) if line == 1 and row else row, max_chars)
        if isinstance(found, str):
            dropped[found].add(line)
        elif unique and found in seen:
            dropped["twice"].add(line)
        else:
            seen.add(found)
            pairs.append(Pair(*found, line))
    return ReadFile(path, line, {rule: d for rule, d in dropped.items() if d.count}, max_chars)


def _sides(row: bytes | None, max_chars: int) -> tuple[str, str] | str:
    """Source and target, or the rule the row breaks."""
    if row is None:
        return "long"
    if not row.strip(b" "):
        return "blank"
    columns = row.split(b"\t", 2)[:2]
    if len(columns) == 1:
        return "tab"
    try:
        texts = [column.decode() for column in columns]
    except UnicodeDecodeError:
        return "utf-8"
    if max(map(len, texts)) > COMPOSED * max_chars:  # a mebibyte is not normalised to be dropped
        texts = [_spaced(text) for text in texts]
        if all(texts) and max(map(len, texts)) > COMPOSED * max_chars:
            return "chars"
    source, target = map(normalise, texts)
    if not (source and target):
        return "empty"
    if max(len(source), len(target)) > max_chars:
        return "chars"
    return source, target


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _shown(path: Path) -> str:
    """A name as it may stand in a line: without line breaks or a terminal's commands."""
    name = str(path)
    return name if name.isprintable() else repr(name)[1:-1]

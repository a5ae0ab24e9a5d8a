r"""Texts with a label each, read from a file with the label, a tab and the text in each row.

A row is what lies between two line feeds; no other character ends one. What stands before its
first tab is the label, all that follows the text; further tabs count as spaces, and so do
control characters. Carriage returns at a row's end and a byte order mark at the file's start are
taken off. Left out, counted and reported are rows

- longer than 1 MiB,
- with nothing but spaces in them,
- without a tab,
- with bytes that are not UTF-8,
- without a label, or without a text,
- equal to an earlier row of the same file.

A row is left out by the first of these rules that it breaks. No text is cut. Files may be
compressed with gzip, which is seen from their content.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.tasks.findings import Findings, dropped, refuse_nothing, shown
from regard.tasks.pairs import normalise
from regard.tasks.rows import numbered_rows

__all__ = ["Labelled", "LabelledText", "read_labelled"]

MANY = 100  # labels
RULES = {
    "long": "longer than 1 MiB",
    "blank": "without text",
    "tab": "without a tab",
    "utf-8": "with bytes that are not UTF-8",
    "label": "with an empty label",
    "empty": "with an empty text",
    "twice": "equal to an earlier one",
}
WANTED = "wanted are a label and a text in each row, with a tab between them, in UTF-8"


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A label, a text, and the line of the file they stand in, counted from 1."""

    label: str
    text: str
    line: int


@dataclass(frozen=True)
class Labelled:
    """The labelled texts of one or more files, and what became of the other rows."""

    rows: tuple[LabelledText, ...]
    files: tuple[Findings, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[LabelledText]:
        return iter(self.rows)

    @property
    def labels(self) -> list[str]:
        """The label of each row."""
        return [row.label for row in self.rows]

    @property
    def texts(self) -> list[str]:
        """The text of each row."""
        return [row.text for row in self.rows]

    @property
    def dropped(self) -> dict[str, int]:
        """How many rows each rule left out, over all files."""
        return dropped(self.files)

    def report(self) -> list[str]:
        """Lines for a reader: loud ones first, then a few for each file."""
        lines = [line for file in self.files for line in file.loud()]
        labels = len(set(self.labels))
        if labels > MANY and 2 * labels > len(self.rows):
            names = ", ".join(shown(file.path) for file in self.files)
            lines.append(
                f"{names}: {labels:,} DIFFERENT LABELS in {len(self.rows):,} rows; does the label "
                "stand before the text?"
            )
        for file in self.files:
            lines += file.report("text")
        return lines


def read_labelled(*paths: Path, unique: bool = True) -> Labelled:
    """Read files of labels and texts; the rules stand at the top of this module.

    Args:
        paths: text with a tab after the label, as it is or compressed with gzip.
        unique: whether a row equal to an earlier one of its file is left out. In a training it
            could stand on both sides of a split; a score has to count it.

    Raises:
        FileError: no row of any file can be used, or a compressed one is damaged.
        OSError: a file cannot be read.

    """
    rows: list[LabelledText] = []
    files = tuple(_read(path, rows, unique=unique) for path in paths)
    refuse_nothing(files, "text", WANTED)
    return Labelled(tuple(rows), files)


def _read(path: Path, rows: list[LabelledText], *, unique: bool) -> Findings:
    """Add the rows of a file to ``rows``."""
    found = Findings(path, "row", RULES, WANTED)
    seen: set[tuple[str, str]] = set()
    for line, row in numbered_rows(path):
        read = _sides(row)
        if isinstance(read, str):
            found.leave_out(read, line)
        elif unique and read in seen:
            found.leave_out("twice", line)
        else:
            seen.add(read)
            rows.append(LabelledText(*read, line))
            found.kept += 1
    return found


def _sides(row: bytes | None) -> tuple[str, str] | str:
    """Label and text, or the rule the row breaks."""
    if row is None:
        return "long"
    if not row.strip(b" "):
        return "blank"
    left, tab, right = row.partition(b"\t")
    if not tab:
        return "tab"
    try:
        label, text = normalise(left.decode()), normalise(right.decode())
    except UnicodeDecodeError:
        return "utf-8"
    if not label:
        return "label"
    return (label, text) if text else "empty"

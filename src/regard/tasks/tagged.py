r"""Sentences with a label for each word, read from a TSV file or from CoNLL-U.

A row is what lies between two line feeds; no other character ends one. A row with nothing but
spaces in it ends a sentence; several are as good as one. Carriage returns at a row's end and a
byte order mark at the file's start are taken off. Files may be compressed with gzip, which is
seen from their content.

TSV: the word, then its label, then perhaps another, with tabs between them. The label UPOS is
the second column, XPOS the third; further columns are not looked at. Rows that begin with ``#``
and a space are comments; a ``#`` before a tab is a word.

CoNLL-U: ten columns, the first of them a number; a file is one if its first row of words is.
Rows that begin with ``#`` are comments. Words that were written as one (``1-2``) and words that
were not written (``1.1``) are passed over: what counts are the words that have labels. ``_`` is
no label.

Words and labels are normalised as all text is (`regard.tasks.pairs.normalise`): control
characters, among them U+2028, count as spaces, and a word may have spaces within. Left out,
counted and reported are sentences

- with a row longer than 1 MiB,
- with a row of CoNLL-U that has not ten columns, or no number in the first,
- with a row that has not the column of the label, or nothing in it,
- with bytes that are not UTF-8 in one of the columns that are read,
- with a row that has no word,
- with a word of more than 1,000 characters,
- without words: comments alone.

A sentence is left out as a whole, since a word that is missing would change what the others
stand beside; by its first row that breaks a rule, whose number is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from regard.errors import ValueRangeError
from regard.tasks.findings import Findings, counted, dropped, refuse_nothing
from regard.tasks.pairs import normalise
from regard.tasks.rows import Row, numbered_rows

__all__ = ["COLUMNS", "Sentence", "Tagged", "read_tagged"]

COLUMNS = {"UPOS": (1, 3), "XPOS": (2, 4)}  # places in a TSV and in CoNLL-U, counted from 0
FIELDS = 10  # columns of CoNLL-U
LONGEST = 1000  # characters of a word
SUSPICIOUS = 1000  # words of a sentence: more are a file without empty lines
NUMBER = re.compile(rb"(\d{1,9})([-.]\d{1,9})?")
RULES = {
    "long": "with a row longer than 1 MiB",
    "columns": "with a row that has not the ten columns of CoNLL-U",
    "label": "with a word without label",
    "utf-8": "with bytes that are not UTF-8",
    "word": "with a label without word",
    "chars": f"with a word of more than {LONGEST:,} characters",
    "empty": "without words",
}
WANTED = (
    "wanted are a word and its label in each row, with a tab between them, in UTF-8, and an "
    "empty row after each sentence; or CoNLL-U"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words, a label for each, and the line of the file the first one stands in.

    ``also`` holds the labels of a second column, "" where there is none, or nothing at all if
    no second column was asked for.
    """

    words: tuple[str, ...]
    labels: tuple[str, ...]
    line: int
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tagged:
    """The sentences of one or more files, and what became of the others."""

    sentences: tuple[Sentence, ...]
    files: tuple[Findings, ...]
    words: tuple[int, ...]  # in each file

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    @property
    def dropped(self) -> dict[str, int]:
        """How many sentences each rule left out, over all files."""
        return dropped(self.files)

    def report(self) -> list[str]:
        """Lines for a reader: loud ones first, then a few for each file."""
        lines = [line for file in self.files for line in file.loud()]
        longest = max(self.sentences, key=lambda sentence: len(sentence.words), default=None)
        if longest and len(longest.words) > SUSPICIOUS:
            lines.append(
                f"the sentence of line {longest.line:,} has {len(longest.words):,} words; is "
                "there an empty row after each sentence?"
            )
        for file, words in zip(self.files, self.words, strict=True):
            lines += file.report("sentence", f", {counted(words, 'word')}")
        return lines


def read_tagged(*paths: Path, column: str = "UPOS", also: str = "") -> Tagged:
    """Read files of words with labels; the rules stand at the top of this module.

    Args:
        paths: TSV or CoNLL-U, as it is or compressed with gzip.
        column: which label: "UPOS" or "XPOS".
        also: a second label to read where it is there; "" for none.

    Raises:
        FileError: no sentence of any file can be used, or a compressed one is damaged.
        OSError: a file cannot be read.

    """
    for name in (column, also) if also else (column,):
        if name not in COLUMNS:
            msg = f"the column of the labels must be one of {', '.join(COLUMNS)}; got {name!r}"
            raise ValueRangeError(msg)
    sentences: list[Sentence] = []
    files, words = [], []
    for path in paths:
        found = Findings(path, "sentence", RULES, WANTED)
        before = len(sentences)
        _read(found, sentences, column, also)
        found.kept = len(sentences) - before
        files.append(found)
        words.append(sum(len(sentence.words) for sentence in sentences[before:]))
    refuse_nothing(tuple(files), "sentence", WANTED)
    return Tagged(tuple(sentences), tuple(files), tuple(words))


def _read(found: Findings, sentences: list[Sentence], column: str, also: str) -> None:
    """Add the sentences of a file to ``sentences``."""
    ten: bool | None = None  # whether it is CoNLL-U; not known before the first row of words
    for block in _blocks(found.path):
        if ten is None:
            ten = _is_ten(block)
        places = [COLUMNS[name][bool(ten)] for name in (column, also) if name]
        read = _sentence(block, places, ten=bool(ten))
        if isinstance(read, Sentence):
            sentences.append(read)
        else:
            found.leave_out(*read)


def _blocks(path: Path) -> Iterator[list[Row]]:
    """The rows between empty ones."""
    block: list[Row] = []
    for line, row in numbered_rows(path):
        if row is None or row.strip(b" "):
            block.append((line, row))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _is_ten(block: list[Row]) -> bool | None:
    """Whether these rows are CoNLL-U; None if there is no row of words to see it from."""
    for _, row in block:
        if row is not None and not row.startswith(b"#"):
            fields = row.split(b"\t")
            return len(fields) == FIELDS and NUMBER.fullmatch(fields[0]) is not None
    return None


def _sentence(block: list[Row], places: list[int], *, ten: bool) -> Sentence | tuple[str, int]:
    """The words and labels of some rows, or the rule that is broken and in which line."""
    words: list[str] = []
    labels: list[str] = []
    more: list[str] = []
    first = block[0][0]
    for line, row in block:
        if row is None:
            return "long", line
        if row.startswith(b"#" if ten else b"# "):
            continue
        fields = row.split(b"\t")
        if ten:
            number = NUMBER.fullmatch(fields[0])
            if len(fields) != FIELDS or number is None:
                return "columns", line
            if number[2]:
                continue
        read = _word(fields[1 if ten else 0], [fields[p : p + 1] for p in places], ten=ten)
        if isinstance(read, str):
            return read, line
        if not words:
            first = line
        word, label, *rest = read
        words.append(word)
        labels.append(label)
        more += rest
    if not words:
        return "empty", first
    return Sentence(tuple(words), tuple(labels), first, tuple(more))


def _word(word: bytes, labels: list[list[bytes]], *, ten: bool) -> list[str] | str:
    """A word and its labels, or the rule it breaks."""
    try:
        texts = [_text(word), *(_text(label[0]) if label else "" for label in labels)]
    except UnicodeDecodeError:
        return "utf-8"
    if max(map(len, texts)) > LONGEST:
        return "chars"
    if ten:
        texts[1:] = ["" if text == "_" else text for text in texts[1:]]
    if not texts[1]:
        return "label"
    return texts if texts[0] else "word"


@lru_cache(maxsize=1 << 16)  # most words of a text are others' again
def _text(column: bytes) -> str:
    return normalise(column.decode())

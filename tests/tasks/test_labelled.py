"""Files of labels and texts: what is read, what is left out, what is refused."""

import gzip
import time
from pathlib import Path

import pytest

from regard.errors import FileError
from regard.tasks.labelled import LabelledText, read_labelled
from tests.tasks.mutated import fuzz

WANTED = "wanted are a label and a text in each row, with a tab between them, in UTF-8"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(content, name="a.tsv"):
    path = Path(name)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "label", "text"),
    [
        ("good\tI liked it.\n", "good", "I liked it."),
        ("good\ta\tb\tc", "good", "a b c"),  # all that follows is the text
        ("\ufeff good \t a  b \r\n", "good", "a b"),
        ("très bon\tcafe\u0301", "très bon", "café"),
        ("x\ta\u2028b\x00c", "x", "a b c"),
        ("1\t" + "word " * 100_000, "1", "word " * 99_999 + "word"),  # nothing is cut
        (gzip.compress(b"x\ty\n"), "x", "y"),
    ],
)
def test_a_row_that_is_read(content, label, text):
    read = read_labelled(write(content))
    assert read.rows == (LabelledText(label, text, 1),)
    assert (read.labels, read.texts) == ([label], [text])
    assert read.report() == ["a.tsv: 1 text"]
    assert read.dropped == {}


GOOD = "".join(f"{i % 2}\t{i}\n" for i in range(30))


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        ("no tab\n", "1 row without a tab (line 31)"),
        ("\n  \n", "2 rows without text (lines 31, 32)"),
        ("\ttext\n", "1 row with an empty label (line 31)"),
        ("\u3000\ttext\n", "1 row with an empty label (line 31)"),
        ("a\t \t\u2028\n", "1 row with an empty text (line 31)"),
        (b"a\t\xff\n", "1 row with bytes that are not UTF-8 (line 31)"),
        (b"\xe9\ta\n", "1 row with bytes that are not UTF-8 (line 31)"),
        ("1\t3\n", "1 row equal to an earlier one (line 31)"),
        ("x\t" + "x" * (1 << 21) + "\n", "1 row longer than 1 MiB (line 31)"),
    ],
)
def test_a_row_that_is_left_out(content, reported):
    extra = content if isinstance(content, bytes) else content.encode()
    read = read_labelled(write(GOOD.encode() + extra))
    rows = 30 + int(reported.split()[0])
    assert read.report() == [f"a.tsv: 30 texts of {rows} rows", f"a.tsv: {reported}"]


def test_accents_take_no_squared_time():
    begun = time.process_time()
    read = read_labelled(write("x\t" + "\u0301\u0316" * 200_000 + "\n"))
    assert time.process_time() - begun < 10  # minutes, if they were put in order one by one
    assert read.texts == ["\u0316" * 200_000 + "\u0301" * 200_000]


def test_equal_rows_stay_when_asked_for_and_across_files():
    path = write("a\tb\na\tb\n")
    assert len(read_labelled(path, unique=False)) == 2
    assert len(read_labelled(path, path)) == 2


def test_columns_that_are_swapped_are_told_of():
    rows = "".join(f"text {i}\tgood\n" for i in range(101))
    assert read_labelled(write(rows)).report()[0] == (
        "a.tsv: 101 DIFFERENT LABELS in 101 rows; does the label stand before the text?"
    )
    for labels in (2, 101):
        rows = "".join(f"label {i % labels}\ttext {i}\n" for i in range(300))
        assert read_labelled(write(rows)).report() == ["a.tsv: 300 texts"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", f"a.tsv: no row is there: no text is left; {WANTED}"),
        ("a,b\nc,d\n", f"a.tsv: 2 rows without a tab: no text is left; {WANTED}"),
        (
            b"PK\x03\x04rest",
            "a.tsv: wanted lines of text, this is a zip archive or a spreadsheet; unpack it, or "
            "save it as tab-separated text",
        ),
    ],
)
def test_a_file_that_is_refused(content, message):
    with pytest.raises(FileError) as raised:
        read_labelled(write(content))
    assert str(raised.value) == message


def test_changed_bytes_never_raise_anything_else():
    valid = [GOOD.encode(), gzip.compress(GOOD.encode())]
    good, refused = fuzz(lambda p: read_labelled(p).report(), Path("f"), valid, count=150)
    assert good > 50
    assert refused > 10

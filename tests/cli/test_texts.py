"""Texts from the command line, files and standard input: read, or refused in words."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import zipfile

import pytest

from regard.cli import texts
from regard.errors import FileError

CHINESE = "你好。\n我喜欢喝茶。\n"
WORDS = "Good morning.\nHow are you?\n"


def read(data):
    return list(texts.lines(io.BytesIO(data), "a.txt"))


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n\nb\r\n", ["a", "", "b"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", ["a", "\ufeffb"]),
        (b"a\xffb\n", ["a\ufffdb"]),
        ("a\u2028b\x0cc\x85\n".encode(), ["a\u2028b\x0cc\x85"]),
        (b"three\x00words\x00here\n", ["three\x00words\x00here"]),  # as text may have them
        (b"PK is no archive\nBZh\nPAR1", ["PK is no archive", "BZh", "PAR1"]),
        (b"BZh\n", ["BZh"]),
    ],
)
def test_lines(data, wanted):
    assert read(data) == wanted


def zipped():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", CHINESE)
    return out.getvalue()


UNSURE = "UTF-16, or no text"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        *((text.encode("utf-16"), "UTF-16") for text in (CHINESE, WORDS, "", "a")),
        (b"\xfe\xff" + CHINESE.encode("utf-16-be"), "UTF-16"),
        (CHINESE.encode("utf-16-le"), UNSURE),
        (CHINESE.encode("utf-16-be"), UNSURE),
        (WORDS.encode("utf-16-le"), UNSURE),
        (WORDS.encode("utf-16-be"), UNSURE),
        (WORDS.encode("utf-32-be"), UNSURE),
        (bytes(1000), UNSURE),
        (gzip.compress(CHINESE.encode()), "compressed with gzip"),
        (bz2.compress(CHINESE.encode()), "compressed with bzip2"),
        (lzma.compress(CHINESE.encode()), "compressed with xz"),
        (zipped(), "a zip archive or a spreadsheet"),
    ],
)
def test_what_is_no_text_is_refused(data, what):
    with pytest.raises(FileError) as raised:
        read(data)
    assert str(raised.value) == (
        f"a.txt: wanted lines of text, this is {what}; give it as plain text in UTF-8"
    )


def test_a_line_without_end_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(texts, "LONGEST", 1 << 20)

    class Endless(io.RawIOBase):
        given = 0

        def readable(self):
            return True

        def readinto(self, buffer):
            self.given += len(buffer)
            assert self.given < 1 << 23
            buffer[:] = b"a" * len(buffer)
            return len(buffer)

    endless = Endless()
    with pytest.raises(FileError, match="something with more than 1 MiB in a line; give it as"):
        list(texts.lines(io.BufferedReader(endless), "a.txt"))
    assert [len(line) for line in read(b"a" * (1 << 20))] == [1 << 20]


def test_groups_are_of_many_short_lines_or_of_few_long_ones(monkeypatch):
    monkeypatch.setattr(texts, "LINES", 3)
    monkeypatch.setattr(texts, "LETTERS", 10)
    given = ["a"] * 4 + ["b" * 6, "c" * 30, "d" * 9, "", "e"]
    assert list(texts.grouped(given)) == [
        ["a"] * 3, ["a", "b" * 6, "c" * 30], ["d" * 9, "", "e"]
    ]  # fmt: skip
    assert list(texts.grouped([])) == []
    assert list(texts.grouped(["c" * 30, "d"])) == [["c" * 30], ["d"]]


def test_words_of_the_command_line(monkeypatch):
    monkeypatch.setattr(texts, "fsencode", lambda x: x.encode("utf-8", "surrogateescape"))
    for text in ("你好", "a", "", "é", "\ud800"):
        assert texts.word(text) == text
    assert texts.word("a\udcff") == "a\ufffd"
    assert texts.word("\udcff\ud800") == "\udcff\ud800"  # no bytes of anybody's
    monkeypatch.setattr(texts, "fsencode", lambda x: x.encode("ascii", "surrogateescape"))
    assert texts.word("你好".encode().decode("ascii", "surrogateescape")) == "你好"


def test_words_under_the_plainest_locale():
    code = "import sys; from regard.cli import texts; print(ascii(texts.word(sys.argv[1])))"
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code, "你好".encode()],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **plain},
    )
    assert done.stdout == ascii("你好") + "\n"

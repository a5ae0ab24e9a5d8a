"""Files of pairs: what is read, what is dropped by which rule, what is refused in which words."""
# ruff: noqa: RUF001 - full-width characters have to stay what they are

import gzip
import os
import random
import threading
import time
import tracemalloc
import unicodedata
from pathlib import Path

import pytest

from regard.cli import main as cli
from regard.errors import FileError, ValueRangeError
from regard.tasks import pairs as pairs_module
from regard.tasks.pairs import Pair, normalise, read_pairs

WANTED = "wanted are a source and a target in each row, with a tab between them, in UTF-8"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Messages name files as they were given: short ones, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(content, name="a.tsv"):
    path = Path(name)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def sides(pairs):
    return [(pair.source, pair.target) for pair in pairs]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("你好。\thello\n", ("你好。", "hello")),
        ("a\tb", ("a", "b")),  # no line feed at the end
        ("a\tb\r\n", ("a", "b")),
        ("a\tb\r\r\n", ("a", "b")),
        ("\ufeffa\tb\n", ("a", "b")),
        ("a\tb\tCC-BY 2.0\t#1\n", ("a", "b")),
        (b"a\tb\t\xff\xfe not UTF-8, not looked at\n", ("a", "b")),
        ("a\tb" + "\t" * 1_000_000 + "\n", ("a", "b")),
        ("  a   b \t c\u3000\u00a0d  \n", ("a b", "c d")),
        ("a\u2028b\tc\u2029d\n", ("a b", "c d")),
        ("a\u0085b\tc\vd\n", ("a b", "c d")),
        ("a\fb\tc\rd\n", ("a b", "c d")),
        ("a\x1cb\tc\x1d\x1ed\n", ("a b", "c d")),
        ("a\x00b\t\x07c\x7f\n", ("a b", "c")),
        ("cafe\u0301\tcaf\u00e9\n", ("café", "café")),
        ("ＡＢ１２\tAB12\n", ("ＡＢ１２", "AB12")),
        ("▁a▁b\tx\n", ("a b", "x")),
        ("👩\u200d💻\tx\n", ("👩\u200d💻", "x")),  # joined by a character of no width
        ("ب\tx\n", ("ب", "x")),
    ],
)
def test_a_row_that_is_read(content, expected):
    pairs = read_pairs(write(content))
    assert sides(pairs) == [expected]
    assert pairs.report() == ["a.tsv: 1 pair of 1 row"]
    assert pairs.dropped == {}


GOOD = "".join(f"{i}\t{i}\n" for i in range(30))  # lines 1 to 30, so that nothing is loud


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        ("no tab\n", "1 row without a tab (line 31)"),
        ("no tab", "1 row without a tab (line 31)"),
        ("no tab\nx\ty\nnone\n", "2 rows without a tab (lines 31, 33)"),
        ("\n", "1 row without text (line 31)"),
        ("\n   \n\r\n", "3 rows without text (lines 31, 32, 33)"),
        ("\tb\n", "1 row with an empty side (line 31)"),
        ("a\t\n", "1 row with an empty side (line 31)"),
        ("\t\n", "1 row with an empty side (line 31)"),
        ("a\t\tb\n", "1 row with an empty side (line 31)"),
        ("a\t \u3000\x00\u2028\n", "1 row with an empty side (line 31)"),
        (b"a\xff\tb\n", "1 row with bytes that are not UTF-8 (line 31)"),
        (b"a\tcaf\xe9\n", "1 row with bytes that are not UTF-8 (line 31)"),  # Latin-1
        (b"a\t\xed\xa0\x80\n", "1 row with bytes that are not UTF-8 (line 31)"),  # a surrogate
        (b"a\t\xc0\xaf\n", "1 row with bytes that are not UTF-8 (line 31)"),  # overlong
        (b"a\t\xe4\xbd\n", "1 row with bytes that are not UTF-8 (line 31)"),  # cut off
        (b"a\t\xf4\x90\x80\x80\n", "1 row with bytes that are not UTF-8 (line 31)"),  # > U+10FFFF
        ("3\t3\n", "1 row equal to an earlier one (line 31)"),
        (" 3\t3 \r\n", "1 row equal to an earlier one (line 31)"),
        ("a\t" + "b" * 41 + "\n", "1 row with a side of more than 40 characters (line 31)"),
        ("你" * 41 + "\tb\n", "1 row with a side of more than 40 characters (line 31)"),
        ("x" * (1 << 20) + "\tb\n", "1 row longer than 1 MiB (line 31)"),
        ("x" * (1 << 21), "1 row longer than 1 MiB (line 31)"),
        (
            "?\n" * 23,
            "23 rows without a tab (lines " + ", ".join(map(str, range(31, 51))) + " and 3 more)",
        ),
    ],
)
def test_a_row_that_is_dropped(content, reported):
    start = GOOD.encode()
    extra = content if isinstance(content, bytes) else content.encode()
    pairs = read_pairs(write(start + extra), max_chars=40)
    first, second = pairs.report()
    assert second == f"a.tsv: {reported}"
    assert sides(pairs)[:30] == [(str(i), str(i)) for i in range(30)]
    count = int(reported.split()[0])
    assert sum(pairs.dropped.values()) == count
    rows = len(pairs) + count
    assert first == f"a.tsv: {len(pairs)} pairs of {rows} rows"


def test_every_rule_at_once_and_the_lines_of_what_is_left():
    long = b"l" * ((1 << 20) + 1)
    content = [b"a\tb", b"", b"none", b"\xff\tb", b"\tb", b"a\t" + b"c" * 50, b"a\tb", long]
    more = [b"%d\tx" % i for i in range(10)]
    pairs = read_pairs(write(b"\n".join(content + more)), max_chars=49)
    assert pairs.report() == [
        "a.tsv: 11 pairs of 18 rows",
        "a.tsv: 1 row longer than 1 MiB (line 8)",
        "a.tsv: 1 row without text (line 2)",
        "a.tsv: 1 row without a tab (line 3)",
        "a.tsv: 1 row with bytes that are not UTF-8 (line 4)",
        "a.tsv: 1 row with an empty side (line 5)",
        "a.tsv: 1 row with a side of more than 49 characters (line 6)",
        "a.tsv: 1 row equal to an earlier one (line 7)",
    ]
    assert pairs.pairs[0] == Pair("a", "b", 1)
    assert [pair.line for pair in pairs][1:] == list(range(9, 19))
    assert pairs.sources[1:] == [str(i) for i in range(10)]
    assert pairs.targets == ["b"] + ["x"] * 10


def test_most_rows_lost_is_said_loudly_and_first():
    path = write("a\tb\nc\nd\n")
    other = write("x\ty\n", "b.tsv")
    assert read_pairs(other, path).report() == [
        f"a.tsv: MORE THAN HALF IS LOST, 2 of 3 rows; {WANTED}",
        "b.tsv: 1 pair of 1 row",
        "a.tsv: 1 pair of 3 rows",
        "a.tsv: 2 rows without a tab (lines 2, 3)",
    ]
    assert read_pairs(write("a\tb\nc\n")).report()[0] == "a.tsv: 1 pair of 2 rows"  # half is not


def test_equal_rows_stay_when_asked_for_and_across_files():
    path = write("a\tb\na\tb\n")
    assert len(read_pairs(path, unique=False)) == 2
    assert len(read_pairs(path, path)) == 2


def test_a_name_that_would_break_the_report():
    path = write("a\tb\n", "x\ny\x1b[31m.tsv")
    assert read_pairs(path).report() == ["x\\ny\\x1b[31m.tsv: 1 pair of 1 row"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", f"a.tsv: the file is empty: no pair is left; {WANTED}"),
        ("\n", f"a.tsv: 1 row without text: no pair is left; {WANTED}"),
        ("\ufeff", f"a.tsv: 1 row without text: no pair is left; {WANTED}"),
        (
            "a\nb\n\tc\n",
            "a.tsv: 2 rows without a tab, 1 row with an empty side: no pair is left; " + WANTED,
        ),
        (gzip.compress(b""), f"a.tsv: the file is empty: no pair is left; {WANTED}"),
        (
            "a\tb\n".encode("utf-16"),
            "a.tsv: wanted lines of text, this is UTF-16; save it as UTF-8",
        ),
        (
            b"PK\x03\x04rest",
            "a.tsv: wanted lines of text, this is a zip archive or a spreadsheet; "
            "unpack it, or save it as tab-separated text",
        ),
        (
            gzip.compress(b"a\tb\n" * 50)[:-9],
            "a.tsv: the gzip file is cut off, its end is missing; get it again",
        ),
        (
            gzip.compress(b"a\tb\n")[:5],
            "a.tsv: the gzip file is cut off, its end is missing; get it again",
        ),
        (
            gzip.compress(b"a\tb\n")[:-8] + bytes(8),
            "a.tsv: the gzip file is damaged "
            "(Error -3 while decompressing data: incorrect data check); get it again",
        ),
        (
            b"\x1f\x8bnot really",
            "a.tsv: the gzip file is damaged "
            "(Error -3 while decompressing data: unknown compression method); get it again",
        ),
        (
            gzip.compress(b"a\tb\n") + b"rubbish",
            "a.tsv: the gzip file is damaged "
            "(Error -3 while decompressing data: incorrect header check); get it again",
        ),
    ],
)
def test_a_file_that_is_refused(content, message):
    with pytest.raises(FileError) as raised:
        read_pairs(write(content))
    assert str(raised.value) == message


def test_several_files_with_nothing_in_them_and_none_at_all():
    with pytest.raises(FileError) as raised:
        read_pairs(write(""), write("x\n", "b.tsv"))
    assert str(raised.value) == (
        "a.tsv: the file is empty; b.tsv: 1 row without a tab: no pair is left; " + WANTED
    )
    with pytest.raises(FileError, match=r"^no file was given: no pair is left;"):
        read_pairs()


def test_arguments_that_are_refused():
    with pytest.raises(ValueRangeError, match=r"^max_chars must be at least 1, got 0$"):
        read_pairs(write("a\tb\n"), max_chars=0)
    with pytest.raises(FileNotFoundError):
        read_pairs(Path("none.tsv"))
    with pytest.raises(IsADirectoryError):
        read_pairs(Path())


def test_it_is_one_line_and_exit_code_2(monkeypatch, capsys):
    monkeypatch.setattr(cli, "_dispatch", lambda words: len(read_pairs(Path(words[0]))))
    assert cli.main([str(write("a\nb\n"))]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == (
        "",
        f"regard: a.tsv: 2 rows without a tab: no pair is left; {WANTED}\n",
    )


def test_gzip_is_seen_from_the_content():
    text = "".join(f"{i}\tй {i}\n" for i in range(22_000)).encode()  # several chunks
    cut = len(text) // 3
    expected = sides(read_pairs(write(text)))
    assert len(expected) == 22_000
    for packed in (
        gzip.compress(text),
        gzip.compress(text[:cut]) + gzip.compress(text[cut:]),  # as `cat a.gz b.gz` makes it
        gzip.compress(text) + bytes(700_000),  # as tapes fill up a block
    ):
        assert sides(read_pairs(write(packed, "b.tsv"))) == expected


def test_memory_does_not_grow_with_a_line():
    write("a\tb\n")
    packed = gzip.compress(b"x" * (100 << 20) + b"\n" + b"c\td\n", 1)
    path = write(gzip.compress(b"a\tb\n") + packed, "big.tsv.gz")
    tracemalloc.start()
    try:
        pairs = read_pairs(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sides(pairs) == [("a", "b"), ("c", "d")]
    assert peak < 8 << 20


def test_a_pipe_is_read():
    os.mkfifo("pipe")
    content = gzip.compress(b"a\tb\n" + b"c\td\n")
    writer = threading.Thread(target=Path("pipe").write_bytes, args=(content,))
    writer.start()
    assert sides(read_pairs(Path("pipe"))) == [("a", "b"), ("c", "d")]
    writer.join()


def test_normalising_twice_is_normalising_once():
    draw = random.Random(0)
    alphabet = [chr(c) for c in (*range(0x350), *range(0x1100, 0x1200), *range(0x1F00, 0x2060))]
    alphabet += ["\u2581", "\u3000", "\ud800", "\udfff", "\ufeff", "가", "각", "Å", "Ω", "你"]
    for _ in range(3000):
        text = "".join(draw.choices(alphabet, k=draw.randrange(12)))
        once = normalise(text)
        assert normalise(once) == once
        assert unicodedata.is_normalized("NFC", once)
        assert once.encode().decode() == once
        assert once == once.strip()
        assert "  " not in once
        assert not any(unicodedata.category(c) in {"Cc", "Zl", "Zp"} for c in once)


LEANING = [chr(c) for c in range(0x300, 0x370)] + ["\u0f73", "\u0f75", "\u0f81", "\u05b0", "\u3099"]


def test_a_long_text_is_normalised_as_a_short_one_is():
    draw = random.Random(1)
    alphabet = [*LEANING, *"aeé你 ", "각", "\u1100", "\u1161", "\u0f71", "\u09c7", "\u09be"]
    for _ in range(30):
        text = "".join(draw.choices(alphabet, k=1500))
        wanted = " ".join(unicodedata.normalize("NFC", text).split())
        assert normalise(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "a" + "\u0301" * 150_000 + "\u0316" * 150_000,
        "a" + "\u0301\u0316" * 150_000,
        "\u0f73" * 150_000,
    ],
    ids=["one kind after another", "in turn", "hidden in letters"],
)
def test_any_number_of_accents_is_normalised_in_no_time(text):
    start = time.process_time()
    once = normalise(text)
    assert time.process_time() - start < 5  # Python's own code takes minutes
    assert normalise(once) == once


def test_a_row_that_is_too_long_is_dropped_before_it_is_normalised(monkeypatch):
    monkeypatch.setattr(pairs_module, "normalise", lambda text: pytest.fail(f"{len(text)} letters"))
    with pytest.raises(FileError, match="1 row with a side of more than 40 characters"):
        read_pairs(write("a\t" + "e\u0301" * 81 + "\n"), max_chars=40)


@pytest.mark.parametrize(
    ("side", "kept"),
    [
        ("α\u0313\u0300\u0345" * 40, "ᾂ" * 40),  # four characters become one, and no more do
        ("b" + " " * 500 + "c\x00" * 2 + "\u2028" * 300 + "d", "b c c d"),
        ("ᄀ\u1161\u11a8" * 40, "각" * 40),
    ],
)
def test_a_row_that_is_long_only_as_it_is_written_is_kept(side, kept):
    assert sides(read_pairs(write(f"a\t{side}\n"), max_chars=40)) == [("a", kept)]


def test_a_long_side_beside_an_empty_one_is_an_empty_side():
    path = write(GOOD + " \t" + "x" * 500 + "\n")
    assert read_pairs(path, max_chars=40).dropped == {"empty": 1}


def test_what_normalising_leaves_alone():
    text = "他说：“好。！？，” ＡＢ１２ ﬁ ½ 👩\u200d💻 İ"
    assert normalise(text) == text

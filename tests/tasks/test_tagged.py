"""Files of words with labels: what is a sentence, what is left out, what is refused."""

import gzip
from pathlib import Path

import pytest

from regard.errors import FileError, ValueRangeError
from regard.tasks.tagged import Sentence, read_tagged
from tests.tasks.mutated import fuzz

WANTED = (
    "wanted are a word and its label in each row, with a tab between them, in UTF-8, and an "
    "empty row after each sentence; or CoNLL-U"
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(content, name="a.tsv"):
    path = Path(name)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(content, **options):
    return [(s.words, s.labels) for s in read_tagged(write(content), **options)]


TWO = [(("a", "b"), ("X", "Y")), (("c",), ("Z",))]


@pytest.mark.parametrize(
    "content",
    [
        "a\tX\nb\tY\n\nc\tZ\n\n",
        "a\tX\nb\tY\n\nc\tZ",  # no line feed at the end
        "\n\n  \na\tX\nb\tY\n\n\n \n\nc\tZ\n\n\n",
        "a\tX\r\nb\tY\r\n\r\nc\tZ\r\n",
        "\ufeffa\tX\nb\tY\n\nc\tZ\n",
        "a\tX\tx\nb\tY\ty\tmore\tcolumns\n\nc\tZ\n",  # mixed numbers of columns
        "# a comment\na\tX\n# another\twith a tab\nb\tY\n\nc\tZ\n",
        " a \t X \nb\tY\n\nc\tZ\n",
        b"a\tX\t\xff not looked at\nb\tY\n\nc\tZ\n",
        gzip.compress(b"a\tX\nb\tY\n\nc\tZ\n"),
    ],
)
def test_sentences_are_what_lies_between_empty_rows(content):
    assert read(content) == TWO


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("a\u2028b", "a b"),  # U+2028 ends no row, and is a space
        ("10 000", "10 000"),
        ("a\u00a0\u3000b", "a b"),
        ("cafe\u0301", "café"),
        ("#", "#"),
        ("#tag", "#tag"),
        ("_", "_"),
        ("a\x00b", "a b"),
        ("x" * 1000, "x" * 1000),
        ("1-2", "1-2"),
    ],
)
def test_words_as_they_may_be_written(written, word):
    assert read(f"{written}\tX\nb\tY\n") == [((word, "b"), ("X", "Y"))]


def test_columns_and_lines():
    path = write("# c\na\tX\tx\nb\tY\ty\n\n\nc\tZ\tz\n")
    assert read_tagged(path, column="XPOS", also="UPOS").sentences == (
        Sentence(("a", "b"), ("x", "y"), 2, ("X", "Y")),
        Sentence(("c",), ("z",), 6, ("Z",)),
    )
    assert read_tagged(path).sentences[0].also == ()
    path = write("a\tX\tx\nb\tY\nc\tZ\t\n")  # a second label may be missing
    assert read_tagged(path, also="XPOS").sentences[0].also == ("x", "", "")


CONLLU = """# newdoc id = 1
# text = vámonos al mar\twith a tab
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\tv1\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\tp1\t_\t1\tobj\t_\t_
2.1\tsilent\tsilent\tVERB\tv2\t_\t_\t_\t0:root\t_
3\t#\t#\tSYM\ts\t_\t1\tdep\t_\t_
4\t_\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_

#sent_id=2
1\t10 000\t10 000\tNUM\tn\t_\t0\troot\t_\t_
"""


def test_conllu_is_seen_from_its_columns():
    assert read_tagged(write(CONLLU), also="XPOS").sentences == (
        Sentence(
            ("vamos", "nos", "#", "_"),
            ("VERB", "PRON", "SYM", "PUNCT"),
            4,
            ("v1", "p1", "s", ""),
        ),
        Sentence(("10 000",), ("NUM",), 11, ("n",)),
    )
    left = read_tagged(write(CONLLU), column="XPOS")  # line 8 has no XPOS
    assert [s.labels for s in left] == [("n",)]
    assert left.report()[1] == "a.tsv: 1 sentence with a word without label (line 8)"


def test_ten_columns_alone_are_not_conllu():
    assert read("\t".join("abcdefghij")) == [(("a",), ("b",))]
    assert read("1\tNUM\n2\tNUM\n") == [(("1", "2"), ("NUM", "NUM"))]


GOOD = "".join(f"{i}\tX\n\n" for i in range(30))  # lines 1 to 60, so that nothing is loud


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        ("a\tX\nb\n", "with a word without label (line 62)"),
        ("a\n", "with a word without label (line 61)"),
        ("a X\n", "with a word without label (line 61)"),  # spaces are no tabs
        ("a\t\n", "with a word without label (line 61)"),
        ("a\t \u2028\n", "with a word without label (line 61)"),
        ("#\n", "with a word without label (line 61)"),
        ("\tX\n", "with a label without word (line 61)"),
        ("\u3000\tX\n", "with a label without word (line 61)"),
        (b"\xff\tX\n", "with bytes that are not UTF-8 (line 61)"),
        (b"a\tX\nb\t\xe9\nc\tY\n", "with bytes that are not UTF-8 (line 62)"),
        ("x" * 1001 + "\tX\n", "with a word of more than 1,000 characters (line 61)"),
        ("\u0316\u0301" * 200_000 + "\tX\n", "with a word of more than 1,000 characters (line 61)"),
        ("a\tX\n" + "x" * (1 << 21) + "\n", "with a row longer than 1 MiB (line 62)"),
        ("# only a comment\n", "without words (line 61)"),
    ],
)
def test_a_sentence_that_is_left_out(content, reported):
    extra = content if isinstance(content, bytes) else content.encode()
    tagged = read_tagged(write(GOOD.encode() + extra + b"\nlast\tX\n"))
    assert tagged.report() == [
        "a.tsv: 31 of 32 sentences, 31 words",
        f"a.tsv: 1 sentence {reported}",
    ]
    assert len(tagged) == 31
    assert sum(tagged.dropped.values()) == 1


@pytest.mark.parametrize(
    ("row", "reported"),
    [
        ("1\ta\tb", "with a row that has not the ten columns of CoNLL-U"),
        ("1 a _ X _ _ _ _ _ _", "with a row that has not the ten columns of CoNLL-U"),
        ("x\ta\t_\tX\t_\t_\t_\t_\t_\t_", "with a row that has not the ten columns of CoNLL-U"),
        ("1\ta\t_\t_\t_\t_\t_\t_\t_\t_", "with a word without label"),
        ("1-2\ta\t_\t_\t_\t_\t_\t_\t_\t_", "without words"),
    ],
)
def test_a_sentence_of_conllu_that_is_left_out(row, reported):
    tagged = read_tagged(write(CONLLU + "\n" + row + "\n"))
    assert tagged.report() == [
        "a.tsv: 2 of 3 sentences, 5 words",
        f"a.tsv: 1 sentence {reported} (line 13)",
    ]


def test_a_file_without_empty_rows_is_told_of():
    lines = read_tagged(write("a\tX\n" * 1001)).report()
    assert lines[0] == (
        "the sentence of line 1 has 1,001 words; is there an empty row after each sentence?"
    )
    assert len(read_tagged(write("a\tX\n" * 1000)).report()) == 1


def test_most_lost_is_loud_and_several_files_are_one():
    one, two = write("a\tX\n\nb\n\nc\n"), write("d\tY\n", "b.tsv")
    tagged = read_tagged(one, two)
    assert [s.words for s in tagged] == [("a",), ("d",)]
    assert tagged.report() == [
        f"a.tsv: MORE THAN HALF IS LOST, 2 of 3 sentences; {WANTED}",
        "a.tsv: 1 of 3 sentences, 1 word",
        "a.tsv: 2 sentences with a word without label (lines 3, 5)",
        "b.tsv: 1 sentence, 1 word",
    ]
    assert tagged.dropped == {"label": 2}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", f"a.tsv: no sentence is there: no sentence is left; {WANTED}"),
        ("\n \n", f"a.tsv: no sentence is there: no sentence is left; {WANTED}"),
        (
            "a\n\nb\n",
            f"a.tsv: 2 sentences with a word without label: no sentence is left; {WANTED}",
        ),
        (
            "a\tX\n".encode("utf-16"),
            "a.tsv: wanted lines of text, this is UTF-16; save it as UTF-8",
        ),
        (
            gzip.compress(b"a\tX\n" * 50)[:-9],
            "a.tsv: the gzip file is cut off, its end is missing; get it again",
        ),
    ],
)
def test_a_file_that_is_refused(content, message):
    with pytest.raises(FileError) as raised:
        read_tagged(write(content))
    assert str(raised.value) == message


def test_arguments_that_are_refused():
    with pytest.raises(
        ValueRangeError, match=r"^the column of the labels must be one of UPOS, XPOS; got 'POS'$"
    ):
        read_tagged(write("a\tX\n"), column="POS")
    with pytest.raises(ValueRangeError, match="got 'FEATS'"):
        read_tagged(write("a\tX\n"), also="FEATS")
    with pytest.raises(FileNotFoundError):
        read_tagged(Path("none"))
    with pytest.raises(IsADirectoryError):
        read_tagged(Path())


def test_changed_bytes_never_raise_anything_else():
    valid = [GOOD.encode(), CONLLU.encode(), gzip.compress(CONLLU.encode())]
    good, refused = fuzz(
        lambda p: read_tagged(p, also="XPOS").report(), Path("f"), valid, count=150
    )
    assert good > 50
    assert refused > 10

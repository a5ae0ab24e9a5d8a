"""Columns of tables: what is read, what is skipped, what is refused and in which words."""

import os
import stat
import sys
import threading

import numpy as np
import pytest

from regard.cli import columns
from regard.cli.columns import check_target, read, shown, write
from regard.errors import KindError, MissingError, ValueRangeError

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Messages name files as they were given: short ones, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def table(here):
    """Writes text or bytes as a file."""

    def make(text, name="a.csv"):
        path = here / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path.relative_to(here)

    return make


@pytest.fixture
def pq(here):
    """Writes arrays as a Parquet file."""

    def make(name="a.parquet", **arrays):
        parquet.write_table(pyarrow.table(arrays), here / name)
        return (here / name).relative_to(here)

    return make


def lists(found):
    return {name: x.tolist() for name, x in found.values.items()}


@pytest.mark.parametrize(
    "text",
    [
        "a,note,b\n1,x,2.5\n-3e2,y,.5\n",
        b"\xef\xbb\xbfa,note,b\r\n1,x,2.5\r\n-3e2,y,.5\r\n",  # as a spreadsheet saves it
        "\n\na,note,b\n 1 ,x, 2.5\n\n-3e2,y,.5",  # blanks, empty lines, no line end
        'a,"note",b\n1,"x, or\ny",2.5\n-300.0,"",".5"\n',  # a comma and a line end in quotes
        "a;note;b\n1;x,y;2.5\n-3e2;;.5\n",
        "a\tnote\tb\n1\tx\t2.5\n-3e2\t\t.5\n",
        b"a,note,b\n1,\xff\xfe,2.5\n-3e2,\xe9,.5\n",  # another encoding in a column nobody wants
        "a,note,note,b\n1,x,y,2.5\n-3e2,x,y,.5\n",  # doubles that nobody wants
    ],
    ids=range(8),
)
def test_numbers_of_a_csv_file(table, text):
    found = read(table(text), ["b", "a"])
    assert lists(found) == {"b": [2.5, 0.5], "a": [1.0, -300.0]}
    assert found.skipped == 0
    assert found.matrix(["a", "b"]).tolist() == [[1.0, 2.5], [-300.0, 0.5]]


def test_line_ends_in_quotes_wherever_a_block_of_the_file_ends(table):
    found = read(table("a,note,b\n" + 200_000 * '1,"x\ny",2\n'), ["a", "b"])
    assert found.matrix(["a", "b"]).tolist() == [[1.0, 2.0]] * 200_000


def test_numbers_of_a_parquet_file(pq):
    path = pq(
        whole=pyarrow.array([1, 2**60], pyarrow.int64()),
        small=pyarrow.array([1.5, 2.5], pyarrow.float32()),
        exact=pyarrow.array([1, 2], pyarrow.decimal128(5, 2)),
        truth=[True, False],
        text=["1.5", " -2e1 "],
        names=pyarrow.array(["3", "4"]).dictionary_encode(),
        other=["x", "y"],
    )
    names = ["whole", "small", "exact", "truth", "text", "names"]
    assert lists(read(path, names)) == {
        "whole": [1.0, 2.0**60],
        "small": [1.5, 2.5],
        "exact": [1.0, 2.0],
        "truth": [1.0, 0.0],
        "text": [1.5, -20.0],
        "names": [3.0, 4.0],
    }


def test_parquet_is_known_by_its_contents_too(pq):
    assert lists(read(pq("a.dat", a=[1.0]), ["a"])) == {"a": [1.0]}


@pytest.mark.parametrize("rows", [1, 30_000])
def test_rows_with_a_missing_value_are_skipped_and_counted(table, pq, rows):
    text = "a,b,c\n" + rows * "1,2,\n3,,x\nNA,4,x\nNaN,null,x\n5,6,\n"
    found = read(table(text), ["a", "b"])
    assert lists(found) == {"a": [1.0, 5.0] * rows, "b": [2.0, 6.0] * rows}
    assert found.skipped == 3 * rows
    a, b = [1.0, 3.0, None, float("nan"), 5.0], [2, None, 4, None, 6]
    found = read(pq(a=a * rows, b=b * rows), ["a", "b"])
    assert lists(found) == {"a": [1.0, 5.0] * rows, "b": [2.0, 6.0] * rows}
    assert found.skipped == 3 * rows


def test_a_pipe(here):
    os.mkfifo(here / "pipe")
    writer = threading.Thread(target=lambda: (here / "pipe").write_text("a,b\n1,2\n"))
    writer.start()
    assert lists(read(here / "pipe", ["b"])) == {"b": [2.0]}
    writer.join()


MANY = ",".join(f"c{i}" for i in range(15))
TWELVE = ", ".join(f"'c{i}'" for i in range(12))
LATIN = "größe,b\n1,2\n".encode("latin-1")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            "",
            ValueRangeError,
            "a.csv is empty; a table with the names of its columns in the first row is wanted",
        ),
        (
            "a,b\n",
            ValueRangeError,
            "a.csv has columns and no rows; there is nothing to fit or to predict",
        ),
        ("\n \n", ValueRangeError, "a.csv has no column 'a', only ' '"),
        ("x,b\n1,2\n", ValueRangeError, "a.csv has no column 'a', only 'x', 'b'"),
        (f"{MANY}\n", ValueRangeError, f"a.csv has no column 'a', only {TWELVE} and 3 more"),
        ("a,b,a\n1,2,3\n", ValueRangeError, "a.csv has 2 columns named 'a'; rename all but one"),
        (
            "a,b\n1,2\n3,high\n",
            KindError,
            "column 'b' of a.csv must hold numbers, got the text 'high' in row 2 below the header; "
            "correct it, or leave it empty to skip the row",
        ),
        (
            "a,b\n1,2\n,2\n\n1 000," + 50 * "x" + "\n",
            KindError,
            "column 'a' of a.csv must hold numbers, got the text '1 000' in row 3 below the "
            "header; correct it, or leave it empty to skip the row",
        ),
        (
            "a,b\n1," + 50 * "x" + "\n",
            KindError,
            f"column 'b' of a.csv must hold numbers, got the text '{37 * 'x'}...' in row 1 below "
            "the header; correct it, or leave it empty to skip the row",
        ),
        (
            b"a,b\n1,2\n3,\xff\n",
            KindError,
            "column 'b' of a.csv must hold numbers, got the text '\\\\xff' in row 2 below the "
            "header; correct it, or leave it empty to skip the row",
        ),
        (
            'a;b\n1;"2,5"\n',
            KindError,
            "column 'b' of a.csv must hold numbers, got the text '2,5' in row 1 below the header; "
            "correct it, or leave it empty to skip the row",
        ),
        (
            "a,b\n1,2024-05-21\n",
            KindError,
            "column 'b' of a.csv must hold numbers, got the text '2024-05-21' in row 1 below the "
            "header; correct it, or leave it empty to skip the row",
        ),
        (
            "a,b\n1,2\n3\n",
            KindError,
            "row 2 below the header of a.csv has 1 cell, where the header has 2",
        ),
        (
            "a,b\n1,2\n3,4\n5,6,7\n",
            KindError,
            "row 3 below the header of a.csv has 3 cells, where the header has 2",
        ),
        (
            "a,b\n1,2\n3,-inf\n",
            ValueRangeError,
            "column 'b' of a.csv must hold finite numbers, none beyond 1e+150, got -inf in row 2 "
            "below the header",
        ),
        (
            "a,b\n,2\n3,1e200\n",
            ValueRangeError,
            "column 'b' of a.csv must hold finite numbers, none beyond 1e+150, got 1e+200 in row 2 "
            "below the header",
        ),
        (
            "a,b\n1,\n2,NA\n",
            ValueRangeError,
            "column 'b' of a.csv holds no numbers, only missing values",
        ),
        (
            "a,b\n1,\n,2\n",
            ValueRangeError,
            "no row of a.csv has a number in each of 'a', 'b'",
        ),
        (
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            KindError,
            "a.csv is neither Parquet nor CSV in UTF-8: there are zero bytes in it",
        ),
        (
            "a,b\n1,2\n".encode("utf-16"),
            KindError,
            "a.csv is neither Parquet nor CSV in UTF-8: there are zero bytes in it",
        ),
        (
            LATIN,
            KindError,
            "a.csv must be in UTF-8, got the column 'gr\\\\xf6\\\\xdfe'; save it as UTF-8",
        ),
        (
            "a" * 200_000,
            KindError,
            "a.csv is no CSV table that can be read: field larger than field limit (131072)",
        ),
        (
            b"PAR1 and no more",
            KindError,
            "a.csv is no Parquet file that can be read: Parquet magic bytes not found in footer. "
            "Either the file is corrupted or this is not a parquet file.",
        ),
    ],
    ids=range(23),
)
def test_what_a_csv_file_must_not_be(table, text, error, message):
    with pytest.raises(error) as raised:
        read(table(text), ["a", "b"])
    assert str(raised.value) == message


def test_text_far_down_is_found(table):
    text = "a,b\n" + 400_000 * "1,2\n" + "1,x\n"  # beyond the first block pyarrow reads
    with pytest.raises(KindError, match="the text 'x' in row 400001 below the header"):
        read(table(text), ["a", "b"])


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (
            ["1", "two"],
            "column 'a' of a.parquet must hold numbers, got the text 'two' in row 2 below the "
            "header; correct it, or leave it empty to skip the row",
        ),
        (
            pyarrow.array([1, 2], pyarrow.timestamp("ms")),
            "column 'a' of a.parquet must hold numbers, got values of the type timestamp[ms]",
        ),
        (
            [[1.0], [2.0]],
            "column 'a' of a.parquet must hold numbers, got values of the type list<element: "
            "double>",
        ),
    ],
    ids=["text", "time", "list"],
)
def test_what_a_parquet_file_must_not_hold(pq, array, message):
    with pytest.raises(KindError) as raised:
        read(pq(a=array), ["a"])
    assert str(raised.value) == message


def test_other_refusals_of_parquet(pq, table, here):
    with pytest.raises(ValueRangeError, match=r"a\.parquet has no column 'b', only 'a'"):
        read(pq(a=[1.0]), ["b"])
    with pytest.raises(ValueRangeError, match=r"a\.parquet has columns and no rows"):
        read(pq(a=pyarrow.array([], pyarrow.float64())), ["a"])
    with pytest.raises(ValueRangeError, match=r"'a' of a\.parquet holds no numbers, only missing"):
        read(pq(a=pyarrow.array([None, None])), ["a"])
    with pytest.raises(KindError, match=r"t\.parquet is no Parquet file that can be read: "):
        read(table("a,b\n1,2\n", "t.parquet"), ["a"])
    twice = pyarrow.Table.from_arrays([pyarrow.array([1.0])] * 2, names=["a", "a"])
    parquet.write_table(twice, here / "b.pq")
    with pytest.raises(ValueRangeError, match="has 2 columns named 'a'; rename all but one"):
        read(here / "b.pq", ["a"])


def test_what_is_no_file(here):
    with pytest.raises(FileNotFoundError):
        read(here / "none.csv", ["a"])
    with pytest.raises(IsADirectoryError):
        read(here, ["a"])


def test_without_pyarrow(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingError) as raised:
        read(table("a\n1\n"), ["a"])
    assert str(raised.value) == (
        "reading and writing tables needs pyarrow, which is not installed; pip install "
        "'regard[fit]'"
    )


DATA = {"a b": np.array([1.0, 0.1, 1e-20]), "c": np.array([np.nan, np.inf, 2 / 3])}


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.PQ"])
def test_what_is_written_is_read_again(here, name):
    write(here / name, DATA)
    assert [path.name for path in here.iterdir()] == [name]
    assert read(here / name, ["a b"]).values["a b"].tolist() == [1.0, 0.1, 1e-20]
    found = read(here / name, ["c", "a b"])
    assert (lists(found), found.skipped) == ({"c": [2 / 3], "a b": [1e-20]}, 2)
    assert stat.S_IMODE((here / name).stat().st_mode) & 0o044 == 0o044 & ~umask()


def umask():
    now = os.umask(0)
    os.umask(now)
    return now


def test_nothing_is_left_where_writing_fails(here, monkeypatch):
    (here / "a.csv").write_text("before")

    def fail(table, path):
        path.write_text("half")
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("pyarrow.csv.write_csv", fail)
    with pytest.raises(OSError, match="No space left"):
        write(here / "a.csv", DATA)
    assert [path.name for path in here.iterdir()] == ["a.csv"]
    assert (here / "a.csv").read_text() == "before"


def test_targets(table, here):
    path = table("a\n1\n")
    new = here / "new" / "b.csv"
    check_target(new, [path, None], force=False)
    assert list(new.parent.iterdir()) == []
    (here / "there.csv").write_text("kept")
    check_target(here / "there.csv", [path], force=True)
    assert (here / "there.csv").read_text() == "kept"


@pytest.mark.parametrize(
    ("name", "force", "message"),
    [
        ("b.txt", False, "a table is written as .csv, .parquet, .pq, got 'b.txt'"),
        (
            "there.csv",
            False,
            "there.csv is there already; give another name, or --force to write over it",
        ),
        ("a.csv", True, "a.csv is read here, and will not be written over; give another name"),
        (
            "link.csv",
            True,
            "link.csv is read here, and will not be written over; give another name",
        ),
    ],
)
def test_targets_that_are_refused(table, here, name, force, message):
    path = table("a\n1\n")
    (here / "there.csv").write_text("kept")
    (here / "link.csv").symlink_to(here / "a.csv")
    with pytest.raises(ValueRangeError) as raised:
        check_target(columns.Path(name), [None, path], force=force)
    assert str(raised.value) == message


def test_targets_that_cannot_be_written(here):
    (here / "file").write_text("kept")
    (here / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError):
        check_target(here / "folder.csv", [], force=True)
    with pytest.raises((NotADirectoryError, FileExistsError)):
        check_target(here / "file" / "b.csv", [], force=False)


def test_names_are_shown_without_commands():
    assert shown("größe [m]") == "größe [m]"
    assert shown("\x1b[31mred") == "\\x1b[31mred"

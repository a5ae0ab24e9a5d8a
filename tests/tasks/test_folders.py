"""Files below a folder: labels, links, what cannot be entered."""

import os
from pathlib import Path

import pytest

from regard.errors import FileError
from regard.tasks.findings import Findings
from regard.tasks.folders import IN_FOLDERS, IN_LISTS, files_in_folder, files_in_list

RULES = IN_FOLDERS | IN_LISTS | {"kind": "of another kind"}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(*names):
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"x")


def look(folder="d", **options):
    found = Findings(Path(folder), "file", RULES, "wanted", quiet=frozenset({"kind"}))
    files = files_in_folder(Path(folder), lambda n: n.endswith(".x"), found, **options)
    found.kept = len(files)
    return [(str(file.path), file.label) for file in files], found.report("file")


def test_links_are_followed_and_lead_nowhere_twice():
    put("d/a/1.x", "elsewhere/2.x")
    Path("d/b").symlink_to("../elsewhere")
    Path("d/a/up").symlink_to("..")  # a circle
    Path("d/a/self.x").symlink_to("self.x")  # a link to itself is a file that cannot be read
    Path("d/c").symlink_to("a")  # the same folder under another name
    files, report = look()
    assert files == [("d/a/1.x", "a"), ("d/a/self.x", "a"), ("d/b/2.x", "b")]
    assert report[1:] == ["d: 2 files leading to a folder seen before (a/up, c)"]


def test_links_that_multiply_take_no_time():
    put("d/0/1.x")
    for i in range(1, 40):  # 2^39 ways, if each were gone
        Path(f"d/{i}").mkdir()
        for way in "ab":
            Path(f"d/{i}/{way}").symlink_to(f"../{i - 1}")
    files, _ = look()
    assert len(files) == 1


def test_files_beside_the_folders_of_the_labels():
    put("d/a/1.x", "d/2_b.x", "d/notes.txt", "d/.DS_Store", "d/a/._1.x", "d/b/3.x")
    files, report = look(names=True)
    assert files == [("d/a/1.x", "a"), ("d/b/3.x", "b")]
    assert report == [
        "d: 2 of 3 files",
        "d: 1 file outside the folders of the labels (2_b.x)",
        "d: 1 file of another kind (notes.txt)",
    ]


def test_names_are_labels_only_where_they_may_be():
    put("d/2_b.x", "d/nolabel.x")
    assert look()[0] == []
    assert look(names=True)[0] == [("d/2_b.x", "2")]


def test_labels_are_normalised():
    put("d/cafe\u0301/1.x", "d/b\nc/2.x", "d/\u3000/3.x")
    files, report = look()
    assert [label for _, label in files] == ["b c", "café"]
    assert report[1] == "d: 1 file without a label in the name (\\u3000/3.x)"


def test_parts_of_a_data_set_are_no_labels():
    put("d/train/a/1.x", "d/test/a/1.x")
    with pytest.raises(FileError) as raised:
        look()
    assert str(raised.value) == (
        "d: the folders test, train look like parts of a data set, not like labels; give one of "
        "them, d/test"
    )
    put("e/train/1.x", "e/car/1.x")  # a vehicle
    assert len(look("e")[0]) == 2
    put("f/test/1.x", "f/train/1.x")
    assert len(look("f")[0]) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_folder_one_may_not_read():
    put("d/a/1.x", "d/b/2.x")
    Path("d/b").chmod(0)
    try:
        files, report = look()
    finally:
        Path("d/b").chmod(0o700)
    assert len(files) == 1
    assert report[1:] == [
        "d: 1 file in folders that cannot be read (b)",
        "d/b: Permission denied",
    ]


def test_a_folder_that_fails_while_it_is_read(monkeypatch):
    put("d/a/1.x", "d/b/2.x")
    real = Path.iterdir

    def iterdir(path):
        if path.name == "b":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    files, report = look()
    assert files == [("d/a/1.x", "a")]
    assert report[1:] == ["d: 1 file in folders that cannot be read (b)", "d/b: Permission denied"]
    with pytest.raises(FileNotFoundError):
        look("none")


def test_a_list():
    rows = [b"\xef\xbb\xbfa.x\tone", b"", b"b.x", b"\xff\tone", b" \tone", b"c.x\t", b"a\0.x\tone"]
    rows += [b"sub dir/d.x\t two \tmore", b"a.x\tone", b"x" * (1 << 21)]
    Path("list").write_bytes(b"\n".join(rows))
    found = Findings(Path("list"), "file", RULES, "wanted")
    files = files_in_list(Path("list"), found)
    assert [(str(file.path), file.label, file.place) for file in files] == [
        ("a.x", "one", 1),
        ("sub dir/d.x", "two", 8),
    ]
    assert found.report("file")[1:] == [
        "list: 1 file in rows longer than 1 MiB (line 10)",
        "list: 1 file in rows without text (line 2)",
        "list: 1 file in rows without a tab (line 3)",
        "list: 1 file in rows with bytes that are not UTF-8 (line 4)",
        "list: 3 files in rows with an empty side (lines 5, 6, 7)",
        "list: 1 file in rows equal to an earlier one (line 9)",
    ]

"""What a path holds is found out from names and beginnings."""

import gzip

import numpy as np
import pytest

from regard.errors import FileError
from regard.tasks.classification.detected import detected
from tests.tasks.classification.tiny import write_any
from tests.tasks.made import idx, wav


@pytest.mark.parametrize("kind", ["text", "sound", "images"])
def test_the_three_kinds(tmp_path, kind):
    assert detected(write_any(tmp_path, kind, 4)) == kind


def test_idx_files_packed_or_not_and_their_folder(tmp_path):
    data = idx(np.zeros((2, 3, 3), np.uint8))
    (tmp_path / "train-images-idx3-ubyte").write_bytes(data)
    packed = tmp_path / "anything"
    packed.write_bytes(gzip.compress(data))
    assert {detected(tmp_path / "train-images-idx3-ubyte"), detected(packed)} == {"images"}
    assert detected(tmp_path) == "images"


def test_a_folder_is_what_most_of_it_is(tmp_path):
    for name in ("a.PNG", "b.jpg", "c.wav", "notes.txt"):
        (tmp_path / name).write_bytes(b"")
    assert detected(tmp_path) == "images"


@pytest.mark.parametrize(("ending", "kind"), [("WAV", "sound"), ("png", "images")])
def test_a_list_of_files(tmp_path, ending, kind):
    path = tmp_path / "list.tsv.gz"
    rows = "".join(f"x{i}.{ending}\tyes\n" for i in range(3))
    path.write_bytes(gzip.compress(rows.encode()))
    assert detected(path) == kind


def test_texts_may_speak_of_files(tmp_path):
    path = tmp_path / "texts.tsv"
    path.write_text("good\tI like a.wav\nbad\tb.wav is broken\nc.wav\tstrange\n")
    assert detected(path) == "text"


def test_gzip_that_is_damaged_is_left_to_who_reads_it(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"a\tb\n")[:-9])
    with pytest.raises(FileError, match="gzip"):
        detected(path)


def test_what_holds_nothing_is_refused(tmp_path):
    with pytest.raises(FileError, match="no WAV files, images or IDX files"):
        detected(tmp_path)
    (tmp_path / "a.wav").write_bytes(wav())
    with pytest.raises(FileError, match="is one file; a set"):
        detected(tmp_path / "a.wav")
    with pytest.raises(FileNotFoundError):
        detected(tmp_path / "nothing")

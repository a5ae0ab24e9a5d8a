"""IDX files: bytes, sizes, and what they promise."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from regard.errors import FileError
from regard.tasks import idx as module
from regard.tasks.idx import is_idx, read_idx
from tests.tasks.made import idx
from tests.tasks.mutated import fuzz

ARRAY = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(content, name="a-idx"):
    Path(name).write_bytes(content)
    return Path(name)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("array", [ARRAY, ARRAY[0, 0], ARRAY[None], ARRAY[:0]], ids=str)
def test_arrays_of_bytes(array, pack):
    path = write(pack(idx(array)))
    assert is_idx(path)
    got = read_idx(path)
    assert np.array_equal(got, array)
    assert got.shape == array.shape


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\0", b"text and more", b"\x1f\x8brubbish", gzip.compress(b"a\tb\n"), b"\0\0\3\3"],
)
def test_what_is_none(content):
    assert not is_idx(write(content))


def promising(*sizes, kind=8, data=b""):
    return bytes([0, 0, kind, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes) + data


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"text",
            "wanted an IDX file, which begins with the bytes 0 0 8 and the number of axes, this "
            "one begins with b'text'",
        ),
        (
            b"",
            "wanted an IDX file, which begins with the bytes 0 0 8 and the number of axes, this "
            "one begins with b''",
        ),
        (promising(1, kind=13), "wanted an IDX file of bytes (type 8), this one is of type 13"),
        (
            promising(2, 3, 4)[:9],
            "the IDX file is cut off before its first number; get it again",
        ),
        (
            idx(ARRAY)[:-1],
            "the IDX file promises 2 x 3 x 4 = 24 bytes, and there are 23; get it again",
        ),
        (
            idx(ARRAY) + b"x",
            "the IDX file promises 2 x 3 x 4 = 24 bytes, and there are more; get it again",
        ),
        (
            gzip.compress(idx(ARRAY)[:-1]),
            "the IDX file promises 2 x 3 x 4 = 24 bytes, and there are 23; get it again",
        ),
        (
            promising(60_000, 28, 28),
            "the IDX file promises 60000 x 28 x 28 = 47,040,000 bytes, and there are 0; get it "
            "again",
        ),
        (
            gzip.compress(promising(60_000, 28, 28)),
            "the IDX file promises 60000 x 28 x 28 = 47,040,000 bytes, and there are 0; get it "
            "again",
        ),
        (
            promising(2**32 - 1, 2**32 - 1),
            "the IDX file has 18,446,744,065,119,617,025 bytes; at most 2,147,483,648 are read",
        ),
        (
            gzip.compress(idx(ARRAY))[:-9],
            "the gzip file is damaged or cut off (Compressed file ended before the end-of-stream "
            "marker was reached); get it again",
        ),
    ],
)
def test_a_file_that_is_refused(content, message):
    with pytest.raises(FileError) as raised:
        read_idx(write(content))
    assert str(raised.value) == f"a-idx: {message}"


def test_pieces_are_joined(monkeypatch):
    monkeypatch.setattr(module, "PIECE", 5)
    assert np.array_equal(read_idx(write(gzip.compress(idx(ARRAY)))), ARRAY)


def test_changed_bytes_never_raise_anything_else():
    valid = [idx(ARRAY), gzip.compress(idx(ARRAY)), idx(ARRAY[0, 0])]
    good, refused = fuzz(lambda p: (is_idx(p), read_idx(p)), Path("f"), valid, count=300)
    assert good > 5
    assert refused > 50

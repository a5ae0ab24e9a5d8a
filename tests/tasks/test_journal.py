import errno
import json
import math
import os
import zlib

import pytest

from regard.errors import FileError, KindError
from regard.tasks import journal

ROWS = [{"step": 10, "loss": 2.5}, {"step": 20, "loss": 0.1, "bleu": None, "text": "你好 \udc80\n"}]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "metrics.jsonl"
    for row in ROWS:
        journal.append(path, row)
    return path


def test_rows_come_back(path, tmp_path):
    assert journal.read(path) == (ROWS, b"")
    assert journal.read(tmp_path / "none") == ([], b"")


def test_a_line_is_json_with_its_check_sum(path):
    first = path.read_bytes().split(b"\n")[0]
    crc = zlib.crc32(b'{"step":10,"loss":2.5')
    assert first == b'{"step":10,"loss":2.5,"crc":"%08x"}' % crc
    assert [json.loads(line)["step"] for line in path.read_text().splitlines()] == [10, 20]


def test_what_is_not_finite_becomes_null(path):
    journal.append(path, {"loss": math.nan, "best": -math.inf})
    assert journal.read(path)[0][-1] == {"loss": None, "best": None}


@pytest.mark.parametrize("row", [{}, {"step": 1, "crc": 2}])
def test_a_row_has_entries_of_its_own(path, row):
    with pytest.raises(KindError, match="a row must have entries, and none named 'crc'"):
        journal.append(path, row)


def test_a_row_is_json(path):
    for value in (object(), [math.nan]):
        with pytest.raises(KindError, match="a row must hold what JSON can say, got something"):
            journal.append(path, {"step": 1, "value": value})
    assert journal.read(path) == (ROWS, b"")


def test_no_flipped_bit_goes_unnoticed(path):
    data = path.read_bytes()
    for bit in [*range(0, 8 * len(data), 3), *range(8 * len(data) - 8, 8 * len(data))]:
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(FileError, match=r"metrics\.jsonl, line [12]: is damaged"):
            journal.read(path)


def test_a_sealed_line_that_is_no_row_is_refused(path):
    for body in (b'["a"', b"[" * 100_000, b"7", b'{"a":1}'):
        path.write_bytes(journal._sealed(body) + b"\n")
        with pytest.raises(FileError, match="line 1: is damaged"):
            journal.read(path)


def test_a_killed_writer_costs_one_row(path):
    data = path.read_bytes()
    second = data.index(b"\n") + 1
    for cut in range(second + 1, len(data)):
        path.write_bytes(data[:cut])
        assert journal.read(path) == (ROWS[:1], data[second:cut])
    assert journal.mend(path)
    assert path.read_bytes() == data[:second]
    assert not journal.mend(path)
    journal.append(path, ROWS[1])
    assert path.read_bytes() == data


def test_cutting_before_the_first_row_of_a_later_step(path):
    journal.append(path, {"said": "without a step"})
    whole = path.read_bytes()
    journal.truncate(path, 20)
    assert path.read_bytes() == whole
    journal.truncate(path, 19)
    assert journal.read(path)[0] == ROWS[:1]
    journal.truncate(path, 9)
    assert path.read_bytes() == b""
    journal.truncate(path.parent / "none", 9)
    assert not (path.parent / "none").exists()


def test_a_full_disk_leaves_no_part_of_a_row(path, monkeypatch):
    data, real = path.read_bytes(), os.write

    def write(handle, line):
        if len(line) < 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle, line[:10])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        with pytest.raises(OSError, match="No space left") as caught:
            journal.append(path, {"step": 30, "loss": 1.25})
    assert caught.value.filename == str(path)
    assert path.read_bytes() == data

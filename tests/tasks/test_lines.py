"""Lines of files: the same wherever a chunk ends, the longest left out, bombs refused."""

import gzip

import pytest

from regard.errors import FileError
from regard.tasks import lines
from regard.tasks.lines import long_lines


def write(folder, content, name="a.tsv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("chunk", [1, 2, 7, 64])
def test_chunks_may_end_anywhere(chunk, tmp_path, monkeypatch):
    text = "a\tb\r\n\n你好\tc\n" * 5 + "x" * 30 + "\tz\nlast\tone"
    monkeypatch.setattr(lines, "CHUNK", 1 << 18)
    monkeypatch.setattr(lines, "LONGEST", 20)
    expected = list(long_lines(write(tmp_path, text)))
    assert expected.count(None) == 1
    assert expected[-1] == b"last\tone"
    monkeypatch.setattr(lines, "CHUNK", chunk)
    assert list(long_lines(write(tmp_path, text))) == expected
    if chunk > 1:  # gzip is seen from two bytes
        assert list(long_lines(write(tmp_path, gzip.compress(text.encode())))) == expected


def test_every_line_from_the_longest_kept_to_the_shortest_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST", 10)
    path = write(tmp_path, b"\n".join(b"x" * i for i in range(8, 13)))
    assert [line and len(line) for line in long_lines(path)] == [8, 9, 10, None, None]


def test_what_unpacks_to_far_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "AT_LEAST", 1 << 22)
    path = write(tmp_path, gzip.compress(bytes(1 << 23)), "bomb.tsv.gz")
    with pytest.raises(FileError, match=r"bomb.tsv.gz: 8,\d\d\d bytes of the gzip file became"):
        list(long_lines(path))

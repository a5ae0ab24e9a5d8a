"""Rows are counted from 1, and a byte order mark is no part of the first."""

import gzip

from regard.tasks.rows import numbered_rows


def test_rows_have_numbers_and_no_mark(tmp_path):
    path = tmp_path / "a.tsv"
    content = b"\xef\xbb\xbfa\r\n\n\xef\xbb\xbfb\n" + b"x" * (1 << 21) + b"\nc"
    expected = [(1, b"a"), (2, b""), (3, b"\xef\xbb\xbfb"), (4, None), (5, b"c")]
    for data in (content, gzip.compress(content)):
        path.write_bytes(data)
        assert list(numbered_rows(path)) == expected

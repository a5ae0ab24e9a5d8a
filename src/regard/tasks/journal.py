"""A log of rows as lines of JSON, each with a check sum of its own.

A line is ``{"step":100,"loss":2.5,"crc":"1a2b3c4d"}``, the sum made of all that stands before it.
A process killed while it writes leaves at most a part of the last line, and that part is no loss:
what goes on from a checkpoint writes the row again.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.errors import FileError, KindError
from regard.tasks.files import read_bytes, write_bytes

__all__ = ["append", "mend", "read", "truncate"]

LIMIT = 1 << 30
TAIL = len(',"crc":"00000000"}')


def _sealed(body: bytes) -> bytes:
    return body + b',"crc":"%08x"}' % zlib.crc32(body)


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Add a row; numbers that are not finite become null, as JSON knows none.

    Raises:
        OSError: no space, no permission; the log is as it was.

    """
    plain = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }
    if not plain or "crc" in plain:
        msg = f"a row must have entries, and none named 'crc', which is its check sum; got {plain}"
        raise KindError(msg)
    try:
        text = json.dumps(plain, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as cause:
        msg = f"a row must hold what JSON can say, got something else: {cause}"
        raise KindError(msg) from cause
    line = _sealed(text[:-1].encode()) + b"\n"
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags, 0o666)
        try:
            size = os.fstat(handle).st_size
            try:
                while line:
                    line = line[os.write(handle, line) :]
            except BaseException:
                os.ftruncate(handle, size)  # or the next row would follow half a row
                raise
        finally:
            os.close(handle)
    except OSError as error:
        error.filename = str(path)  # an open file has no name to give
        raise


def read(path: Path) -> tuple[list[dict[str, Any]], bytes]:
    """The rows, and what a killed writer left of one more.

    Raises:
        FileError: a line is not what was written.

    """
    lines, torn = _lines(path)
    return [row for _, row in lines], torn


def _lines(path: Path) -> tuple[list[tuple[bytes, dict[str, Any]]], bytes]:
    """The lines with what they say, and the part of a line after them."""
    if not Path(path).exists():
        return [], b""
    *lines, torn = read_bytes(path, limit=LIMIT).split(b"\n")
    found = []
    for number, line in enumerate(lines, start=1):
        if (row := _row(line)) is None:
            raise _damaged(path, number)
        found.append((line, row))
    if _row(torn[:-1]) is not None:  # a whole line, then something in place of its end
        raise _damaged(path, len(lines) + 1)
    return found, torn


def _row(line: bytes) -> dict[str, Any] | None:
    body = line[:-TAIL]
    if line != _sealed(body):
        return None
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    del row["crc"]
    return row


def _damaged(path: Path, number: int) -> FileError:
    msg = (
        f"{path}, line {number}: is damaged: it is not what was written; take a copy of the file "
        "from before, or remove the line"
    )
    return FileError(msg)


def mend(path: Path) -> bool:
    """Cut off part of a line that a killed writer left; says whether there was one."""
    lines, torn = _lines(path)
    if torn:
        write_bytes(path, b"".join(line + b"\n" for line, _ in lines))
    return bool(torn)


def truncate(path: Path, step: int) -> None:
    """Cut the log before the first row of a later step."""
    lines, torn = _lines(path)
    late = (i for i, (_, row) in enumerate(lines) if _step(row) > step)
    kept = lines[: next(late, len(lines))]
    if torn or len(kept) < len(lines):
        write_bytes(path, b"".join(line + b"\n" for line, _ in kept))


def _step(row: Mapping[str, Any]) -> float:
    step = row.get("step")
    return step if isinstance(step, (int, float)) else -math.inf  # with the rows before it

"""Standard output and standard error, whatever the shell has made of them.

They may be closed (``>&-``), full (``>/dev/full``), or read by somebody who has left (``| head``).
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import IO

__all__ = ["complain", "let_go", "open_streams"]


def open_streams() -> bool:
    """Have somewhere to write messages to; False if standard output is closed.

    A closed number would be given to the next file that is opened, and whoever writes to standard
    error by its number would write into that file. So nothing stays closed.
    """
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return True
    for number in range(3):
        if not _is_open(number):
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - for good
    return sys.stdout is not None


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def complain(message: str) -> None:
    """Write a line to standard error, if that can be written to."""
    with suppress(OSError):
        sys.stderr.write(f"regard: {message}\n")
        sys.stderr.flush()


def let_go() -> None:
    """Empty the streams: python does so as it ends, and would complain of one nobody reads."""
    _empty(sys.stdout)
    _empty(sys.stderr)


def _empty(stream: IO[str]) -> None:
    try:
        stream.flush()
    except OSError:
        with suppress(OSError):  # what has no number is no file
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

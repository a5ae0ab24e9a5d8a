"""Whole files or none: after a crash there is the old file or the new one, never a part."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from regard.errors import FileError

__all__ = ["PREFIX", "open_plain", "read_bytes", "settle", "sweep", "write_bytes", "write_pieces"]

PREFIX = ".regard-writing-"  # then the writer's process number, and some random digits
STALE = 3600.0  # seconds after which no writer is believed to be still at it
CHUNK = 1 << 24

_unfinished: set[str] = set()  # names of this process


def write_bytes(path: Path, data: bytes) -> None:
    """Put the data at ``path``, whole or not at all.

    Raises:
        OSError: no space, no permission, no folder; what was at ``path`` is still there.

    """
    write_pieces(path, (data,))


def write_pieces(path: Path, pieces: Iterable[bytes | memoryview]) -> None:
    """The same for data that lie in pieces; a memoryview must be one of single bytes."""
    path = Path(path)
    temporary = path.parent / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    _unfinished.add(temporary.name)
    try:
        try:
            _fill(temporary, pieces)
            os.replace(temporary, path)  # noqa: PTH105 - the one step that counts
        except BaseException:  # Ctrl-C is no reason to leave a part behind
            with suppress(OSError):
                temporary.unlink()
            raise
        settle(path.parent)
    except OSError as error:
        # the name the caller knows; writing to an open file gives none at all
        error.filename, error.filename2 = str(path), None
        raise
    finally:
        _unfinished.discard(temporary.name)


def _fill(temporary: Path, pieces: Iterable[bytes | memoryview]) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(temporary, flags, 0o666)
    try:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(handle, rest[:CHUNK]) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def settle(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can do that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that does not sync folders
            raise
    finally:
        os.close(handle)


def sweep(folder: Path) -> list[str]:
    """Remove what killed writers left in a folder; gives the names.

    A file is left alone while the process in its name lives, for an hour at most.
    """
    removed = []
    for path in sorted(Path(folder).glob(f"{PREFIX}*")):
        with suppress(FileNotFoundError):  # its writer was just done
            if path.name not in _unfinished and _is_abandoned(path):
                path.unlink()
                removed.append(path.name)
    return removed


def _is_abandoned(path: Path) -> bool:
    number = path.name.removeprefix(PREFIX).partition("-")[0]
    if not (number.isascii() and number.isdigit()):
        return False  # not one of ours
    if time.time() - path.stat().st_mtime > STALE:
        return True
    if int(number) == os.getpid():
        return True  # an earlier process with our number: common where every container counts anew
    try:
        os.kill(int(number), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:  # it lives, and is somebody else's
        return False
    return False


def open_plain(path: Path) -> BinaryIO:
    """Open an ordinary file to read; a pipe or a device would never end, and is refused."""
    path = Path(path)
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # open() has good words for a folder
        msg = f"{path}: is a pipe or a device, not a file; copy what it gives into a file first"
        raise FileError(msg)
    return path.open("rb")


def read_bytes(path: Path, *, limit: int) -> bytes:
    """All of a file that should be small.

    Raises:
        FileError: it is larger than the limit, or no file.
        OSError: it is not there, or may not be read.

    """
    with open_plain(path) as file:
        data = file.read(limit + 1)
        if len(data) > limit:
            size = os.fstat(file.fileno()).st_size
            msg = (
                f"{path}: has {size:,} bytes, and such a file has at most {limit:,}; is it "
                "the right one?"
            )
            raise FileError(msg)
    return data

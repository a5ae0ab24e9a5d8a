"""A lock on a folder, so that two processes do not write into it at once."""

from __future__ import annotations

import errno
import os
import weakref
from pathlib import Path

__all__ = ["Lock"]

# what a file system answers that has no locks
UNKNOWN = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


class Lock:
    """An empty file that one process can hold.

    The system keeps who holds it, and lets go when the holder ends, however it ends: no lock
    outlives its process. Where the file system knows no locks, everybody gets it.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / ".lock"
    >>> mine, yours = Lock(path), Lock(path)
    >>> mine.take(), yours.take()
    (True, False)
    >>> mine.release()
    >>> yours.take()
    True
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._close: weakref.finalize[[int], Lock] | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds it."""
        return self._close is not None and self._close.alive

    def take(self) -> bool:
        """Try to hold it; says whether that worked."""
        if self.held:
            return True
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        close = weakref.finalize(self, os.close, handle)
        try:
            import fcntl  # noqa: PLC0415 - not on every system

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            close()
            return False
        except ImportError:
            pass
        except OSError as error:
            if error.errno not in UNKNOWN:
                close()
                raise
        self._close = close
        return True

    def release(self) -> None:
        """Let others have it."""
        if self._close is not None:
            self._close()

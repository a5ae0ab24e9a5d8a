import errno
import fcntl
import signal
import subprocess
import sys

import pytest

from regard.tasks.lock import Lock

HOLD = """
import sys, time
from pathlib import Path
from regard.tasks.lock import Lock
lock = Lock(Path(sys.argv[1]))
print(lock.take(), flush=True)
time.sleep(60)
"""


def test_a_killed_process_lets_go(tmp_path):
    path = tmp_path / ".lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"True\n"
        ours = Lock(path)
        assert not ours.take()
        assert not ours.held
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert ours.take()
        assert ours.held
        assert ours.take()  # once more is no harm
    assert path.read_bytes() == b""


def test_a_lock_that_is_forgotten_is_free(tmp_path):
    first, second = Lock(tmp_path / ".lock"), Lock(tmp_path / ".lock")
    assert first.take()
    assert not second.take()
    del first
    assert second.take()
    second.release()
    assert not second.held
    second.release()


def test_a_file_system_without_locks_will_do(tmp_path, monkeypatch):
    def flock(handle, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    assert Lock(tmp_path / ".lock").take()
    monkeypatch.setattr(errno, "ENOLCK", errno.EIO)
    with pytest.raises(OSError, match="No locks available"):
        Lock(tmp_path / ".lock").take()


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        Lock(tmp_path / "none" / ".lock").take()

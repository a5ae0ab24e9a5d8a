import errno
import hashlib
import os
import random
import signal
import stat
import subprocess
import sys
import time

import pytest

from regard.errors import FileError
from regard.tasks import files
from regard.tasks.files import PREFIX, open_plain, read_bytes, sweep, write_bytes, write_pieces

OLD, NEW = b"old" * 1000, b"new" * 5000


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_new_file_takes_the_place_of_the_old(tmp_path):
    path = tmp_path / "a"
    write_bytes(path, OLD)
    write_bytes(path, NEW)
    assert path.read_bytes() == NEW
    assert names_in(tmp_path) == ["a"]


def test_pieces_follow_each_other_and_may_be_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "CHUNK", 3)  # more than one write for a piece
    write_pieces(tmp_path / "a", iter([b"", b"one ", memoryview(b"two and three"), b""]))
    assert (tmp_path / "a").read_bytes() == b"one two and three"


def test_all_is_on_the_disk_before_the_name_changes(tmp_path, monkeypatch):
    order = []
    fsync, replace = os.fsync, os.replace

    def noted_fsync(handle):
        order.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", lambda *names: (order.append("name"), replace(*names)))
    write_bytes(tmp_path / "a", NEW)
    assert order == ["file", "name", "folder"]


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupted(*_):
    raise KeyboardInterrupt


def leaving(*_):
    raise SystemExit(143)


@pytest.mark.parametrize("failure", [full, interrupted, leaving])
@pytest.mark.parametrize("place", ["open", "write", "second write", "fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_alone(tmp_path, monkeypatch, place, failure):
    path = tmp_path / "a"
    write_bytes(path, OLD)
    real = os.write
    calls = []

    def second(handle, data):
        calls.append(data)
        return real(handle, data[:100]) if len(calls) == 1 else failure()

    name = place.rpartition(" ")[2]
    with monkeypatch.context() as patch:
        patch.setattr(os, name, second if place == "second write" else failure)
        with pytest.raises((OSError, KeyboardInterrupt, SystemExit)) as caught:
            write_bytes(path, NEW)
    if failure is full:
        assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    assert path.read_bytes() == OLD
    assert names_in(tmp_path) == ["a"]


def test_a_folder_that_is_not_there_is_named_by_the_file(tmp_path):
    path = tmp_path / "none" / "a"
    with pytest.raises(FileNotFoundError) as caught:
        write_bytes(path, NEW)
    assert caught.value.filename == str(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_one_may_not_write_to(tmp_path):
    write_bytes(tmp_path / "a", OLD)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match=r"'.*/a'"):
            write_bytes(tmp_path / "a", NEW)
        assert (tmp_path / "a").read_bytes() == OLD
    finally:
        tmp_path.chmod(0o700)


def test_a_file_system_that_does_not_sync_folders_will_do(tmp_path, monkeypatch):
    real = os.fsync

    def fsync(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    write_bytes(tmp_path / "a", NEW)
    assert (tmp_path / "a").read_bytes() == NEW


FULL = """
import os, resource, sys
from pathlib import Path
from regard.tasks.files import write_bytes
path, new = Path(sys.argv[1]), b"new" * 5000
for size in range(0, 15000, 1000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        write_bytes(path, new)
    except OSError as error:
        print(size, error.filename == str(path), len(path.read_bytes()), os.listdir(path.parent))
resource.setrlimit(resource.RLIMIT_FSIZE, (15000, resource.RLIM_INFINITY))
write_bytes(path, new)
"""


def test_a_disk_that_is_full_at_any_byte(tmp_path):
    write_bytes(tmp_path / "a", OLD)
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "a"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"{size} True 3000 ['a']" for size in range(0, 15000, 1000)]
    assert (tmp_path / "a").read_bytes() == NEW


LOOP = """
import hashlib, itertools, os, sys, time
from pathlib import Path
from regard.tasks import files
real, files.CHUNK = os.write, 1 << 12
def slow(handle, data):
    time.sleep(0.001)
    return real(handle, data)
os.write = slow
for i in itertools.count():
    body = (b"%d " % i) * 10_000
    files.write_bytes(Path(sys.argv[1]), hashlib.sha256(body).digest() + body)
    if i == 0:
        print("written", flush=True)
"""


def test_kill_at_any_moment_leaves_a_whole_file(tmp_path):
    path, inside = tmp_path / "a", 0
    dice = random.Random(1)
    for _ in range(20):
        child = subprocess.Popen([sys.executable, "-c", LOOP, path], stdout=subprocess.PIPE)
        with child:
            assert child.stdout.readline() == b"written\n"
            time.sleep(dice.uniform(0, 0.05))
            child.send_signal(signal.SIGKILL)
        data = path.read_bytes()
        assert hashlib.sha256(data[32:]).digest() == data[:32]
        inside += names_in(tmp_path) != ["a"]
        sweep(tmp_path)
        assert names_in(tmp_path) == ["a"]
    assert inside >= 5  # else the kills missed what they were for


def test_sweeping_takes_only_what_nobody_is_writing(tmp_path, monkeypatch):
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                          capture_output=True, text=True, check=True).stdout.strip()  # fmt: skip
    names = {
        "dead": f"{PREFIX}{gone}-1",
        "living": f"{PREFIX}{os.getppid()}-1",
        "old": f"{PREFIX}{os.getppid()}-2",
        "ours from before": f"{PREFIX}{os.getpid()}-1",
        "ours": f"{PREFIX}{os.getpid()}-2",
        "foreign": f"{PREFIX}notes.txt",
        "no process has such a number": f"{PREFIX}{10**30}-1",
        "a file": "weights.safetensors",
    }
    for name in names.values():
        (tmp_path / name).write_bytes(b"part")
    hours_ago = time.time() - 7200
    os.utime(tmp_path / names["old"], (hours_ago, hours_ago))
    os.utime(tmp_path / names["foreign"], (hours_ago, hours_ago))
    monkeypatch.setattr(files, "_unfinished", {names["ours"]})
    swept = sweep(tmp_path)
    kept = {"living", "ours", "foreign", "a file"}
    assert sorted(swept) == sorted(names[key] for key in names.keys() - kept)
    assert names_in(tmp_path) == sorted(names[key] for key in kept)
    assert sweep(tmp_path / "none") == []


def test_reading_what_should_be_small(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_bytes(path, limit=5) == b"12345"
    with pytest.raises(FileError, match=r"a: has 5 bytes, and such a file has at most 4; is it"):
        read_bytes(path, limit=4)
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "none", limit=4)
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path, limit=4)


def test_a_pipe_would_never_end(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="pipe: is a pipe or a device"):
        open_plain(tmp_path / "pipe")
    with pytest.raises(FileError, match="is a pipe or a device"):
        open_plain("/dev/zero")

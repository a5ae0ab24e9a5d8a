"""Text that becomes a module: where its file lies, and that the file is whole."""

import stat
from pathlib import Path

import pytest

from regard.attention import generated


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "kernels"
    monkeypatch.setenv("REGARD_CACHE", str(folder))
    return folder


def test_a_text_becomes_a_module_with_a_file_of_its_own(cache):
    module = generated.loaded("x = 1\n", "test")
    assert module.x == 1
    assert Path(module.__file__).parent == cache
    assert Path(module.__file__).read_text() == "x = 1\n"
    assert generated.loaded("x = 2\n", "test").__file__ != module.__file__
    assert generated.loaded("x = 1\n", "test").__file__ == module.__file__
    assert generated.loaded("x = 1\n", "other").__file__ != module.__file__


def test_nobody_else_may_write_into_the_folder(cache):
    generated.loaded("x = 1\n", "test")
    assert stat.S_IMODE(cache.stat().st_mode) & 0o077 == 0


def test_a_file_that_was_tampered_with_is_written_anew(cache):
    path = generated._stored("some_name", "right = 1\n")
    path.write_text("raise SystemExit\n")
    assert generated._stored("some_name", "right = 1\n").read_text() == "right = 1\n"


def test_a_file_that_is_right_is_left_alone(cache):
    path = generated._stored("some_name", "right = 1\n")
    before = path.stat().st_mtime_ns
    assert generated._stored("some_name", "right = 1\n") == path
    assert path.stat().st_mtime_ns == before  # compilers go by it


def test_a_write_that_fails_leaves_the_old_file_whole(cache, monkeypatch):
    path = generated._stored("some_name", "old = 1\n")

    def full(self, target):
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space"):
        generated._write(path, "new = 1\n")
    assert path.read_text() == "old = 1\n"


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    blocked = tmp_path / "a file"
    blocked.write_text("in the way")
    monkeypatch.setenv("REGARD_CACHE", str(blocked / "folder"))
    module = generated.loaded("x = 3\n", "test")
    assert module.x == 3
    assert not Path(module.__file__).is_relative_to(blocked)
    assert blocked.read_text() == "in the way"


def test_without_a_name_the_folder_is_the_user_s_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("REGARD_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert generated._stored("some_name", "x = 1\n") == tmp_path / "regard" / "some_name.py"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert generated._stored("a_name", "x = 1\n") == tmp_path / ".cache" / "regard" / "a_name.py"


def test_an_empty_name_of_the_cache_is_none(tmp_path, monkeypatch):
    monkeypatch.delenv("REGARD_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert generated._stored("a_name", "x = 1\n").is_relative_to(tmp_path / ".cache")

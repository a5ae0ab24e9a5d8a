import json

import pytest

from regard.errors import FileError
from regard.tasks import manifest

FILES = {"config.toml": b"seed = 1\n", "source.model": b"\0\1\2", "target.model": b""}


@pytest.fixture
def folder(tmp_path):
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    manifest.write(tmp_path, FILES)
    return tmp_path


def test_the_files_come_back(folder):
    assert manifest.read(folder) == FILES


def test_the_digest_is_of_names_and_contents():
    digests = {
        manifest.digest_of(files)
        for files in (
            FILES,
            {**FILES, "config.toml": b"seed = 2\n"},
            {name: FILES[name] for name in ("config.toml", "source.model")},
            {**FILES, "source.model": b"", "target.model": b"\0\1\2"},
        )
    }
    assert len(digests) == 4
    assert manifest.digest_of(dict(reversed(FILES.items()))) in digests


def test_no_flipped_bit_of_run_json_goes_unnoticed(folder):
    path = folder / "run.json"
    data = path.read_bytes()
    for bit in range(0, 8 * len(data), 7):  # every byte, and each of the eight bits in turn
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(FileError, match=r"run\.json: is damaged"):
            manifest.read(folder)


def test_a_changed_or_missing_file_is_named(folder):
    (folder / "config.toml").write_bytes(b"seed = 2\n")
    words = r"config\.toml: is not the one this run was made with \(SHA-256 .*put it back, or"
    with pytest.raises(FileError, match=words):
        manifest.read(folder)
    (folder / "config.toml").unlink()
    with pytest.raises(FileError, match=r"config\.toml: is missing from the run; put back a copy"):
        manifest.read(folder)


def test_a_newer_format_is_refused_in_words(folder):
    (folder / "run.json").write_bytes(manifest._text({"anything": "new"}, 2))
    words = "the run was made by a newer regard, in format 2; this one knows format 1: pip"
    with pytest.raises(FileError, match=words):
        manifest.read(folder)


@pytest.mark.parametrize(
    "sums",
    [
        {},
        {"source.model": "0"},
        {"config.toml": 7},
        {"config.toml": "0", "../../etc/passwd": "0"},
        {"config.toml": "0", "a/b.model": "0"},
        ["config.toml"],
    ],
)
def test_it_names_no_other_files(folder, sums):
    (folder / "run.json").write_bytes(manifest._text(sums, 1))
    with pytest.raises(FileError, match=r"run\.json: is damaged"):
        manifest.read(folder)


@pytest.mark.parametrize("text", ["", "7", "[]", "{", "[" * 100_000, '{"sha256":1,"format":"a"}'])
def test_what_is_no_such_file_is_refused(folder, text):
    (folder / "run.json").write_text(text)
    with pytest.raises(FileError, match=r"run\.json: is damaged"):
        manifest.read(folder)


def test_it_is_readable(folder):
    told = json.loads((folder / "run.json").read_text())
    assert told["format"] == 1
    assert list(told["sha256"]) == list(FILES)

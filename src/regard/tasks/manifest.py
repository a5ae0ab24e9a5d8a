"""The file run.json: the hashes of what a run was made from, and a hash of those."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.errors import FileError
from regard.tasks.files import read_bytes, write_bytes

__all__ = ["digest_of", "read", "write"]

FORMAT = 1
LIMIT = 1 << 26  # bytes of a vocabulary
NAMES = re.compile(r"config\.toml|[a-z]+\.model")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _sums(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: _sha256(data) for name, data in files.items()}


def _digest(told: Mapping[str, Any]) -> str:
    return _sha256(json.dumps(told, sort_keys=True).encode())


def _text(sums: Mapping[str, str], version: int) -> bytes:
    """The one text that says this."""
    told = {"format": version, "sha256": sums}
    text = json.dumps({**told, "digest": _digest(told)}, indent=2, sort_keys=True) + "\n"
    return text.encode()


def digest_of(files: Mapping[str, bytes]) -> str:
    """One hash for all of these, by name and content."""
    return _digest({"format": FORMAT, "sha256": _sums(files)})


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write run.json for these files, whose names are config.toml and such as source.model."""
    write_bytes(folder / "run.json", _text(_sums(files), FORMAT))


def read(folder: Path) -> dict[str, bytes]:
    """The files that run.json names, each as it was when run.json was written.

    Raises:
        FileError: run.json or one of them was changed, or is missing.

    """
    files = {}
    for name, wanted in _read_sums(folder / "run.json").items():
        path = folder / name
        if not path.exists():
            msg = f"{path}: is missing from the run; put back a copy of it"
            raise FileError(msg)
        files[name] = read_bytes(path, limit=LIMIT)
        got = _sha256(files[name])
        if got != wanted:
            msg = (
                f"{path}: is not the one this run was made with (SHA-256 {wanted[:12]}..., got "
                f"{got[:12]}...); put it back, or start another run"
            )
            raise FileError(msg)
    return files


def _read_sums(path: Path) -> dict[str, str]:
    data = read_bytes(path, limit=1 << 20)
    try:
        told = json.loads(data)
        sums, version = told["sha256"], told["format"]
        good = type(version) is int and isinstance(sums, dict) and data == _text(sums, version)
        good = good and (version > FORMAT or _is_complete(sums))
    except (ValueError, RecursionError, TypeError, KeyError):
        good = False
    if not good:
        msg = f"{path}: is damaged: it is not what was written; put back a copy of it"
        raise FileError(msg)
    if version > FORMAT:
        msg = (
            f"{path}: the run was made by a newer regard, in format {version}; this one knows "
            f"format {FORMAT}: pip install -U regard"
        )
        raise FileError(msg)
    return dict(sums)


def _is_complete(sums: Mapping[str, object]) -> bool:
    good = (NAMES.fullmatch(name) and isinstance(value, str) for name, value in sums.items())
    return "config.toml" in sums and all(good)

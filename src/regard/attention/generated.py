"""Kernels whose text is written for a formula: a file in the user's cache, loaded as a module.

Compilers keep their results next to or by the text of a file, so the second process that uses a
score does not wait for them. ``REGARD_CACHE`` moves the folder.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

__all__ = ["loaded"]


def loaded(text: str, kind: str) -> ModuleType:
    """The module with this text, from a file that holds it."""
    name = f"regard_{kind}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    spec = spec_from_file_location(name, _stored(name, text))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # numba looks functions up by their module
    spec.loader.exec_module(module)
    return module


def _stored(name: str, text: str) -> Path:
    """A file that holds the text: in the cache, or in a private folder if that fails."""
    told = os.environ.get("REGARD_CACHE")
    base = Path(told) if told else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "regard"
    try:
        folder = base.expanduser()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"{name}.py"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            _write(path, text)
    except (OSError, RuntimeError):  # read-only, full, or no home
        path = Path(tempfile.mkdtemp(prefix="regard-")) / f"{name}.py"
        _write(path, text)
    return path


def _write(path: Path, text: str) -> None:
    """Whole or not at all: another process may be reading."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(temporary).replace(path)

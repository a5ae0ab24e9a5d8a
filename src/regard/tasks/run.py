"""A run: the folder in which one training keeps everything.

::

    run.json              hashes of the settings and vocabularies, and a hash of those
    config.toml           all settings
    source.model ...      vocabularies
    weights.safetensors   the weights to use
    last.safetensors      everything needed to go on
    recent/               the last few weights, step-00001200.safetensors
    metrics.jsonl         one row a line

A changed bit in any of them is noticed when it is read, or at once by ``verify``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from regard.errors import FileError, KindError, StateError, ValueRangeError
from regard.tasks import journal, manifest
from regard.tasks.files import PREFIX, settle, sweep, write_bytes
from regard.tasks.lock import Lock

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from typing_extensions import Self

__all__ = ["Run"]

LOCK = ".lock"
RECENT = re.compile(r"step-(\d{8}|[1-9]\d{8,})\.safetensors", re.ASCII)

TASK = re.compile(r'^task = "([a-z]+)"$', re.MULTILINE)

Loaded = tuple["dict[str, Tensor]", dict[str, Any]]


class Run:
    """A run on the disk; made by ``create``, found again by ``open``.

    Reading needs nothing more. The first write takes the lock of the folder, which ``close``, the
    end of a ``with`` or the end of the process gives back.

    Attributes:
        folder: where it lies.
        config: the text of config.toml.
        vocabularies: the bytes of source.model under "source", and so on.
        digest: of settings and vocabularies; it stands in every checkpoint of this run.
        notes: what was found and mended, in sentences for the user.

    """

    def __init__(
        self, folder: Path, config: str, vocabularies: Mapping[str, bytes], digest: str
    ) -> None:
        self.folder = folder
        self.config = config
        self.vocabularies = dict(vocabularies)
        self.digest = digest
        self.notes: list[str] = []
        self._lock = Lock(folder / LOCK)

    @classmethod
    def create(cls, folder: Path, config_text: str, vocabularies: Mapping[str, bytes]) -> Self:
        """Start a run in a new or empty folder, and hold its lock.

        Args:
            folder: made if it is not there.
            config_text: TOML, as ``to_toml`` writes it.
            vocabularies: bytes by name; "source" becomes source.model.

        Raises:
            StateError: a run is there already.
            FileError: something else is.

        """
        folder = Path(folder)
        files = {"config.toml": config_text.encode()}
        for name, data in vocabularies.items():
            if not re.fullmatch("[a-z]+", name):
                msg = f"a vocabulary must have a name such as 'source', got {name!r}"
                raise KindError(msg)
            files[f"{name}.model"] = data
        cls._refuse_what_is_there(folder, files)
        folder.mkdir(parents=True, exist_ok=True)
        settle(folder.parent)
        run = cls(folder, config_text, vocabularies, manifest.digest_of(files))
        run.lock()
        cls._refuse_what_is_there(folder, files)  # another process may have been quicker
        for name, data in files.items():
            write_bytes(folder / name, data)
        manifest.write(folder, files)  # last: from here on it is a run
        return run

    @staticmethod
    def _refuse_what_is_there(folder: Path, files: Mapping[str, bytes]) -> None:
        if not folder.exists():
            return
        if not folder.is_dir():
            msg = f"{folder}: must be a folder, and is a file; give another --out"
            raise FileError(msg)
        if (folder / "run.json").exists():
            msg = f"{folder}: holds a run already; give --resume to go on, or another --out"
            raise StateError(msg)
        for path in sorted(folder.iterdir()):
            if path.name == LOCK or path.name.startswith(PREFIX):
                continue
            # what a run that was killed as it began has written may be written again
            if path.name in files and path.is_file() and path.read_bytes() == files[path.name]:
                continue
            msg = (
                f"{folder}: must be new or empty, and holds {path.name!r}, which is no part of a "
                "run; give another --out"
            )
            raise FileError(msg)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Find a run, with its settings and vocabularies as they were at its beginning.

        Raises:
            FileError: it is no run, or one of those files was changed.

        """
        folder = Path(folder)
        if not (folder / "run.json").exists():
            there = "has no run.json" if folder.is_dir() else "is not there, or is no folder"
            msg = f"{folder}: is no run: it {there}; `regard train` makes one"
            raise FileError(msg)
        files = manifest.read(folder)
        digest = manifest.digest_of(files)
        config = files.pop("config.toml").decode()
        named = {name.removesuffix(".model"): data for name, data in files.items()}
        return cls(folder, config, named, digest)

    @property
    def task(self) -> str:
        """What it is a run of: "translation", "tagging" or "classification"."""
        found = TASK.search(self.config)
        return "translation" if found is None else found[1]  # runs from before there were others

    # who writes

    def lock(self) -> None:
        """Become the one that writes to the run, and clear up what a killed writer left.

        Raises:
            StateError: another process writes to it.

        """
        if self._lock.held:
            return
        if not self._lock.take():
            msg = (
                f"{self.folder}: another process is writing to this run; wait for it to end, or "
                "give another --out"
            )
            raise StateError(msg)
        try:
            for folder in (self.folder, self.folder / "recent"):
                sweep(folder)
            if journal.mend(self._metrics):
                self._note_torn_line()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others write."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # tensors

    @property
    def has_last(self) -> bool:
        """Whether there is something to go on from."""
        return (self.folder / "last.safetensors").exists()

    @property
    def has_weights(self) -> bool:
        """Whether there is something to use."""
        return (self.folder / "weights.safetensors").exists()

    def save_last(self, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
        """Keep everything needed to go on."""
        with suppress(FileNotFoundError), self._metrics.open("rb") as file:
            os.fsync(file.fileno())  # no row may be missing from before the checkpoint
        self._save(self.folder / "last.safetensors", tensors, about)

    def load_last(self, device: torch.device | str = "cpu") -> Loaded:
        """What ``save_last`` kept."""
        return self.load(self.folder / "last.safetensors", device)

    def save_weights(self, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
        """Keep the weights to use."""
        self._save(self.folder / "weights.safetensors", tensors, about)

    def load_weights(self, device: torch.device | str = "cpu") -> Loaded:
        """What ``save_weights`` kept."""
        return self.load(self.folder / "weights.safetensors", device)

    def keep_recent(
        self, step: int, tensors: Mapping[str, Tensor], about: Mapping[str, Any], *, keep: int
    ) -> None:
        """Keep the weights of a step, then let go of all but the ``keep`` latest."""
        if keep < 1:
            msg = f"keep must be at least 1, got {keep}"
            raise ValueRangeError(msg)
        self.lock()
        (self.folder / "recent").mkdir(exist_ok=True)
        self._save(self._recent(step), tensors, about)
        for old in self.recent_steps()[:-keep]:
            self._recent(old).unlink()

    def recent_steps(self) -> list[int]:
        """The steps whose weights ``keep_recent`` has kept."""
        found = (RECENT.fullmatch(path.name) for path in (self.folder / "recent").glob("step-*"))
        return sorted(int(match[1]) for match in found if match)

    def recent(self, device: torch.device | str = "cpu") -> Iterator[Loaded]:
        """What ``keep_recent`` has kept, oldest first, one at a time."""
        for step in self.recent_steps():
            yield self.load(self._recent(step), device)

    def _recent(self, step: int) -> Path:
        return self.folder / "recent" / f"step-{step:08}.safetensors"

    def _save(self, path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
        from regard.tasks.checkpoint import write_tensors  # noqa: PLC0415 - torch takes seconds

        self.lock()
        write_tensors(path, tensors, {**about, "run": self.digest})

    def load(self, path: Path, device: torch.device | str = "cpu") -> Loaded:
        """The tensors of a file of this run, and what was said about them.

        Raises:
            StateError: it has not been written yet.
            FileError: it is damaged, or belongs to another run.

        """
        from regard.tasks.checkpoint import read_tensors  # noqa: PLC0415 - torch takes seconds

        if not path.exists():
            msg = f"{path}: is not there yet; the run stopped before its first checkpoint"
            raise StateError(msg)
        tensors, about = read_tensors(path, device)
        if about.pop("run", None) != self.digest:
            msg = (
                f"{path}: belongs to another run: it was not written with the config.toml and the "
                "vocabularies beside it; put back the one that was there"
            )
            raise FileError(msg)
        return tensors, about

    # rows

    @property
    def _metrics(self) -> Path:
        return self.folder / "metrics.jsonl"

    def log(self, row: Mapping[str, Any]) -> None:
        """Add a row to metrics.jsonl."""
        self.lock()
        journal.append(self._metrics, row)

    def rows(self) -> list[dict[str, Any]]:
        """The rows of metrics.jsonl."""
        rows, torn = journal.read(self._metrics)
        if torn:
            self._note_torn_line()
        return rows

    def cut_log(self, step: int) -> None:
        """Forget the rows from the first one after this step on."""
        self.lock()
        journal.truncate(self._metrics, step)

    def rewind(self, step: int) -> None:
        """Forget the rows and the recent weights of later steps, to go on from this one."""
        self.cut_log(step)
        for later in self.recent_steps():
            if later > step:
                self._recent(later).unlink()

    def _note_torn_line(self) -> None:
        note = f"{self._metrics}: the last line was cut short when its writer was stopped; left out"
        if note not in self.notes:
            self.notes.append(note)

    # all of it

    def verify(self) -> None:
        """Read everything in the folder, and compare it with what was written.

        Raises:
            FileError: the first difference.

        """
        again = type(self).open(self.folder)
        if again.digest != self.digest:
            msg = (
                f"{self.folder}: another run has taken its place since it was opened; open it again"
            )
            raise FileError(msg)
        for path in (self.folder / "weights.safetensors", self.folder / "last.safetensors"):
            if path.exists():
                self.load(path)
        for step in self.recent_steps():
            self.load(self._recent(step))
        self.rows()

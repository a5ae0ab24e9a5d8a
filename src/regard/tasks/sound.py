r"""Sets of labelled sounds: WAV files in folders, with labels in their names, or in a list.

``digits/seven/a.wav`` has the label of its folder, ``digits/7_theo_3.wav`` what stands before the
first ``_`` of its name, and a file of its own may list them, ``a.wav <tab> seven`` in each row
(`regard.tasks.folders` has the rules). What a file says of its sound is read at once; one whose
sound cannot be read, or is not there, is left out, counted and reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.errors import FileError
from regard.tasks.findings import Findings, counted, refuse_nothing, shown
from regard.tasks.folders import (
    IN_FOLDERS,
    IN_LISTS,
    LabelledFile,
    files_in_folder,
    files_in_list,
)
from regard.tasks.wav import Sound, read_wav, read_wav_header

__all__ = ["Sound", "SoundFile", "Sounds", "read_sounds", "read_wav"]

ENDINGS = (".wav", ".wave")
RULES = IN_FOLDERS | IN_LISTS | {"bad": "that cannot be read", "kind": "not named .wav"}
WANTED = (
    "wanted are WAV files in folders named after their labels, or named LABEL_anything.wav, or a "
    "list with a file, a tab and its label in each row"
)


@dataclass(frozen=True, slots=True)
class SoundFile:
    """A WAV file with its label, and how much sound is in it."""

    path: Path
    label: str
    frames: int  # samples of one channel
    rate: int  # samples a second


@dataclass(frozen=True)
class Sounds:
    """The sounds of a folder or list, and what became of the other files."""

    items: tuple[SoundFile, ...]
    found: Findings

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[SoundFile]:
        return iter(self.items)

    @property
    def labels(self) -> list[str]:
        """The label of each sound."""
        return [item.label for item in self.items]

    def report(self) -> list[str]:
        """Lines for a reader: a loud one first, if it has to be."""
        seconds = sum(item.frames / item.rate for item in self.items)
        labels = counted(len(set(self.labels)), "label")
        more = f", {seconds:,.0f} seconds, {labels}"
        return self.found.loud() + self.found.report("sound", more)


def read_sounds(path: Path) -> Sounds:
    """Find labelled sounds; where they may be stands at the top of this module.

    Raises:
        FileError: no sound is left, or the folders are parts of a data set and not labels.
        OSError: the folder or list cannot be read.

    """
    found = Findings(path, "file", RULES, WANTED, quiet=frozenset({"kind"}))
    if path.is_dir():
        files = files_in_folder(path, _is_wav, found, names=True)
    elif _is_wav(path.name):
        msg = f"{shown(path)}: is one file; {WANTED}"
        raise FileError(msg)
    else:
        files = files_in_list(path, found)
    items = [item for file in files if (item := _looked_at(file, found))]
    found.kept = len(items)
    refuse_nothing((found,), "sound", WANTED)
    return Sounds(tuple(items), found)


def _is_wav(name: str) -> bool:
    return name.lower().endswith(ENDINGS)


def _looked_at(file: LabelledFile, found: Findings) -> SoundFile | None:
    try:
        header = read_wav_header(file.path)
        if header.kind.startswith("f"):
            read_wav(file.path)  # only there can samples be no numbers
    except FileError as error:
        found.leave_out("bad", file.place, str(error))
    except OSError as error:
        found.leave_out("bad", file.place, f"{shown(file.path)}: {error.strerror or error}")
    except ValueError:  # a name no file can have
        found.leave_out("bad", file.place, f"{shown(file.path)}: no name of a file")
    else:
        return SoundFile(file.path, file.label, header.frames, header.rate)
    return None

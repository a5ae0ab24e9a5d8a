"""Labelled texts, sounds and images, read into one form; what is large stays on the disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from regard.tasks.classification.detected import detected
from regard.tasks.classification.forms import mel_of
from regard.tasks.classification.settings import ClassificationSettings
from regard.tasks.labelled import read_labelled
from regard.tasks.mel import Mel
from regard.tasks.pictures import read_pictures
from regard.tasks.sound import read_sounds, read_wav

__all__ = ["Example", "Examples", "frames_of", "read_examples"]

Numbers: TypeAlias = NDArray[Any]

KEPT = 1 << 30  # bytes of frames kept in memory; the others are made each time


@dataclass(frozen=True)
class Example:
    """One text, sound or image with its label.

    Args:
        label: what it is.
        name: what messages call it: a file, or a line or place in one.
        digest: of its content.
        shape: of what ``load`` gives; of a text none.
        load: gives a text, or log-mel frames [n, features], or pixels [h, w, c] of 8 bits.

    """

    label: str
    name: str
    digest: bytes
    shape: tuple[int, ...]
    load: Callable[[], Any]


@dataclass(frozen=True)
class Examples:
    """All examples of one path.

    Args:
        kind: "text", "sound" or "images".
        all: in the order in which they were read.
        report: what was kept and dropped, in lines for a reader.

    """

    kind: str
    all: tuple[Example, ...]
    report: tuple[str, ...] = ()


def read_examples(
    path: Path, settings: ClassificationSettings, kind: str = "auto", *, unique: bool = True
) -> Examples:
    """Read a set of labelled examples.

    Rows and files that cannot be used are left out, counted and reported.

    Args:
        path: a label and a text in each row (``regard.tasks.labelled``); a folder or a list of
            WAV files (``regard.tasks.sound``); or a folder tree, an .npz or IDX files of images
            (``regard.tasks.pictures``).
        settings: how frames are made of sound.
        kind: "text", "sound" or "images"; "auto" finds out.
        unique: whether a text that comes twice is left out once; a score has to count it.

    Raises:
        FileError: it is none of them, or no example can be used.
        OSError: it cannot be read.

    """
    kind = detected(path) if kind == "auto" else kind
    if kind == "text":
        return _texts(path, unique=unique)
    return _sounds(path, mel_of(settings)) if kind == "sound" else _images(path)


def _texts(path: Path, *, unique: bool) -> Examples:
    read = read_labelled(path, unique=unique)
    found = tuple(
        Example(
            row.label,
            f"{path}, line {row.line}",
            _sha(row.text.encode()),
            (),
            partial(_this, row.text),
        )
        for row in read
    )
    return Examples("text", found, tuple(read.report()))


def _sounds(path: Path, mel: Mel) -> Examples:
    read = read_sounds(path)
    found, room = [], KEPT
    for item in read:
        frames = frames_of(item.path, mel)
        room -= frames.nbytes
        load = partial(_this, frames) if room >= 0 else partial(frames_of, item.path, mel)
        found.append(_example(item.label, str(item.path), frames, load))
    return Examples("sound", tuple(found), tuple(read.report()))


def frames_of(path: Path, mel: Mel) -> NDArray[np.float32]:
    """The log-mel frames [n, features] of a WAV file."""
    sound = read_wav(path)
    frames: NDArray[np.float32] = mel(sound.samples, sound.rate).numpy()
    return frames


def _images(path: Path) -> Examples:
    read = read_pictures(path)  # keeps what there is room for
    found = tuple(
        _example(label, name, image, partial(read.images.__getitem__, i))
        for i, (label, name, image) in enumerate(
            zip(read.labels, read.names, read.images, strict=True)
        )
    )
    return Examples("images", found, tuple(read.report()))


def _example(label: str, name: str, content: Numbers, load: Callable[[], Numbers]) -> Example:
    digest = _sha(repr(content.shape).encode(), np.ascontiguousarray(content).data)
    return Example(label, name, digest, content.shape, load)


def _this(content: Any) -> Any:  # noqa: ANN401 - whatever it is
    return content


def _sha(*parts: bytes | memoryview) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()

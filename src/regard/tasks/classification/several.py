"""The files to classify that a path stands for: itself, those in it, or images in one file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regard.errors import FileError
from regard.tasks.classification.detected import PICTURES, SOUNDS
from regard.tasks.files import open_plain
from regard.tasks.idx import is_idx, read_idx
from regard.tasks.pictures import read_pictures

__all__ = ["several"]

ENDINGS = {"sound": SOUNDS, "images": PICTURES}
ZIP = b"PK\x03\x04"
STACKED = 3  # axes of images without channels


def several(path: Path, kind: str) -> Iterator[tuple[str, Any]]:
    """Names, and paths or pixels.

    Of a folder all files of the kind, by the endings of their names, in the order of these; of an
    .npz or IDX file each image, whose labels nobody asks for.

    Raises:
        FileError: there is none.
        OSError: it cannot be read.

    """
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.suffix.lower() in ENDINGS[kind])
        if not files:
            what = "WAV files" if kind == "sound" else "images"
            msg = f"{path}: there are no {what} in this folder"
            raise FileError(msg)
        for file in files:
            yield str(file), file
    elif kind == "images" and _is_npz(path):
        pictures = read_pictures(path)
        for i, image in enumerate(pictures.images):
            yield f"{path}[{i}]", image
    elif kind == "images" and path.suffix.lower() not in PICTURES and is_idx(path):
        images = read_idx(path)
        for i, image in enumerate(images[..., None] if images.ndim == STACKED else images):
            yield f"{path}[{i}]", image
    else:
        yield str(path), path


def _is_npz(path: Path) -> bool:
    with open_plain(path) as file:
        return file.read(len(ZIP)) == ZIP

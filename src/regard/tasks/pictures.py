r"""Sets of labelled pictures: in folders, in a list, in an .npz file, or in IDX files.

- A folder of folders: each picture has the label of its folder (`regard.tasks.folders` has the
  rules). Or a list with a file, a tab and its label in each row.
- An .npz file with pictures and labels (`regard.tasks.npz`).
- IDX files: ``train-images-idx3-ubyte``, with ``train-labels-idx1-ubyte`` beside it, either of
  them compressed with gzip or not; or the folder they lie in, if there are pictures in one only.

A picture file that cannot be read is left out, counted and reported; for that, all are read once.
What fits into 1 GiB stays in memory, the others are read again when they are asked for.
All pictures of a set have the same number of channels: three if one of them has colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np

from regard.errors import FileError
from regard.tasks.files import open_plain
from regard.tasks.findings import Findings, counted, refuse_nothing, shown
from regard.tasks.folders import (
    IN_FOLDERS,
    IN_LISTS,
    LabelledFile,
    files_in_folder,
    files_in_list,
)
from regard.tasks.idx import is_idx, read_idx
from regard.tasks.npz import read_npz
from regard.tasks.picture import Pixels, read_picture, with_channels

__all__ = ["Images", "Pictures", "read_picture", "read_pictures"]

ENDINGS = (".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".gif", ".bmp", ".webp",
           ".ppm", ".pgm", ".pbm", ".pnm")  # fmt: skip
IN_MEMORY = 1 << 30  # bytes of pixels
RULES = IN_FOLDERS | IN_LISTS | {
    "bad": "that cannot be read",
    "kind": "not named like a picture",
}  # fmt: skip
WANTED = (
    "wanted are pictures in folders named after their labels, a list with a file, a tab and its "
    "label in each row, an .npz file with images and labels, or IDX files"
)


class Images(Sequence[Pixels]):
    """Pictures of any sizes, uint8 [h, w, c]; those not in memory are read when asked for."""

    def __init__(self, held: Sequence[Pixels | Path], channels: int) -> None:
        self._held = held
        self.channels = channels

    def __len__(self) -> int:
        return len(self._held)

    @overload
    def __getitem__(self, index: int) -> Pixels: ...
    @overload
    def __getitem__(self, index: slice) -> Images: ...
    def __getitem__(self, index: int | slice) -> Pixels | Images:
        if isinstance(index, slice):
            return Images(self._held[index], self.channels)
        held = self._held[index]
        pixels = read_picture(held) if isinstance(held, Path) else held
        return with_channels(pixels, self.channels)


@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures with their labels and names, and what became of the other files."""

    images: Images
    labels: list[str]
    names: list[str]
    sizes: list[tuple[int, int]]  # height and width of each
    found: Findings

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[tuple[Pixels, str]]:
        return zip(self.images, self.labels, strict=True)

    @property
    def channels(self) -> int:
        """1 if all pictures are grey, 3 if they have colours."""
        return self.images.channels

    def report(self) -> list[str]:
        """Lines for a reader: a loud one first, if it has to be."""
        heights, widths = zip(*set(self.sizes), strict=True)
        small, large = (f"{pick(heights)} x {pick(widths)}" for pick in (min, max))
        spread = small if small == large else f"{small} to {large}"
        colours = "grey" if self.channels == 1 else "in colours"
        more = f", {spread} pixels, {colours}, {counted(len(set(self.labels)), 'label')}"
        return self.found.loud() + self.found.report("picture", more)


def read_pictures(path: Path) -> Pictures:
    """Find labelled pictures; where they may be stands at the top of this module.

    Raises:
        FileError: no picture is left, or a file is not what it should be.
        MissingError: Pillow, which reads picture files, is not installed.
        OSError: the folder or file cannot be read.

    """
    if path.is_dir():
        idx = sorted(p for p in path.iterdir() if _is_named_idx(p))
        if idx:
            return _from_idx(_only(path, idx))
    else:
        with open_plain(path) as file:
            head = file.read(8)
        if head.startswith(b"PK\x03\x04"):
            found = Findings(path, "picture", RULES, WANTED)
            return _from_arrays(*read_npz(path), found)
        if head.startswith(b"\x93NUMPY"):
            msg = f"{shown(path)}: is an .npy file without labels; {WANTED}"
            raise FileError(msg)
        if _is_named_idx(path) or is_idx(path):
            return _from_idx(path)
        if path.name.lower().endswith(ENDINGS):
            msg = f"{shown(path)}: is one picture; {WANTED}"
            raise FileError(msg)
    return _from_files(path)


def _from_files(path: Path) -> Pictures:
    found = Findings(path, "file", RULES, WANTED, quiet=frozenset({"kind"}))
    if path.is_dir():
        files = files_in_folder(path, lambda name: name.lower().endswith(ENDINGS), found)
    else:
        files = files_in_list(path, found)
    held: list[Pixels | Path] = []
    kept: list[LabelledFile] = []
    sizes: list[tuple[int, int]] = []
    channels, taken = 1, 0
    for file in files:
        try:
            pixels = read_picture(file.path)
        except FileError as error:
            found.leave_out("bad", file.place, str(error))
            continue
        except OSError as error:
            found.leave_out("bad", file.place, f"{shown(file.path)}: {error.strerror or error}")
            continue
        channels = max(channels, pixels.shape[2])
        taken += pixels.nbytes
        held.append(pixels if taken <= IN_MEMORY else file.path)
        sizes.append((pixels.shape[0], pixels.shape[1]))
        kept.append(file)
    found.kept = len(kept)
    refuse_nothing((found,), "picture", WANTED)
    names = [str(file.path) for file in kept]
    return Pictures(Images(held, channels), [file.label for file in kept], names, sizes, found)


def _from_arrays(pixels: Pixels, labels: list[str], found: Findings) -> Pictures:
    count, height, width, channels = pixels.shape
    found.kept = count
    names = [f"{found.path.name}[{i}]" for i in range(count)]
    images = Images(list(pixels), channels)
    return Pictures(images, labels, names, [(height, width)] * count, found)


def _is_named_idx(path: Path) -> bool:
    name = path.name.lower()
    return "images" in name and "idx" in name and path.is_file()


def _only(folder: Path, files: list[Path]) -> Path:
    by_name = {file.name.removesuffix(".gz"): file for file in files}
    if len(by_name) > 1:
        names = ", ".join(shown(file.name) for file in by_name.values())
        msg = f"{shown(folder)}: there are several sets in it, {names}; give one of these files"
        raise FileError(msg)
    return next(iter(by_name.values()))


def _from_idx(path: Path) -> Pictures:
    images = read_idx(path)
    if images.ndim not in {3, 4} or (images.ndim == 4 and images.shape[3] not in {1, 3}):  # noqa: PLR2004
        what = "labels, give the file of the pictures" if images.ndim == 1 else "no pictures"
        msg = (
            f"{shown(path)}: wanted pictures [n, h, w] or [n, h, w, c] with c of 1 or 3, got "
            f"{list(images.shape)}: these are {what}"
        )
        raise FileError(msg)
    beside = _labels_beside(path)
    labels = read_idx(beside)
    if labels.shape != images.shape[:1]:
        msg = (
            f"{shown(path)} has {len(images):,} pictures, {shown(beside)} has "
            f"{' x '.join(f'{n:,}' for n in labels.shape)} labels; wanted one for each"
        )
        raise FileError(msg)
    if 0 in images.shape:
        msg = f"{shown(path)}: there is no picture in it, the array is {list(images.shape)}"
        raise FileError(msg)
    pixels = images if images.ndim == 4 else images[..., np.newaxis]  # noqa: PLR2004
    found = Findings(path, "picture", RULES, WANTED)
    return _from_arrays(pixels, [str(label) for label in labels.tolist()], found)


def _labels_beside(path: Path) -> Path:
    """The file of the labels: MNIST's names, or the same with "labels" for "images"."""
    plain = path.name.removesuffix(".gz")
    named = plain.replace("images", "labels")
    candidates = [
        path.with_name(name + ending)
        for name in (named.replace("idx3", "idx1").replace("idx4", "idx1"), named)
        for ending in (".gz" if path.name.endswith(".gz") else "", "", ".gz")
    ]
    for beside in candidates:
        if beside.name != path.name and beside.is_file():
            return beside
    msg = (
        f"{shown(path)}: no labels are beside it; wanted {shown(candidates[0].name)}"
        if "images" in path.name
        else f"{shown(path)}: wanted a file with 'images' in its name, and the same with 'labels'"
    )
    raise FileError(msg)

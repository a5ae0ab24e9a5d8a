r"""Files with a label each: in a folder of folders, in their own names, or in a list.

A folder of folders: each file belongs to the label its first folder is named after, however deep
it lies. Links are followed, but no folder is entered twice, so that none leads in circles. Names
that begin with a dot are not looked at. A list has a file, a tab and its label in each row; a
file that is named without its folder lies beside the list.

Left out, counted and reported are files

- of another kind, which is seen from the ending of their names (nobody is warned of these),
- that lie beside the folders of the labels, in none of them,
- without a label in their names, where that is where labels are,
- and folders that cannot be read, or were entered before.

Of a list the rows are: longer than 1 MiB, blank, without a tab, not UTF-8, with an empty side,
equal to an earlier one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.errors import FileError
from regard.tasks.findings import Findings, shown
from regard.tasks.pairs import normalise
from regard.tasks.rows import numbered_rows

__all__ = ["IN_FOLDERS", "IN_LISTS", "LabelledFile", "files_in_folder", "files_in_list"]

SPLITS = {"train", "training", "test", "testing", "val", "valid", "validation", "dev", "eval"}
IN_FOLDERS = {
    "outside": "outside the folders of the labels",
    "label": "without a label in the name",
    "folder": "in folders that cannot be read",
    "again": "leading to a folder seen before",
}
IN_LISTS = {
    "long": "in rows longer than 1 MiB",
    "blank": "in rows without text",
    "tab": "in rows without a tab",
    "utf-8": "in rows with bytes that are not UTF-8",
    "empty": "in rows with an empty side",
    "twice": "in rows equal to an earlier one",
}


@dataclass(frozen=True, slots=True)
class LabelledFile:
    """A file, its label, and how it is called in a report: by a name or the line of a list."""

    path: Path
    label: str
    place: str | int


def files_in_folder(
    folder: Path, is_kind: Callable[[str], bool], found: Findings, *, names: bool = False
) -> list[LabelledFile]:
    """The files of a kind below a folder, in the order of their names.

    Args:
        folder: what to look through.
        is_kind: whether a file of this name is wanted.
        found: where to count what is left out; its rules hold ``IN_FOLDERS`` and "kind".
        names: whether a label may stand in a file's name, before the first ``_``, where there
            are no folders with such files.

    Raises:
        FileError: the folders are parts of a data set, not labels.
        OSError: the folder cannot be read.

    """
    top: list[tuple[Path, tuple[str, ...]]] = []
    inside: list[tuple[Path, tuple[str, ...]]] = []
    for path, parts in _walked(folder, found):
        if is_kind(path.name):
            (inside if len(parts) > 1 else top).append((path, parts))
        else:
            found.leave_out("kind", "/".join(parts))
    if not inside and names:
        return [named for path, _ in top if (named := _named(path, found))]
    for _, parts in top:
        found.leave_out("outside", "/".join(parts))
    _refuse_splits(folder, inside)
    files = []
    for path, parts in inside:
        if label := normalise(parts[0]):
            files.append(LabelledFile(path, label, "/".join(parts)))
        else:
            found.leave_out("label", "/".join(parts))
    return files


def _walked(folder: Path, found: Findings) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Every file below a folder, with the names that lead to it."""
    entered = set()
    stack: list[tuple[Path, tuple[str, ...]]] = [(folder, ())]
    while stack:
        path, parts = stack.pop()
        try:
            about = path.stat()
            mark = about.st_dev, about.st_ino
            if mark in entered:
                found.leave_out("again", "/".join(parts))
                continue
            entered.add(mark)
            names = sorted(below.name for below in path.iterdir() if below.name[0] != ".")
        except OSError as error:
            if not parts:
                raise
            found.leave_out("folder", "/".join(parts), _told(error))
            continue
        folders = []
        for name in names:
            below = path / name, (*parts, name)
            if os.path.isdir(below[0]):  # noqa: PTH112 - a loop of links is False to it, not raised
                folders.append(below)
            else:
                yield below
        stack += reversed(folders)


def _named(path: Path, found: Findings) -> LabelledFile | None:
    label, mark, _ = path.name.partition("_")
    if mark and (label := normalise(label)):
        return LabelledFile(path, label, path.name)
    found.leave_out("label", path.name)
    return None


def _refuse_splits(folder: Path, inside: list[tuple[Path, tuple[str, ...]]]) -> None:
    tops = {parts[0] for _, parts in inside}
    deep = all(len(parts) > 2 for _, parts in inside)  # noqa: PLR2004 - part, label, file
    if len(tops) > 1 and deep and {top.lower() for top in tops} <= SPLITS:
        msg = (
            f"{shown(folder)}: the folders {', '.join(sorted(tops))} look like parts of a data "
            f"set, not like labels; give one of them, {shown(folder / min(tops))}"
        )
        raise FileError(msg)


def files_in_list(path: Path, found: Findings) -> list[LabelledFile]:
    """The files and labels of a list, in its order; whether they are there is not looked at.

    Raises:
        FileError: a compressed list is damaged, or this is no text.
        OSError: the list cannot be read.

    """
    files = []
    seen = set()
    for line, row in numbered_rows(path):
        read = _sides(row)
        if isinstance(read, str):
            found.leave_out(read, line)
        elif read in seen:
            found.leave_out("twice", line)
        else:
            seen.add(read)
            name, label = read
            files.append(LabelledFile(path.parent / name, label, line))
    return files


def _sides(row: bytes | None) -> tuple[str, str] | str:
    """File and label, or the rule the row breaks."""
    if row is None:
        return "long"
    if not row.strip(b" "):
        return "blank"
    columns = row.split(b"\t", 2)[:2]
    if len(columns) == 1:
        return "tab"
    try:
        name, label = columns[0].decode(), normalise(columns[1].decode())
    except UnicodeDecodeError:
        return "utf-8"
    if not (name.strip() and label) or "\0" in name:
        return "empty"
    return name, label


def _told(error: OSError) -> str:
    return f"{shown(error.filename or '')}: {error.strerror or error}"

"""Pieces of a map as bytes: asked for in a query, worked out, kept while there is room."""

from __future__ import annotations

import re
import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from regard.studio.guard import Refusal

if TYPE_CHECKING:
    from regard.viewing.heads import Head, Tile

__all__ = ["Asked", "Cache", "line", "tile"]

MAGIC = 0x31544752  # "RGT1" when read as text
TILE_CELLS, LINE_CELLS = 512, 16_384  # a side, at most
BUDGET = 1 << 33  # what may be worked out, in products of two numbers: some tenths of a second
READ = 1 << 34  # what a pooled piece takes at least, one query a cell: less than a second
FEWEST = 64  # cells a side that are worth to wait for
KEPT = 64 << 20  # bytes

_NUMBER = re.compile("0|[1-9][0-9]{0,9}", re.ASCII)

Work = Callable[[], "Tile"]


@dataclass(frozen=True)
class Asked:
    """A piece that was asked for: what tells it from others, and how to work it out."""

    key: tuple[object, ...]
    work: Work

    def answer(self) -> bytes:
        """The piece: four little-endian int32 (a mark, rows, columns, every), then float32."""
        found = self.work()
        values = found.values.detach().cpu().float().contiguous()
        rows, cols = values.shape
        body: bytes = values.numpy().astype("<f4", copy=False).tobytes()
        return struct.pack("<4i", MAGIC, rows, cols, found.every) + body


def tile(heads: Sequence[Head], query: str) -> Asked:
    """What ``map=3&r0=0&r1=4096&c0=0&c1=4096&cells=256&reduce=mass`` asks for.

    Raises:
        Refusal: it asks for something there is not.

    """
    given = _pairs(query, "map", "r0", "r1", "c0", "c1", "cells", "reduce")
    number, head = _head(heads, given)
    r0, r1 = _run(given, "r0", "r1", head.n)
    c0, c1 = _run(given, "c0", "c1", head.m)
    cells = _number(given, "cells", 1, TILE_CELLS, 256)
    reduce = given.get("reduce", "mass")
    if reduce not in ("mass", "max"):
        raise Refusal(400, "reduce must be mass or max")
    if r1 - r0 > cells:
        cells = _affordable(cells, head)
    how: Literal["mass", "max"] = "max" if reduce == "max" else "mass"
    return Asked(
        ("tile", number, r0, r1, c0, c1, cells, how),
        lambda: head.tile(slice(r0, r1), slice(c0, c1), cells, how, BUDGET),
    )


def line(heads: Sequence[Head], query: str) -> Asked:
    """What ``map=3&axis=row&at=17&cells=1024`` asks for: one query's weights, or one key's.

    Raises:
        Refusal: it asks for something there is not.

    """
    given = _pairs(query, "map", "axis", "at", "cells")
    number, head = _head(heads, given)
    name = given.get("axis")
    if name not in ("row", "col"):
        raise Refusal(400, "axis must be row or col")
    axis: Literal["row", "col"] = "row" if name == "row" else "col"
    at = _number(given, "at", 0, (head.n if axis == "row" else head.m) - 1)
    cells = _number(given, "cells", 1, LINE_CELLS, 1024)
    if axis == "col":  # every query has to be asked about all keys
        cells = _affordable(cells, head)
    return Asked(("line", number, axis, at, cells), lambda: head.line(axis, at, cells, BUDGET))


def _affordable(cells: int, head: Head) -> int:
    """As many cells as can each have a query that is read; the page sees how many came."""
    return min(cells, max(READ // (head.m * head.work), FEWEST))


class Cache:
    """Answers by what was asked, the longest unused let go first; threads may share it.

    >>> cache = Cache(8)
    >>> cache.put("a", b"12345"), cache.put("b", b"6789"), cache.get("a"), cache.get("b")
    (None, None, None, b'6789')
    """

    def __init__(self, room: int = KEPT) -> None:
        self.room = room
        self.held = 0
        self._answers: OrderedDict[object, bytes] = OrderedDict()
        self._turn = threading.Lock()

    def get(self, key: object) -> bytes | None:
        """An answer, if it is still here."""
        with self._turn:
            if key not in self._answers:
                return None
            self._answers.move_to_end(key)
            return self._answers[key]

    def put(self, key: object, answer: bytes) -> None:
        """Keep an answer, unless it alone fills the room."""
        with self._turn:
            if key in self._answers or len(answer) > self.room:
                return
            self._answers[key] = answer
            self.held += len(answer)
            while self.held > self.room:
                _, old = self._answers.popitem(last=False)
                self.held -= len(old)


def _pairs(query: str, *known: str) -> dict[str, str]:
    """Names and values; nothing here needs an escape, so none is read."""
    found: dict[str, str] = {}
    for pair in query.split("&"):
        name, equals, value = pair.partition("=")
        if name not in known or not equals or name in found:
            raise Refusal(400, f"each of {', '.join(known)} may be given once, and nothing else")
        found[name] = value
    return found


def _number(
    given: Mapping[str, str], name: str, low: int, high: int, default: int | None = None
) -> int:
    text = given.get(name)
    if text is None and default is not None:
        return default
    if text is None or not _NUMBER.fullmatch(text) or not low <= int(text) <= high:
        raise Refusal(400, f"{name} must be a whole number from {low} to {high}")
    return int(text)


def _head(heads: Sequence[Head], given: Mapping[str, str]) -> tuple[int, Head]:
    number = _number(given, "map", 0, len(heads) - 1)
    return number, heads[number]


def _run(given: Mapping[str, str], first: str, last: str, size: int) -> tuple[int, int]:
    start = _number(given, first, 0, size - 1)
    return start, _number(given, last, start + 1, size)

"""Heads written into a block of bytes, as finely as there is room: rung by rung."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from regard.errors import ValueRangeError
from regard.viewing import notes
from regard.viewing.block import HALF, Block, FullError
from regard.viewing.heads import Head
from regard.viewing.reading import Pooled, Reading, written_out

__all__ = ["Written", "fitted"]

SIDES = (256, 128, 64, 32, 16)  # cells of a pooled grid
THUMBNAIL = 64  # the same where the rest comes when it is looked at
KEYS, ENOUGH = 8, 4  # weights of a query that are exact beside the grids: at most, and if possible
DEFLATES = 8  # so many times smaller weights may become; beyond it is not even tried
SAMPLE = 8  # heads from which is told how much all will take
QUICK = 1 << 20  # weights that a live page holds from the start
# what may be worked out, in products of two numbers: 2 ** 33 take about half a second of a core
WHOLE = 1 << 37  # to read all weights of all heads; beyond, queries are sampled
BUDGET = 1 << 36  # for such a sample
GLANCE = 1 << 33  # the same where the rest comes when it is looked at

Written = tuple[Block, list[dict[str, Any]], list[dict[str, str]]]


def fitted(heads: Sequence[Head], most: int, *, live: bool) -> Written:
    """Write the finest that fits: the block, what a page must know of each map, and notes.

    Args:
        heads: of which the weights are.
        most: bytes, deflated.
        live: whether single weights can be asked for later, so that thumbnails are enough.

    Raises:
        ValueRangeError: they do not fit however coarse they are.

    """
    cells = sum(head.n * head.m for head in heads)
    room = QUICK * 2 if live else DEFLATES * most
    for kind, size in (("f4", 4), ("f2", 2)):
        if cells * size <= room and (found := _tried(_exact, heads, most, kind)):
            return found
    whole = sum(head.n * head.m * head.work for head in heads) <= (GLANCE if live else WHOLE)
    budget = GLANCE if live else BUDGET
    share = None if whole else budget // max(len(heads), 1)
    readings = [Reading(head, 0 if live else KEYS, share) for head in heads]
    for side in _sides(readings, most, _largest(heads, THUMBNAIL if live else SIDES[0], budget)):
        if found := _tried(_pooled, readings, most, side, live=live):
            return found
    if found := _tried(_pooled, readings, most, SIDES[-1], live=live, bare=True):
        return found
    msg = (
        f"limit must leave room for {len(heads):,} heads, got {most * 4 // 3:,} bytes; give more, "
        "or fewer layers or heads"
    )
    raise ValueRangeError(msg)


def _largest(heads: Sequence[Head], side: int, budget: int) -> int:
    """As many cells as can each have a query that is read, without much more than the budget."""
    for one in SIDES:
        row = sum(head.m * head.work for head in heads if head.n > one)
        if one <= side and one * row <= 2 * budget:
            return one
    return SIDES[-1]


def _tried(write: Callable[..., Written], *how: Any, **more: Any) -> Written | None:  # noqa: ANN401
    try:
        return write(*how, **more)
    except FullError:
        return None


def _exact(heads: Sequence[Head], most: int, kind: str) -> Written:
    block = Block(most)
    maps = []
    for head in heads:
        reading = Reading(written_out(head), 0)
        maps.append(_map(head, reading.stats, [_exact_grid(block, reading, kind)]))
        _profiles(block, maps[-1], reading, "f4")
    block.deflated()
    return block, maps, []


def _map(head: Head, stats: dict[str, float], grids: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "layer": 0,
        "head": head.number,
        "rows": head.n,
        "cols": head.m,
        "row_tokens": None,
        "col_tokens": None,
        "shape": head.shape,
        "stats": {name: value for name, value in stats.items() if math.isfinite(value)},
        "grids": grids,
        "top": None,
        "entropy": None,
        "received": None,
    }


def _exact_grid(block: Block, reading: Reading, kind: str) -> dict[str, Any]:
    at = block.size
    head = reading.head
    for part in reading.rows():
        block.add(part, kind)
    return _grid("exact", (head.n, head.m), kind, at, one=1.0, every=1)


def _grid(
    reduce: str, shape: tuple[int, int], kind: str, at: int, *, one: float, every: int
) -> dict[str, Any]:
    rows, cols = shape
    return {
        "reduce": reduce,
        "rows": rows,
        "cols": cols,
        "type": kind,
        "at": at,
        "one": one,
        "every": every,
    }


def _profiles(block: Block, here: dict[str, Any], reading: Reading, kind: str) -> None:
    for name, numbers in (("entropy", reading.entropy), ("received", reading.received)):
        fine = kind if abs(numbers).max(initial=0.0) <= HALF else "f4"
        at = block.add(numbers, fine)
        here[name] = {"at": at, "type": fine, "count": len(numbers)}


def _sides(readings: Sequence[Reading], most: int, largest: int) -> Iterator[int]:
    """The sides that may fit, told from a few heads; the smallest always."""
    step = max(len(readings) // SAMPLE, 1)
    some = readings[::step]
    for side in SIDES:
        if side > largest:
            continue
        raw = sum(reading.size(side, ENOUGH) for reading in readings)
        if side > SIDES[-1] and raw > DEFLATES * most:
            continue
        block = Block(raw + (1 << 20))
        for reading in some:
            _pooled_map(block, reading, side, bare=False)
        _tops(block, some, side, ENOUGH)
        taken = len(block.deflated()) / max(block.size, 1) * raw
        if side == SIDES[-1] or taken <= most:
            yield side


def _pooled(
    readings: Sequence[Reading], most: int, side: int, *, live: bool, bare: bool = False
) -> Written:
    """Grids of so many cells, and then as many single weights as there is room for."""
    block = Block(most)
    maps = [_pooled_map(block, reading, side, bare=bare) for reading in readings]
    block.deflated()
    least = 1 if side == SIDES[-1] else ENOUGH
    count = 0
    for tried in () if bare else range(KEYS, least - 1, -1):
        found = block.copy()
        try:
            added = _tops(found, readings, side, tried)
            found.deflated()
        except FullError:
            continue
        block, count = found, tried
        for here, top in zip(maps, added, strict=True):
            here["top"] = top
        break
    else:
        if not bare and side > SIDES[-1]:
            raise FullError
    return block, maps, list(_notes(maps, count, live=live))


def _pooled_map(block: Block, reading: Reading, side: int, *, bare: bool) -> dict[str, Any]:
    if reading.fits(side):  # as many bytes as both pooled grids, and all there is to know
        here = _map(reading.head, reading.stats, [_exact_grid(block, reading, "f2")])
    else:
        pooled = [reading.pooled(side, reduce) for reduce in ("mass", "max")]
        grids = [_byte_grid(block, one) for one in (pooled[:1] if bare else pooled)]
        here = _map(reading.head, reading.stats, grids)
    if not bare:
        _profiles(block, here, reading, "f2")
    return here


def _byte_grid(block: Block, pooled: Pooled) -> dict[str, Any]:
    at = block.add(pooled.cells, "u1")
    rows, cols = pooled.cells.shape
    return _grid(pooled.reduce, (rows, cols), "u1", at, one=pooled.one, every=pooled.every)


def _tops(
    block: Block, readings: Sequence[Reading], side: int, count: int
) -> list[dict[str, Any] | None]:
    """The largest weights of every query, where the grids do not have them."""
    found: list[dict[str, Any] | None] = []
    for reading in readings:
        if reading.top is None or reading.fits(side):
            found.append(None)
            continue
        weights, keys = (x[:, :count] for x in reading.top)
        kind = "u2" if reading.head.m <= 1 << 16 else "u4"
        found.append(
            {
                "count": weights.shape[1],
                "keys": {"at": block.add(keys, kind), "type": kind},
                "weights": {"at": block.add(weights, "f2"), "type": "f2"},
            }
        )
    return found


def _notes(maps: Sequence[dict[str, Any]], count: int, *, live: bool) -> Iterator[notes.Note]:
    """What a reader of pooled weights must know; a live page tells of each picture itself."""
    every = max((grid["every"] for here in maps for grid in here["grids"]), default=1)
    if live:
        yield from [notes.of_thumbnails(every)] if every > 1 else []
        return
    coarse = [here for here in maps if here["grids"][0]["reduce"] != "exact"]
    if coarse:
        down, across = (
            max(-(-here[name] // here["grids"][0][name]) for here in coarse)
            for name in ("rows", "cols")
        )
        yield notes.pooled(down, across, count if any(here["top"] for here in maps) else 0)
    if every > 1:
        alike = all(grid["every"] == every for here in maps for grid in here["grids"])
        yield notes.sampled(every, everywhere=alike)

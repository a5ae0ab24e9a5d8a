"""What the readings on a GPU say, as lines of tables. Knows no torch and draws nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchmarks.bars import Share
from benchmarks.gpu_cases import CASES, GpuCase
from benchmarks.gpu_records import Reading, Readings

__all__ = ["changing", "growth", "measured", "missing", "series", "verdicts"]

Line = tuple[str, ...]


def _as_specified(case: GpuCase, direction: str, found: Readings) -> bool:
    ours = found.get((case.name, direction, "ours"))
    return ours is None or ours.shape == case.sizes


def _said(share: Share | None) -> tuple[str, str]:
    return ("", "") if share is None else (share.reached, str(share))


def verdicts(found: Readings) -> Iterator[Line]:
    """Case, direction, bar; reached and verdict call by call; the same from a graph."""
    for case in CASES:
        for direction, bars in case.bars.items():
            ours = found.get((case.name, direction, "ours"))
            for bar in bars:
                eager = _said(bar.judge(case.name, direction, found, "ms"))
                graph = _said(bar.judge(case.name, direction, found, "graph_ms"))
                if not _as_specified(case, direction, found):
                    eager, graph = ("", "not judged: measured at another size"), ("", "")
                elif not any((*eager, *graph)):
                    # tried and failed is no gap in the table: it is a bar not met
                    failed = ours is not None and ours.ms is None
                    eager = ("", f"missed: {ours.note}" if failed else "not measured")
                yield (case.title, direction, str(bar), *eager, *graph)


def _number(x: float | None, spread: Sequence[float] = ()) -> str:
    if x is None:
        return ""
    text = _digits(x)
    if len(spread) == 2:
        text += f" ({_digits(spread[0])} to {_digits(spread[1])})"
    return text


def _digits(x: float) -> str:
    return f"{x:,.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.3f}"


def measured(found: Readings) -> Iterator[Line]:
    """Case and direction, provider, ms, graph ms, time over ours, MiB, error."""
    for case in CASES:
        if case.job in {"growth", "changing"}:
            continue
        for direction in case.directions:
            mine = [
                x for (name, way, _), x in found.items() if (name, way) == (case.name, direction)
            ]
            ours = found.get((case.name, direction, "ours"))
            first = True
            for x in mine:
                if x.ms is None:
                    continue
                yield (
                    f"{case.title}, {direction}" if first else "",
                    f"{x.provider} ({x.impl})" if x.impl and x.provider == "ours" else x.provider,
                    _number(x.ms, x.spread),
                    _number(x.graph_ms, x.graph_spread),
                    _over(ours, x) if x is not ours else "",
                    "" if x.mib is None else f"{x.mib:,.1f}",
                    "" if x.error is None else f"{x.error:.1e}",
                )
                first = False


def _over(ours: Reading | None, x: Reading) -> str:
    """How many times our time; of one process only. The graph's where both have one."""
    if ours is None or ours.run != x.run or not ours.ms or x.ms is None:
        return ""
    if ours.graph_ms and x.graph_ms:
        return f"{x.ms / ours.ms:.2f}x, graph {x.graph_ms / ours.graph_ms:.2f}x"
    return f"{x.ms / ours.ms:.2f}x"


def changing(found: Readings) -> Iterator[Line]:
    """Provider, calls, seconds with every length new, seconds again, new over known."""
    for x in found.values():
        if x.case == "changing" and x.extra:
            seconds, again = x.extra["seconds"], x.extra["again"]
            who = f"{x.provider} ({x.impl})" if x.impl else x.provider
            calls = f"{x.extra['calls']:.0f}"
            yield (who, calls, f"{seconds:.2f}", f"{again:.2f}", f"{seconds / again:.2f}x")


def series(readings: Iterable[Reading]) -> dict[str, dict[str, list[Reading]]]:
    """The measured points of the growth by case and provider, by n."""
    lines: dict[str, dict[str, list[Reading]]] = {}
    for case in CASES:
        for x in readings:
            if x.kind == "growth" and x.case == case.name and x.ms is not None:
                lines.setdefault(case.title, {}).setdefault(x.provider, []).append(x)
    for providers in lines.values():
        for points in providers.values():
            points.sort(key=lambda x: x.shape["n"])
    return lines


def growth(providers: dict[str, list[Reading]]) -> tuple[Line, list[Line]]:
    """Head and lines of a table: ms and MiB by n."""
    sizes = sorted({x.shape["n"] for points in providers.values() for x in points})
    lines = []
    for n in sizes:
        cells = []
        for points in providers.values():
            here = [x for x in points if x.shape["n"] == n]
            memory = f" / {_digits(here[0].mib)}" if here and here[0].mib is not None else ""
            cells.append(f"{_digits(here[0].ms)}{memory}" if here and here[0].ms else "")
        lines.append((f"{n:,}", *cells))
    return ("n = m", *(f"{who}, ms / MiB" for who in providers)), lines


def missing(readings: Iterable[Reading]) -> Iterator[str]:
    """Why what is not in the tables is not."""
    for x in readings:
        if x.ms is None:
            size = f", n = {x.shape['n']:,}" if x.kind == "growth" else ""
            yield f"{x.case}{size}, {x.direction}, {x.provider}: {x.note}"
        elif x.note.startswith("no graph") and "launch bound" not in x.note:
            yield f"{x.case}, {x.direction}, {x.provider}: {x.note}"

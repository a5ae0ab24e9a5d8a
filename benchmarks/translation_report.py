"""What the report says about translators in training, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmarks.bars import speedups
from benchmarks.records import Row, quantiles
from benchmarks.translation import CASES, FULL_SIZE, TranslationCase

__all__ = ["measured", "missing", "verdicts"]

Group = tuple[TranslationCase, int, dict[str, Row]]  # a case, tokens a batch, rows by provider


def _groups(rows: Iterable[Row]) -> Iterator[Group]:
    """What is compared with each other: rows of one case, one size and one process."""
    rows = list(rows)
    sizes = sorted({row.shape["tokens"] for row in rows}, reverse=True)
    for case in CASES:
        for tokens in sizes:
            here = [row for row in rows if row.case == case.name and row.shape["tokens"] == tokens]
            run = max((row.run for row in here), default="")
            found = {row.provider: row for row in here if row.run == run}
            if found:
                yield case, tokens, found


def verdicts(rows: Iterable[Row]) -> Iterator[tuple[str, ...]]:
    """Each bar, at the size it is for, on a GPU."""
    for case, tokens, found in _groups(rows):
        if tokens != FULL_SIZE or "gpu" not in found["ours"].machine:
            continue
        times = {(case.name, name): row for name, row in found.items() if row.kind == "training"}
        for bar in case.bars:
            verdict = bar.judge(case.name, times)
            said = ("", "not measured") if verdict is None else (verdict.reached, str(verdict))
            yield case.title, str(bar), *said


def measured(rows: Iterable[Row]) -> Iterator[tuple[str, ...]]:
    """Each provider's speed, the peers' time over ours."""
    for case, tokens, found in _groups(rows):
        ours = found["ours"]
        for name, row in found.items():
            if row.kind != "training":
                continue
            steps, shapes = row.shape["steps"], row.extra["shapes"]
            size = f"{tokens:,} tokens a batch, {steps} batches of {shapes} shapes"
            seconds = [x / 1e3 for x in (row.ms, row.ms_p80, row.ms_p20)]
            target = row.extra["target_tokens"]
            both = target + row.extra["source_tokens"]
            low, middle, high = quantiles(speedups(ours, row))
            yield (
                f"{case.title}; {size}" if row is ours else "",
                name,
                "{:,.0f} ({:,.0f} to {:,.0f})".format(*(target / x for x in seconds)),
                f"{both / seconds[0]:,.0f}",
                f"{row.ms / steps:.2f}",
                "" if row is ours else f"{middle:.2f}x ({low:.2f} to {high:.2f})",
                "?" if row.peak_mib is None else f"{row.peak_mib:,.0f}",
                str(row.repeats),
            )


def missing(rows: Iterable[Row]) -> Iterator[str]:
    """Who could not run, and why."""
    for case, tokens, found in _groups(rows):
        for name, row in found.items():
            if row.kind == "refused":
                yield f"{case.title}, {tokens:,} tokens a batch, {name}: {row.note}"

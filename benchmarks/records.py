"""One measurement is one line of JSON: what ran, how long, how much, on which machine."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

__all__ = ["DATA", "Row", "append", "quantiles", "read"]

DATA = Path(__file__).parent / "data" / "cpu.jsonl"


@dataclass(frozen=True)
class Row:
    """A measurement ("case", "growth", "layer", "training"), or why there is none ("refused")."""

    kind: Literal["case", "growth", "layer", "training", "refused"]
    case: str
    provider: str
    direction: str
    shape: dict[str, int]
    ms: float = 0.0
    ms_p20: float = 0.0
    ms_p80: float = 0.0
    rounds: list[float] = field(default_factory=list)  # medians in ms, in step with other providers
    repeats: int = 0
    peak_mib: float | None = None
    extra: dict[str, float] = field(default_factory=dict)  # what else was counted
    impl: str = ""  # what attend's "auto" came to
    note: str = ""
    run: str = ""
    date: str = ""
    commit: str = ""
    dirty: bool = False
    machine: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)


def quantiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The 20th percentile, the median and the 80th percentile."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    cuts = statistics.quantiles(values, n=5, method="inclusive")
    return cuts[0], statistics.median(values), cuts[3]


def append(path: Path, rows: Iterable[Row]) -> None:
    """Write rows at the end of a file, at once: an interrupted run keeps what it had."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(row)) + "\n" for row in rows)


def read(path: Path) -> list[Row]:
    """The newest row of each case, provider and size, in the order they were first measured."""
    newest: dict[tuple[object, ...], Row] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = Row(**json.loads(line))
        # a refusal today replaces a measurement of yesterday
        newest[(row.case, row.provider, *row.shape.values())] = row
    return list(newest.values())

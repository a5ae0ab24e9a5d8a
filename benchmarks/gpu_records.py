"""One measurement on a GPU is one line of JSON; a measurement that failed is one too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

__all__ = ["GPU_DATA", "Reading", "Readings", "by_case", "keep", "read_readings"]

GPU_DATA = Path(__file__).parent / "data" / "attention-cuda.jsonl"


@dataclass(frozen=True)
class Reading:
    """What one provider took for one case; ``note`` says why what is missing is missing."""

    kind: Literal["case", "growth"]
    case: str
    provider: str
    direction: str
    shape: dict[str, int]
    dtype: str = ""
    ms: float | None = None  # the median of calls one by one
    spread: list[float] = field(default_factory=list)  # 20th and 80th percentile
    graph_ms: float | None = None  # the same without what starting kernels costs the CPU
    graph_spread: list[float] = field(default_factory=list)
    mib: float | None = None  # peak over what was there before the call
    error: float | None = None  # the worst of errors
    errors: dict[str, float] = field(default_factory=dict)  # of out and gradients, over the largest
    extra: dict[str, float] = field(default_factory=dict)
    impl: str = ""  # what attend's "auto" came to
    note: str = ""
    run: str = ""
    date: str = ""
    commit: str = ""
    dirty: bool = False
    machine: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)


Readings = Mapping[tuple[str, str, str], Reading]  # by case, direction and provider


def keep(path: Path, reading: Reading) -> None:
    """Write it at the end of a file, at once: an interrupted run keeps what it had."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(reading)) + "\n")


def read_readings(path: Path) -> list[Reading]:
    """The newest reading of each case and provider, in the order they were first measured."""
    newest: dict[tuple[object, ...], Reading] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        reading = Reading(**json.loads(line))
        size = reading.shape["n"] if reading.kind == "growth" else None
        # a failure today replaces a measurement of yesterday
        newest[(reading.kind, reading.case, reading.direction, reading.provider, size)] = reading
    return list(newest.values())


def by_case(readings: Iterable[Reading]) -> Readings:
    """Those of the cases, not of the growth."""
    found = (one for one in readings if one.kind == "case")
    return {(one.case, one.direction, one.provider): one for one in found}

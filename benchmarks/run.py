"""Run the cases and the growth, and write a line of JSON for each measurement.

``python -m benchmarks.run`` replaces benchmarks/data/cpu.jsonl; with ``--only`` it adds to it, and
the report takes the newest. ``--quick`` writes to build/, so no smoke run passes for a measurement.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.cases import CASES, Case
from benchmarks.environment import describe, use_cores
from benchmarks.growth import SERIES, grow
from benchmarks.measure import Pace, measure
from benchmarks.memory import peak_in_new_process
from benchmarks.records import DATA, Row, append

__all__ = ["main"]

QUICK_DATA = DATA.parent.parent.parent / "build" / "bench-quick.jsonl"
QUICK = Pace(seconds=1, least=2, most=3)
HEADER = f"{'case':26} {'provider':10} {'ms':>10} {'p20':>10} {'p80':>10} {'extra MiB':>10}"


def _rows(case: Case, about: dict[str, Any], *, quick: bool) -> list[Row]:
    """All providers of one case: times first, then memory, each in a process of its own."""
    sized = case.quick() if quick else case
    times, refused = measure(sized, QUICK if quick else Pace())
    shared = {"case": case.name, "direction": case.direction, "shape": asdict(sized.shape), **about}
    rows = [
        Row(
            "case",
            provider=name,
            peak_mib=peak_in_new_process(case, name, quick=quick),
            **found.columns(),
            **shared,
        )
        for name, found in times.items()
    ]
    return rows + [Row("refused", provider=x, note=why, **shared) for x, why in refused.items()]


def _line(row: Row) -> str:
    label = f"{row.case[:26]:26} {row.provider:10}"
    if row.kind == "refused":
        return f"{label} {row.note}"
    memory = "" if row.peak_mib is None else f"{row.peak_mib:10.1f}"
    size = f" n={row.shape['n']}" if row.kind == "growth" else ""
    return f"{label} {row.ms:10.3f} {row.ms_p20:10.3f} {row.ms_p80:10.3f} {memory}{size}"


def _listing() -> str:
    lines = []
    for case in CASES:
        lines.append(f"{case.name:20} {case.title}, {case.direction}: {', '.join(case.providers)}")
        lines += [f"{'':20}   {bar}" for bar in case.bars]
    return "\n".join([*lines, f"{'growth':20} time against n: {len(SERIES)} series"])


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    names = [*(case.name for case in CASES), "growth"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="NAME", action="append", choices=names, help="one case")
    parser.add_argument("--quick", action="store_true", help="a smoke run: small sizes")
    parser.add_argument("--list", action="store_true", help="show the cases and their bars")
    parser.add_argument("--cores", type=int, default=2, help="how many to use (default: 2)")
    asked = parser.parse_args(arguments)
    if asked.list:
        print(_listing())
        return
    use_cores(asked.cores)
    data: Path = QUICK_DATA if asked.quick else DATA
    if asked.only is None:
        data.unlink(missing_ok=True)
    about, wanted = describe(), asked.only or names
    print(HEADER)
    for case in CASES:
        if case.name in wanted:
            _keep(data, _rows(case, about, quick=asked.quick))
    if "growth" in wanted:
        for series in SERIES:
            for row in grow(series, about, quick=asked.quick):
                _keep(data, [row])


def _keep(data: Path, rows: list[Row]) -> None:
    append(data, rows)
    print("\n".join(map(_line, rows)))
    sys.stdout.flush()


if __name__ == "__main__":
    main()

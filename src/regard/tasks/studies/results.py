"""What a study has found: kept line by line, and summed up."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

from regard.errors import StateError
from regard.tasks import journal
from regard.tasks.studies.cells import Cell

__all__ = ["Results", "Summary", "Trial", "as_table", "summed_up"]


class Trial(NamedTuple):
    """What came of one training."""

    cell: Cell
    score: float
    seconds: float
    mib: float
    weights: int
    device: str


class Results:
    """The trials of a study, in a file that a study which was stopped goes on with.

    Args:
        path: of the file.
        asked: everything but the cells that the results depend on: files, settings, device.

    """

    def __init__(self, path: Path, asked: Mapping[str, Any]) -> None:
        self.path = path
        self._asked = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]
        if path.exists():
            journal.mend(path)
        rows = journal.read(path)[0] if path.exists() else []
        if any(row.get("asked") != self._asked for row in rows):
            msg = (
                f"{path}: is of a study with other data or settings; give the same ones to go on "
                "with it, or another --out"
            )
            raise StateError(msg)
        self.trials = [_trial(row) for row in rows]

    @property
    def done(self) -> set[Cell]:
        """The cells that need not be tried again."""
        return {trial.cell for trial in self.trials}

    def add(self, cell: Cell, found: Mapping[str, Any]) -> Trial:
        """Keep what came of a cell."""
        row = {**cell._asdict(), **found, "asked": self._asked}
        journal.append(self.path, row)
        self.trials.append(_trial(row))
        return self.trials[-1]


def _trial(row: Mapping[str, Any]) -> Trial:
    cell = Cell(row["encoder"], row["size"], row["seed"])
    return Trial(cell, *(row[name] for name in Trial._fields[1:]))


class Summary(NamedTuple):
    """An encoder at one size, over all seeds."""

    encoder: str
    size: int
    score: float
    spread: float  # standard deviation over the seeds; NaN of one
    seconds: float
    mib: float
    weights: int
    seeds: int


def summed_up(trials: Iterable[Trial]) -> list[Summary]:
    """Means over the seeds, in the order of sizes and encoders.

    >>> trials = [Trial(Cell("cnn", 50, seed), 90.0 + seed, 1, 10, 99, "cpu") for seed in (1, 3)]
    >>> summed_up(trials)[0].score
    92.0
    """
    groups: dict[tuple[int, str], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.cell.size, trial.cell.encoder), []).append(trial)
    return [
        Summary(
            encoder,
            size,
            fmean(trial.score for trial in group),
            stdev(trial.score for trial in group) if len(group) > 1 else math.nan,
            fmean(trial.seconds for trial in group),
            fmean(trial.mib for trial in group),
            max(trial.weights for trial in group),
            len(group),
        )
        for (size, encoder), group in sorted(groups.items(), key=lambda item: item[0][0])
    ]


def as_table(rows: Sequence[Summary], unit: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The header and the cells, to be printed or written."""
    header = (unit, "encoder", "accuracy %", "seconds", "MiB", "weights", "seeds")
    cells: list[tuple[str, ...]] = [
        (
            f"{row.size:,}",
            row.encoder,
            f"{row.score:.2f}" + ("" if math.isnan(row.spread) else f" ± {row.spread:.2f}"),
            f"{row.seconds:.0f}",
            f"{row.mib:,.0f}",
            f"{row.weights:,}",
            str(row.seeds),
        )
        for row in rows
    ]
    return header, cells

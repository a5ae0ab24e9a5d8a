"""Time and memory against n on a GPU, ours and each peer, as a plot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.gpu_records import Reading

__all__ = ["draw_gpu_growth"]

# Okabe and Ito's colours, told apart by every kind of eye; markers for paper
OURS = ("#0072B2", "o")
PEERS = (("#D55E00", "s"), ("#E69F00", "D"), ("#009E73", "^"), ("#CC79A7", "v"), ("#000000", "P"))
LEAST = 2**-10  # MiB: nothing at all is no number on a logarithmic axis


def _style(who: str, others: Sequence[str]) -> tuple[str, str]:
    return OURS if who == "ours" else PEERS[others.index(who) % len(PEERS)]


def draw_gpu_growth(
    lines: Mapping[str, Mapping[str, Sequence[Reading]]], title: str, path: Path
) -> None:
    """A column a case, a row a quantity; all axes logarithmic: a power of n is a straight line."""
    quantities: tuple[tuple[str, Callable[[Reading], float | None]], ...] = (
        ("milliseconds, forward", lambda x: x.ms),
        ("MiB beyond the inputs", lambda x: None if x.mib is None else max(x.mib, LEAST)),
    )
    look = {"font.size": 11, "axes.spines.top": False, "axes.spines.right": False}
    with mpl.rc_context(look):
        figure = Figure(figsize=(5.4 * len(lines), 8), layout="constrained")
        grid = figure.subplots(2, len(lines), squeeze=False, sharex=True)
        for column, (case, providers) in enumerate(lines.items()):
            others = [who for who in providers if who != "ours"]
            for row, (words, of) in enumerate(quantities):
                axes = grid[row][column]
                for who, points in providers.items():
                    there = [(x.shape["n"], of(x)) for x in points if of(x) is not None]
                    if not there:
                        continue
                    colour, marker = _style(who, others)
                    (line,) = axes.plot(
                        *zip(*there, strict=True), color=colour, marker=marker, label=who
                    )
                    if who == "ours":
                        line.set(markersize=4, zorder=3)
                    else:  # hollow and larger: where all need the same, each is seen
                        line.set(markersize=9, markerfacecolor="none")
                every = sorted({x.shape["n"] for points in providers.values() for x in points})
                axes.set_xscale("log", base=2)
                axes.set_yscale("log")
                axes.set_xticks(every, [f"{n:,}" for n in every], rotation=30, ha="right")
                axes.minorticks_off()
                axes.grid(color="0.9")
                axes.set_axisbelow(True)
                if column == 0:
                    axes.set_ylabel(words)
                if row == 0:
                    axes.set_title(case, loc="left")
                    axes.legend(frameon=False)
                else:
                    axes.set_xlabel("n = m")
        figure.suptitle(title)
        figure.savefig(path, dpi=144)

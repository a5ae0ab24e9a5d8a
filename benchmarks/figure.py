"""The growth with n as a plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.records import Row

__all__ = ["draw_growth"]

# Okabe and Ito's colours, told apart by every kind of eye; markers for paper
STYLES = (
    ("#D55E00", "s"),
    ("#E69F00", "D"),
    ("#0072B2", "o"),
    ("#009E73", "^"),
    ("#CC79A7", "v"),
    ("#000000", "P"),
)
POWERS = (1, 2)


def draw_growth(series: dict[str, Sequence[Row]], title: str, path: Path) -> None:
    """Time against n, both logarithmic: a power of n is a straight line."""
    with mpl.rc_context({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(9, 5.6), layout="constrained")
        axes = figure.add_subplot()
        for (name, rows), (colour, marker) in zip(series.items(), STYLES, strict=False):
            sizes = [row.shape["n"] for row in rows]
            axes.fill_between(
                sizes,
                [row.ms_p20 for row in rows],
                [row.ms_p80 for row in rows],
                color=colour,
                alpha=0.15,
                linewidth=0,
            )
            times = [row.ms for row in rows]
            axes.plot(sizes, times, color=colour, marker=marker, markersize=6, label=name)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        every = sorted({row.shape["n"] for rows in series.values() for row in rows})
        axes.set_xticks(every, [f"{n:,}" for n in every])
        axes.minorticks_off()
        axes.set_xlabel("n = m")
        axes.set_ylabel("milliseconds, forward")
        axes.set_title(title, loc="left")
        axes.grid(color="0.9")
        axes.set_axisbelow(True)
        _slopes(axes)
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        figure.savefig(path, dpi=144)


def _slopes(axes: mpl.axes.Axes) -> None:
    """What n and n squared look like, in the corner that no series reaches."""
    left, right = axes.get_xlim()
    low, high = axes.get_ylim()
    start, end = right / (right / left) ** 0.3, right / (right / left) ** 0.08
    for power in POWERS:
        ends = [low, low * (end / start) ** power]
        axes.plot([start, end], ends, color="0.6", linewidth=1, linestyle=":")
        word = "$n$" if power == 1 else f"$n^{power}$"
        axes.annotate(word, (end, ends[1]), (3, 0), textcoords="offset points", color="0.5")
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)

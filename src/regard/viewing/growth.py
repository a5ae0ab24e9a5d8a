"""A figure of how quantities grow with a size, measured beside theory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regard.errors import ValueRangeError
from regard.optional import need
from regard.viewing.figures import FAINT, INK, LOOK, STROKES, Axes, Figure

__all__ = ["Line", "comparison"]

DASHED = (0, (4, 2.5))
MARKERS = ("o", "s", "^")  # a shape each, so that colour is not all that tells them apart


class Line(NamedTuple):
    """One measured quantity over n."""

    name: str
    sizes: Sequence[int]
    values: Sequence[float]
    used: Sequence[bool]  # which points the exponent is fitted to
    exponent: float | None  # None: could not be measured
    theory: float


def comparison(panels: Mapping[tuple[str, str], Sequence[Line]], about: str = "") -> Figure:
    """Draw each quantity in a panel of its own, both axes logarithmic.

    Points that were fitted are filled, the others hollow. A dashed line has the slope theory says,
    and goes through the last point.

    Args:
        panels: at most three lines under a title and the name of the upright axis.
        about: where and with what it was measured, above it all.

    Returns:
        A matplotlib Figure.

    >>> from regard.viewing.growth import Line, comparison
    >>> line = Line("RNN", (8, 16, 32), (24, 48, 96), (False, True, True), 1.0, 1)
    >>> [ax.get_title(loc="left") for ax in comparison({("Steps", "steps"): [line]}).axes]
    ['Steps']

    """
    if not panels or any(not lines or len(lines) > len(STROKES) for lines in panels.values()):
        counts = [len(lines) for lines in panels.values()]
        msg = f"a panel needs one to {len(STROKES)} lines, got panels of {counts}"
        raise ValueRangeError(msg)
    matplotlib = need("matplotlib", extra="view", why="a figure")
    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    with matplotlib.rc_context(LOOK):
        figure = need("matplotlib.figure", extra="view", why="a figure").Figure(
            figsize=(5.6 * columns, 3.7 * rows + 0.6), layout="constrained"
        )
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        for ax, ((title, ylabel), lines) in zip(axes, panels.items(), strict=False):
            _panel(ax, lines)
            ax.set_title(title)
            ax.set_ylabel(ylabel)
            ax.set_xlabel("n, positions in the sequence")
        for ax in axes[len(panels) :]:
            ax.remove()
        handles, labels = figure.axes[0].get_legend_handles_labels()
        line2d = need("matplotlib.lines", extra="view", why="a figure").Line2D
        handles.append(line2d([], [], color=FAINT, linestyle=DASHED, linewidth=1.6))
        labels.append("slope in theory")
        handles.append(
            line2d([], [], color=FAINT, marker="o", markerfacecolor="white", linestyle="none")
        )
        labels.append("not fitted")
        figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
        if about:
            figure.suptitle(about, x=0.01, horizontalalignment="left", fontsize=9.5, color=FAINT)
    return figure


def _panel(ax: Axes, lines: Sequence[Line]) -> None:
    ends = []
    for line, stroke, marker in zip(lines, STROKES, MARKERS, strict=False):
        color = stroke["color"]
        last = line.values[-1]
        ax.plot(line.sizes, line.values, color=color, linewidth=1.2, alpha=0.35)
        ax.plot(
            line.sizes,
            [last * (size / line.sizes[-1]) ** line.theory for size in line.sizes],
            color=color,
            linestyle=DASHED,
            linewidth=1.6,
        )
        ax.plot(
            line.sizes, line.values, color=color, linestyle="none", marker=marker, label=line.name
        )
        hollow = [
            (size, value)
            for size, value, used in zip(line.sizes, line.values, line.used, strict=True)
            if not used
        ]
        if hollow:
            ax.plot(
                *zip(*hollow, strict=True),
                linestyle="none",
                marker=marker,
                color=color,
                markerfacecolor="white",
            )
        if line.exponent is not None:
            ends.append((line.sizes[-1], last, f"$n^{{{line.exponent:.2f}}}$", color))
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.xaxis.set_major_formatter(lambda size, _: f"{size:g}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.06, y=0.12)
    _label_ends(ax, ends)


def _label_ends(ax: Axes, ends: list[tuple[int, float, str, str]]) -> None:
    """Write the exponents beside the last points, moved apart where they would overlap."""
    ax.set_xlim(ax.get_xlim()[0], ax.get_xlim()[1] * 2.2)  # room for them
    apart = 0.09  # of the height of the panel
    lowest = -1.0
    to_axes = ax.transData + ax.transAxes.inverted()
    for size, value, text, color in sorted(ends, key=lambda end: end[1]):
        x, y = to_axes.transform((size, value))
        lowest = max(y, lowest + apart)
        ax.text(x + 0.025, lowest, text, color=color, va="center", transform=ax.transAxes)
    ax.tick_params(colors=INK, which="both")

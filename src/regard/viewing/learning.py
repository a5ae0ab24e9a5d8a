"""A figure of how much is learned from how much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from regard.errors import ValueRangeError
from regard.optional import need
from regard.viewing.figures import FAINT, INK, LOOK, Axes, Figure

__all__ = ["Curve", "learning_curves"]

FLAWLESS = 1e-3  # per cent wrong that stand for none: a logarithm needs some
# Okabe and Ito's colours, told apart by colour-blind readers, and a shape each
LOOKS = (
    ("#D55E00", "o"),
    ("#0072B2", "s"),
    ("#009E73", "^"),
    ("#CC79A7", "D"),
    ("#56B4E9", "v"),
)


class Curve(NamedTuple):
    """One learner: the share it got right, in percent, after learning from so many examples."""

    name: str
    sizes: Sequence[int]
    scores: Sequence[float]
    spreads: Sequence[float]  # above and below; NaN: not known
    seconds: Sequence[float]  # that the training took


def learning_curves(curves: Sequence[Curve], unit: str, title: str = "") -> Figure:
    """Draw what is wrong over the data learned from, both axes logarithmic, and the time beside it.

    Errors, not what is right: between 94 and 95 per cent a sixth of the errors goes, which is
    drawn as large as it is.

    Args:
        curves: one to five.
        unit: what the data are counted in.
        title: above it all.

    Returns:
        A matplotlib Figure.

    >>> curve = Curve("cnn", (50, 100), (90.0, 95.0), (1.0, 0.5), (3.0, 3.5))
    >>> [ax.get_title(loc="left") for ax in learning_curves([curve], "images").axes]
    ['Errors on the test data', 'Time of a training']

    """
    if not 1 <= len(curves) <= len(LOOKS):
        msg = f"one to {len(LOOKS)} curves can be told apart, got {len(curves)}"
        raise ValueRangeError(msg)
    matplotlib = need("matplotlib", extra="view", why="a figure")
    with matplotlib.rc_context(LOOK):
        figure = need("matplotlib.figure", extra="view", why="a figure").Figure(
            figsize=(10.6, 4.5), layout="constrained"
        )
        errors, times = figure.subplots(1, 2, width_ratios=(3, 2))
        for curve, (color, marker) in zip(curves, LOOKS, strict=False):
            wrong = [max(100 - score, FLAWLESS) for score in curve.scores]
            bars = [0.0 if math.isnan(x) else min(x, 0.99 * w) for x, w in _pairs(curve, wrong)]
            errors.errorbar(
                curve.sizes, wrong, bars, color=color, marker=marker, label=curve.name, capsize=3
            )
            times.plot(curve.sizes, curve.seconds, color=color, marker=marker)
        _frame(errors, "Errors on the test data", "percent, logarithmic", unit)
        _frame(times, "Time of a training", "seconds", unit)
        times.set_ylim(bottom=0)
        errors.set_yscale("log")
        errors.set_ylim(bottom=_lowest(curves) / 2)  # a bar down to nearly nothing says nothing
        _percents(errors)
        figure.legend(loc="outside lower center", ncols=len(curves), frameon=False)
        if title:
            figure.suptitle(title, x=0.01, horizontalalignment="left", fontsize=9.5, color=FAINT)
    return figure


def _lowest(curves: Sequence[Curve]) -> float:
    """The smallest error that is one."""
    wrong = [100 - score for curve in curves for score in curve.scores]
    return min((x for x in wrong if x > FLAWLESS), default=FLAWLESS)


def _pairs(curve: Curve, wrong: Sequence[float]) -> list[tuple[float, float]]:
    return list(zip(curve.spreads, wrong, strict=True))


def _frame(ax: Axes, title: str, ylabel: str, unit: str) -> None:
    ax.set_title(title)
    ax.set_ylabel(ylabel)
    ax.set_xlabel(f"{unit} to learn from")
    ax.set_xscale("log")
    sizes = sorted({int(x) for line in ax.lines for x in line.get_xdata()})
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
    ax.set_xticks([], minor=True)
    ax.margins(x=0.08, y=0.12)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=INK, which="both")


def _percents(ax: Axes) -> None:
    """Ticks at numbers people say: 1, 2, 5, 10, 20, 50; where those are too few, more of them."""
    low, high = ax.get_ylim()
    inside: dict[float, str] = {}
    for said in ((1, 2, 5), (1, 1.5, 2, 3, 4, 6, 8), tuple(i / 4 for i in range(4, 40))):
        steps = {m * 10.0**e for e in range(-3, 3) for m in said}
        inside = {x: f"{x:g}" for x in sorted(steps) if low <= x <= high}
        if len(inside) > 2:  # noqa: PLR2004 - fewer show no scale
            break
    ax.set_yticks(list(inside), list(inside.values()))
    ax.set_yticks([], minor=True)

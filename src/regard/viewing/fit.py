"""Figures of a curve fitted to a table: beside its data, with the weights that make it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.optional import need
from regard.viewing.figures import FAINT, INK, LOOK, Axes, Figure, matrix_image
from regard.viewing.fonts import Lettering, lettering

__all__ = ["Along", "Beside", "Over", "along", "beside", "over"]

Array = NDArray[np.float64]
CURVE, BAND = "#0072B2", "#56B4E9"  # Okabe and Ito's blues, told apart from grey by everybody
SURFACE = "cividis"  # even in lightness, and the same to colour-blind readers
APART = 0.06  # of an axis, between two of its labels
ROUNDING = 1e-12
LEVELS = 14  # colours of a map, about: their borders are round numbers
DOTS = {"linewidths": 0, "rasterized": True}  # thousands of paths would make an .svg heavy
QUIET = {"parse_math": False}  # a column may be named "price in $"


@dataclass(frozen=True, eq=False)
class Along:
    """One measured quantity over one other."""

    name: str
    x: Array  # [n], data to draw
    y: Array  # [n]
    grid: Array  # [m], where the curve is drawn
    curve: Array  # [m]
    low: Array  # [m], the band's ends; not finite: nothing is known
    high: Array  # [m]


@dataclass(frozen=True, eq=False)
class Over:
    """One measured quantity over two others."""

    name: str
    x: Array  # [n, 2], data to draw
    y: Array  # [n]
    across: Array  # [p], the first of the two, where the surface is drawn
    up: Array  # [q], the second
    surface: Array  # [q, p]


@dataclass(frozen=True, eq=False)
class Beside:
    """What was measured, and what was predicted for it by the rest."""

    name: str
    y: Array  # [n]
    predicted: Array  # [n]


@contextmanager
def _page(width: float, height: float) -> Iterator[Figure]:
    """A figure of so many inches, and the look of all our figures while it is drawn."""
    matplotlib = need("matplotlib", extra="view", why="a figure")
    with matplotlib.rc_context(LOOK):
        yield need("matplotlib.figure", extra="view", why="a figure").Figure(
            figsize=(width, height), layout="constrained"
        )


def _plain(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)


def _dots(count: int) -> dict[str, float]:
    """Size and strength: many are drawn small and pale, or they hide each other and the curve."""
    crowd = min(max(count / 200, 1.0), 25.0)
    return {"s": 24 / crowd**0.5, "alpha": 0.6 / crowd**0.35}


def _label(set_label: Any, text: str, letters: Lettering) -> None:  # noqa: ANN401 - of matplotlib
    set_label(letters.text(text), **letters.style, **QUIET)


def _ticks(sorted_x: Array) -> tuple[list[float], list[str]]:
    """Where, counted in cells of the sorted x, round numbers fall, and which they are."""
    ticker = need("matplotlib.ticker", extra="view", why="a figure")
    low, high = float(sorted_x[0]), float(sorted_x[-1])
    places = ticker.MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(low, high)
    ticks: dict[float, str] = {}
    for place in places[(low <= places) & (places <= high)].tolist():
        edge = float(np.searchsorted(sorted_x, place)) - 0.5
        if not ticks or edge - max(ticks) >= APART * len(sorted_x):  # else labels would overlap
            ticks[edge] = f"{0.0 if abs(place) < ROUNDING * (high - low) else place:.6g}"
    return list(ticks), list(ticks.values())


def along(
    parts: Sequence[Along], x_name: str, keys: Array, queries: Array, weights: Array
) -> Figure:
    """The data, the curve and its band, and how much each place of the curve takes from which data.

    Args:
        parts: one a measured quantity, drawn below each other.
        x_name: what they are over.
        keys: [k], sorted: the x of the data, or of the middle of each pool of them.
        queries: [q], sorted: places of the curve.
        weights: [q, k], each row adding up to 1.

    """
    letters = lettering([x_name, *(part.name for part in parts)])
    with _page(11.5, max(4.6, 2.9 * len(parts))) as figure:
        grid = figure.add_gridspec(len(parts), 2, width_ratios=[1.5, 1])
        for row, part in enumerate(parts):
            ax = figure.add_subplot(grid[row, 0])
            ax.scatter(part.x, part.y, color=FAINT, label="data", **DOTS, **_dots(len(part.x)))
            look = {"color": BAND, "alpha": 0.35, "linewidth": 0, "label": "95% band of the curve"}
            if np.isfinite(part.low).any():
                ax.fill_between(part.grid, part.low, part.high, **look)
            ax.plot(part.grid, part.curve, color=CURVE, label="curve")
            _label(ax.set_ylabel, part.name, letters)
            _plain(ax)
            if part is parts[0]:
                ax.set_title("The curve through the data")
                figure.legend(loc="outside lower left", ncols=3, frameon=False)
        _label(ax.set_xlabel, x_name, letters)
        _weights(figure.add_subplot(grid[:, 1]), x_name, keys, queries, weights, letters)
    return figure


def _weights(
    ax: Axes, x_name: str, keys: Array, queries: Array, weights: Array, letters: Lettering
) -> None:
    # a lonely point at an edge gets nearly all of a query's weight; on its scale the others would
    # be pale, so what is above this end is drawn as dark as it, and an arrow says so
    most = float(np.quantile(weights, 0.995)) or float(weights.max())
    image = matrix_image(ax, weights, most=most)
    ax.set_title("Where it looks: attention weights")
    _label(ax.set_xlabel, f"key: {x_name} of the data", letters)
    _label(ax.set_ylabel, f"query: {x_name} of the curve", letters)
    ax.set_xticks(*_ticks(keys))
    ax.set_yticks(*_ticks(queries))
    extend = "max" if weights.max() > most else "neither"
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, aspect=30, extend=extend)
    bar.set_label("attention weight")
    bar.outline.set_visible(False)


def over(parts: Sequence[Over], x_names: tuple[str, str]) -> Figure:
    """A map of what is predicted over two quantities, the data on it in the colours of the map."""
    letters = lettering([*x_names, *(part.name for part in parts)])
    with _page(max(7.0, 5.6 * len(parts)), 5.2) as figure:
        for ax, part in zip(figure.subplots(1, len(parts), squeeze=False)[0], parts, strict=True):
            both = np.concatenate((part.surface[np.isfinite(part.surface)], part.y))
            # one scale for both, on which single outliers do not make all else one colour
            low, high = (float(v) for v in np.quantile(both, (0.005, 0.995)))
            if not low < high:
                low, high = low - 0.5, high + 0.5
            ticker = need("matplotlib.ticker", extra="view", why="a figure")
            levels = ticker.MaxNLocator(LEVELS).tick_values(low, high)
            image = ax.contourf(
                part.across, part.up, part.surface, levels, cmap=SURFACE, extend="both"
            )
            look = _dots(len(part.x)) | {"alpha": 0.9, "linewidths": 0.4, "rasterized": True}
            ax.scatter(
                *part.x.T, c=part.y, cmap=SURFACE, vmin=low, vmax=high, edgecolors="white", **look
            )
            _label(ax.set_xlabel, x_names[0], letters)
            _label(ax.set_ylabel, x_names[1], letters)
            ax.set_title("The surface, and the data on it")
            _plain(ax)
            bar = figure.colorbar(image, ax=ax, pad=0.02, aspect=30)
            _label(bar.set_label, part.name, letters)
            bar.outline.set_visible(False)
    return figure


def beside(parts: Sequence[Beside], title: str) -> Figure:
    """What was measured over what the other data predict for it, with the line where both agree."""
    letters = lettering([part.name for part in parts])
    with _page(max(6.0, 5.2 * len(parts)), 5.2) as figure:
        for ax, part in zip(figure.subplots(1, len(parts), squeeze=False)[0], parts, strict=True):
            look = {"color": CURVE, **DOTS, **_dots(len(part.y))}
            ax.scatter(part.predicted, part.y, **look)
            there = part.predicted[np.isfinite(part.predicted)]
            ends = [min(part.y.min(), there.min()), max(part.y.max(), there.max())]
            ax.plot(ends, ends, color=INK, linewidth=1.2, linestyle=(0, (5, 3)))
            ax.set_aspect("equal", adjustable="datalim")
            _label(ax.set_xlabel, f"{part.name}, predicted", letters)
            _label(ax.set_ylabel, f"{part.name}, measured", letters)
            ax.set_title(title)
            _plain(ax)
    return figure

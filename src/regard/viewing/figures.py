"""Figures of weights, and of what they average, for print and for screen.

Drawn with matplotlib's objects and never with pyplot: no display, no global state, no figure that
stays open. matplotlib is imported when the first figure is made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import ShapeError, ValueRangeError
from regard.optional import need
from regard.viewing.fonts import lettering

__all__ = ["check_path", "heatmap", "matrix_image", "regression", "save"]

# matplotlib's own classes. Naming them, if only for the type checker, would make everything that
# imports this module import matplotlib in the eyes of import-linter.
Axes: TypeAlias = Any
Figure: TypeAlias = Any
AxesImage: TypeAlias = Any

SUFFIXES = (".png", ".svg", ".pdf")
INK, FAINT = "#222222", "#8a8a8a"
# Okabe and Ito's colours, told apart by colour-blind readers; with the strokes also in grey
STROKES: tuple[dict[str, Any], ...] = (
    {"color": "#009E73", "linestyle": (0, (1, 1.4))},
    {"color": "#0072B2", "linestyle": (0, (5, 1.6))},
    {"color": "#D55E00", "linestyle": "solid"},
)
POINTS = {"s": 22, "color": FAINT, "alpha": 0.55, "linewidths": 0}
COLOURS = "bone_r"  # white at 0, so that the paper is where nobody looks
LOOK = {
    "font.size": 10.5,
    "axes.titlesize": 11.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 9,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 2.2,
    "lines.solid_capstyle": "round",
    "text.color": INK,
}
MATRIX = 2  # axes of one


def _matplotlib(module: str, why: str = "a figure") -> Any:  # noqa: ANN401 - a module of no stubs
    need("matplotlib", extra="view", why=why)
    return need(f"matplotlib.{module}", extra="view", why=why)


def _array(x: Tensor) -> NDArray[np.float64]:
    return x.detach().to("cpu", torch.float64).numpy()


def heatmap(
    ax: Axes,
    weights: Tensor,
    xlabel: str = "keys",
    ylabel: str = "queries",
    title: str = "",
    *,
    most: float | None = None,
) -> AxesImage:
    """Draw one matrix of weights [n, m]: a row a query, a column a key, dark where it looks.

    Args:
        ax: matplotlib axes to draw on.
        weights: [n, m], from ``weights``, ``overview`` or ``rectangle``.
        xlabel: what the keys are.
        ylabel: what the queries are.
        title: above it.
        most: the weight drawn darkest, for several heatmaps on one scale; None: the largest.

    Returns:
        The image, for a colourbar.

    """
    _matplotlib("axes", why="a heatmap")
    if weights.ndim != MATRIX:
        msg = (
            f"weights must be one matrix [n, m], got the shape {list(weights.shape)}; "
            "choose one batch entry and head, as in weights[0, 0]"
        )
        raise ShapeError(msg)
    image = matrix_image(ax, _array(weights), most=most)
    letters = lettering([xlabel, ylabel, title])
    ax.set_xlabel(letters.text(xlabel), **letters.style)
    ax.set_ylabel(letters.text(ylabel), **letters.style)
    ax.set_title(letters.text(title), **letters.style)
    return image


def matrix_image(
    ax: Axes,
    matrix: NDArray[np.float64],
    *,
    cmap: str = COLOURS,
    least: float = 0.0,
    most: float | None = None,
    aspect: str = "auto",
) -> AxesImage:
    """Draw the cells of one matrix, without words; those that hold no finite number are hatched.

    >>> from matplotlib.figure import Figure
    >>> matrix_image(Figure().subplots(), np.eye(2), most=0.5).get_clim()
    (0.0, 0.5)
    """
    image = ax.imshow(
        matrix,
        cmap=cmap,
        vmin=least,
        vmax=most,
        aspect=aspect,
        interpolation="nearest",  # a cell is a weight; smoothing would invent some
    )
    if not np.isfinite(matrix).all():  # matplotlib leaves those open; no map has such a colour
        ax.patch.set(facecolor="white", edgecolor=FAINT, hatch="////", linewidth=0)
    return image


def _ticks(x: Tensor) -> dict[float, str]:
    """Where in the sorted x, counted in cells, the whole numbers fall."""
    numbers = torch.arange(math.floor(x[0]), math.floor(x[-1]) + 1, dtype=x.dtype)
    edges = torch.searchsorted(x.detach().cpu(), numbers) - 0.5  # between two cells
    # of several numbers between the same two points the last is kept: labels do not overlap
    return {edge: f"{n:g}" for edge, n in zip(edges.tolist(), numbers.tolist(), strict=True)}


def regression(
    *,
    x: Tensor,
    y: Tensor,
    grid: Tensor,
    truth: Tensor,
    curves: Mapping[str, Tensor],
    weights: Mapping[str, Tensor],
) -> Figure:
    """Kernel regression seen from both sides: the curves, and the weights that make them.

    Args:
        x: training points [m], sorted; the keys.
        y: their values [m].
        grid: test points [n], sorted; the queries.
        truth: the curve to be guessed, at the test points [n].
        curves: at most three guesses of it [n], by name.
        weights: some of the [n, m] weights that made them, by name; all drawn on one scale.

    Returns:
        A matplotlib Figure.

    """
    matplotlib = need("matplotlib", extra="view", why="a figure")
    with matplotlib.rc_context(LOOK):
        figure = _matplotlib("figure").Figure(figsize=(13, 4.8), layout="constrained")
        left, *right = figure.subplots(
            1, 1 + len(weights), width_ratios=[1.6] + [1.0] * len(weights)
        )
        left.scatter(_array(x), _array(y), label="training points", **POINTS)
        left.plot(_array(grid), _array(truth), color=INK, linewidth=1.4, label="true curve")
        for (name, curve), stroke in zip(curves.items(), STROKES, strict=False):
            left.plot(_array(grid), _array(curve), label=name, **stroke)
        left.set_xlabel("x")
        left.set_ylabel("y", rotation=0, labelpad=8)
        left.set_title("The same points, averaged in three ways")
        left.spines[["top", "right"]].set_visible(False)
        # below everything: inside the axes it would lie on points as soon as the noise is large
        figure.legend(loc="outside lower left", ncols=2 + len(curves), frameon=False)
        _heatmaps(right, x, grid, weights)
    return figure


def _heatmaps(axes: list[Axes], x: Tensor, grid: Tensor, weights: Mapping[str, Tensor]) -> None:
    """Draw the matrices side by side, with the points' x on the axes and one colourbar."""
    # A lonely key at an edge gets nearly all of a query's weight. On its scale the others would be
    # pale: the few above this end of the scale are drawn as dark as it, and an arrow says so.
    most = max(float(np.quantile(_array(matrix), 0.99)) for matrix in weights.values())
    beyond = any(matrix.max().item() > most for matrix in weights.values())
    across, down = _ticks(x), _ticks(grid)
    for ax, (name, matrix) in zip(axes, weights.items(), strict=True):
        image = heatmap(ax, matrix, "key: x of a training point", "", f"Weights: {name}", most=most)
        ax.set_xticks(list(across), across.values())
        ax.set_yticks(list(down), down.values())
        ax.tick_params(labelleft=ax is axes[0])  # the same queries in all of them
    axes[0].set_ylabel("query: x of a test point")
    extend = "max" if beyond else "neither"
    bar = axes[0].figure.colorbar(image, ax=axes, pad=0.02, aspect=30, extend=extend)
    bar.set_label("attention weight")
    bar.outline.set_visible(False)


def check_path(path: Path) -> None:
    """Raise unless a figure can be drawn and written to ``path``; makes its folder.

    For asking before the work a figure takes, rather than after it.
    """
    if path.suffix.lower() not in SUFFIXES:
        msg = f"a figure is written as {', '.join(SUFFIXES)}, got {str(path)!r}"
        raise ValueRangeError(msg)
    need("matplotlib", extra="view", why="a figure")
    if not path.parent.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
    # tried for real: rights, quotas and read-only disks cannot be told from outside
    new = not path.exists()
    path.open("ab").close()
    if new:
        path.unlink()


def save(figure: Figure, path: Path) -> None:
    """Write a figure as .png, .svg or .pdf, by the ending of ``path``; makes its folder."""
    check_path(path)
    figure.savefig(path, dpi=160, facecolor="white")

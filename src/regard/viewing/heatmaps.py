"""Rows and columns of heatmaps, as the study notes show attention weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.optional import need
from regard.viewing.figures import Axes, Figure, matrix_image
from regard.viewing.fonts import Lettering, lettering

__all__ = ["draw_heatmaps", "show_heatmaps"]

GRID = 4  # axes: rows, columns, queries, keys
SLENDER = 10  # times longer than wide: with square cells such a matrix would be a thread
LAYOUT = "compressed"  # square cells leave room beside them: it goes to the margins
NUMBERS = "biufV"  # kinds of numpy arrays: truths, integers, floats; V holds bfloat16


def show_heatmaps(
    matrices: Tensor | ArrayLike,
    xlabel: str,
    ylabel: str,
    titles: Sequence[str] | None = None,
    figsize: tuple[float, float] = (2.5, 2.5),
    cmap: str = "Reds",
) -> None:
    """Show matrices in rows and columns, all on one scale, with one colour bar.

    The figure is pyplot's current one, as in the notes: a notebook shows it below the cell, a
    window opens where there are windows, and elsewhere ``plt.savefig`` can save it. It is not
    returned, or a notebook would show it twice; ``draw_heatmaps`` returns one.

    Args:
        matrices: [rows, columns, n, m], a tensor on any device or an array.
        xlabel: below the last row; Chinese too, where a font has it.
        ylabel: left of the first column.
        titles: one a column; None: none.
        figsize: width and height of it all, in inches.
        cmap: a colour map of matplotlib.

    Raises:
        ShapeError: not four axes, one of them empty, or not a title a column.
        KindError: not numbers, or titles that are no list.
        ValueRangeError: no such colour map.

    >>> import torch
    >>> from regard import show_heatmaps
    >>> weights = torch.eye(10).reshape(1, 1, 10, 10)
    >>> show_heatmaps(weights, xlabel="Keys", ylabel="Queries")  # doctest: +SKIP

    """
    array = _numbers(matrices)
    names = _check(array, titles, cmap)
    letters = lettering([xlabel, ylabel, *names])
    pyplot = need("matplotlib.pyplot", extra="view", why="a heatmap")
    figure = pyplot.figure(figsize=figsize, layout=LAYOUT)
    _draw(figure, array, xlabel, ylabel, names, cmap, letters)
    # None: the backend has no windows, and show() would only complain of it
    if figure.canvas.required_interactive_framework is not None:
        pyplot.show()


def draw_heatmaps(
    matrices: Tensor | ArrayLike,
    xlabel: str,
    ylabel: str,
    titles: Sequence[str] | None = None,
    figsize: tuple[float, float] = (2.5, 2.5),
    cmap: str = "Reds",
) -> Figure:
    """Draw what ``show_heatmaps`` shows, on a figure of its own that is shown nowhere.

    >>> import torch
    >>> from regard.viewing import draw_heatmaps
    >>> figure = draw_heatmaps(torch.rand(1, 3, 4, 5), "keys", "queries", ["a", "b", "c"])
    >>> [ax.get_title() for ax in figure.axes[:3]]
    ['a', 'b', 'c']
    """
    array = _numbers(matrices)
    names = _check(array, titles, cmap)
    letters = lettering([xlabel, ylabel, *names])
    need("matplotlib", extra="view", why="a heatmap")
    figure = need("matplotlib.figure", extra="view", why="a heatmap").Figure(
        figsize=figsize, layout=LAYOUT
    )
    _draw(figure, array, xlabel, ylabel, names, cmap, letters)
    return figure


def _numbers(matrices: Tensor | ArrayLike) -> NDArray[np.float64]:
    if isinstance(matrices, Tensor):
        if matrices.is_complex():
            msg = f"matrices must be real numbers, got {matrices.dtype}; give abs() or angle()"
            raise KindError(msg)
        return matrices.detach().to("cpu", torch.float64).numpy()
    try:
        array = np.asarray(matrices)
        if array.dtype.kind in NUMBERS:
            return array.astype(np.float64)
        got = f"{type(matrices).__name__} of {array.dtype}"
    except (TypeError, ValueError, RuntimeError):  # of several lengths, or a list of tensors
        got = f"{type(matrices).__name__} that is no array"
    msg = f"matrices must be one tensor or array of real numbers [rows, columns, n, m], got {got}"
    if isinstance(matrices, (list, tuple)) and any(isinstance(x, Tensor) for x in matrices):
        msg += "; make it one with torch.stack"
    raise KindError(msg)


def _check(array: NDArray[np.float64], titles: Sequence[str] | None, cmap: str) -> list[str]:
    """Raise unless it can be drawn; returns the titles, none or one a column."""
    shape = list(array.shape)
    if array.ndim != GRID:
        hint = ""
        if array.ndim < GRID:
            hint = f"; add {GRID - array.ndim} in front, as in matrices.reshape"
            hint += f"({', '.join(['1'] * (GRID - array.ndim) + [str(size) for size in shape])})"
        msg = f"matrices must have four axes [rows, columns, n, m], got the shape {shape}{hint}"
        raise ShapeError(msg)
    if not array.size:
        msg = f"matrices must not be empty, got the shape {shape} for [rows, columns, n, m]"
        raise ShapeError(msg)
    colormaps = need("matplotlib", extra="view", why="a heatmap").colormaps
    if isinstance(cmap, str) and cmap not in colormaps:
        msg = f"cmap must be a colour map of matplotlib, as 'Reds' or 'viridis', got {cmap!r}"
        raise ValueRangeError(msg)
    if titles is None:
        return []
    if isinstance(titles, str):
        msg = f"titles must be a list with one title a column, got the text {titles!r}"
        raise KindError(msg)
    names = list(titles)
    if names and len(names) != shape[1]:
        msg = f"titles must be one a column: there are {shape[1]} columns, got {len(names)} titles"
        raise ShapeError(msg)
    return names


def _scale(array: NDArray[np.float64]) -> tuple[float, float]:
    """One for all of them: a colour bar that holds for the last alone would mislead."""
    finite = array[np.isfinite(array)]
    least = min(float(finite.min(initial=0.0)), 0.0)  # weights start at 0, not at the smallest
    most = float(finite.max(initial=least))
    return least, most if most > least else least + 1.0


def _draw(
    figure: Figure,
    array: NDArray[np.float64],
    xlabel: str,
    ylabel: str,
    titles: Sequence[str],
    cmap: str,
    letters: Lettering,
) -> None:
    rows, columns, n, m = array.shape
    least, most = _scale(array)
    look: dict[str, Any] = {
        "cmap": cmap,
        "least": least,
        "most": most,
        "aspect": "auto" if max(n, m) > SLENDER * min(n, m) else "equal",
    }
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for i, j in np.ndindex(rows, columns):
        ax: Axes = axes[i, j]
        image = matrix_image(ax, array[i, j], **look)
        for axis in (ax.xaxis, ax.yaxis):
            axis.get_major_locator().set_params(integer=True)  # there is no query 2.5
        if i == rows - 1:
            ax.set_xlabel(letters.text(xlabel), **letters.style)
        if j == 0:
            ax.set_ylabel(letters.text(ylabel), **letters.style)
        if titles:
            ax.set_title(letters.text(titles[j]), **letters.style)
    figure.colorbar(image, ax=axes, shrink=0.6)

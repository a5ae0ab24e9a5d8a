"""Attention laid over what was looked at: the words of a text, a spectrogram, an image.

What is looked at is drawn in grey and the weights in one colour over it, the stronger the more was
looked: readable in print, and by those who cannot tell colours apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regard.errors import ShapeError
from regard.optional import need
from regard.viewing.figures import FAINT, INK, LOOK, Axes, Figure
from regard.viewing.fonts import Lettering, lettering
from regard.viewing.terminal import columns_of, cut, label

__all__ = ["draw_over_image", "draw_over_sound", "draw_over_text"]

HOT = (0.835, 0.369, 0.0)  # Okabe and Ito's vermilion, told apart from grey by every eye
BARS = 5  # labels with a bar
LONGEST = 18  # columns of a label beside its bar
STRONGEST = 0.62  # how opaque the largest weight is
PALE = 0.45  # so dark is black below the weights of an image
PALER = 0.12  # so much is left of the scale of greys, for black is hard to colour
MATRIX, PIXELS = 2, 3  # axes
SIDE = 4.2  # inches of an image's longer side
FINE = 40  # patches a side up to which lines are drawn between them
MONO, LETTER, LINE = "DejaVu Sans Mono", 0.0843, 0.34  # of words: font, inches a column, a line
SIZE = 10.0  # points of a word
PAD = 0.02  # inches of ground on either side of a word
ACROSS, LINES = 88, 150  # columns of a line of words, and as many lines at most
COLUMNS = 2000  # frames, spans and pixels across that are drawn one by one; of more the means


def draw_over_text(
    pieces: Sequence[str],
    weights: ArrayLike,
    probabilities: Mapping[str, float],
    *,
    title: str = "",
) -> Figure:
    """Draw a text, each piece on a ground as strong as its weight.

    Args:
        pieces: as sentencepiece has them, "▁" begins a word.
        weights: [n], one a piece.
        probabilities: of the labels, the likeliest first.
        title: above it.

    Returns:
        A matplotlib Figure; ``regard.viewing.save`` writes it.

    >>> figure = draw_over_text(["▁good", "▁day"], [0.9, 0.1], {"polite": 0.8, "rude": 0.2})
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['good', 'day']

    """
    w = _weights(weights, (len(pieces),))
    names = [label(piece) for piece in pieces]
    letters = lettering([title, *names, *probabilities])
    places = list(_flowed(pieces, names))
    lines = places[-1][1] + 1
    wide = max(x + columns_of(name) for (x, _), name in zip(places, names, strict=False))
    width = max(LETTER * wide + 0.3, 4.0)
    bar_count = min(len(probabilities), BARS)
    height = max(LINE * lines, LINE * bar_count) + 0.6
    with need("matplotlib", extra="view", why="a figure").rc_context(LOOK):
        figure = _figure((width + 3.2, height))
        text, bars = figure.subplots(1, 2, width_ratios=[width, 2.4])
        patches = need("matplotlib.patches", extra="view", why="a figure")
        for (x, y), name, weight in zip(places, names, w, strict=False):
            left, long = LETTER * x, LETTER * columns_of(name)
            ground = (left - PAD, -LINE * (y + 0.36)), long + 2 * PAD, 0.72 * LINE
            # below all words: one would hide the last letter of the word before
            text.add_patch(patches.Rectangle(*ground, facecolor=_mixed(weight, w), zorder=1))
            style = {"fontsize": SIZE, "va": "center", "family": [MONO, *letters.families]}
            text.text(left, -LINE * y, letters.text(name), zorder=2, **style)
        if len(places) < len(pieces):
            more = f"... and {len(pieces) - len(places):,} more"
            text.text(0.0, -LINE * lines, more, fontsize=SIZE, va="center", color=FAINT)
            lines += 1
        text.set(xlim=(-0.1, width), ylim=(-LINE * (lines - 0.45), 0.55 * LINE))
        text.set_aspect("equal", anchor="NW")
        text.axis("off")
        _title(text, title, letters)
        _bars(bars, probabilities, letters, rows=bar_count)
    return figure


def _flowed(pieces: Sequence[str], names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where each piece begins, in columns and lines, as far as there is paper."""
    x = y = 0
    for piece, name in zip(pieces, names, strict=True):
        x += 1 if piece.startswith("▁") and x else 0
        if x and x + columns_of(name) > ACROSS:
            x, y = 0, y + 1
        if y == LINES:
            return
        yield x, y
        x += columns_of(name)


def draw_over_sound(
    frames: ArrayLike,
    weights: ArrayLike,
    spans: Sequence[tuple[float, float]],
    probabilities: Mapping[str, float],
    *,
    bands: Sequence[float] = (),
    title: str = "",
) -> Figure:
    """Draw a spectrogram with the weights over it, and above it as a curve.

    Args:
        frames: [n, features], log-mel or other, low pitches first.
        weights: [m], one a span.
        spans: from which second to which a weight goes; the last ends where the frames do.
        probabilities: of the labels, the likeliest first.
        bands: the pitch of each feature in Hz, for the axis; none: they are counted.
        title: above it.

    Returns:
        A matplotlib Figure; ``regard.viewing.save`` writes it.

    """
    x = np.asarray(frames, np.float64)
    if x.ndim != MATRIX or not x.size:
        msg = f"frames must be [n, features] and not empty, got the shape {list(x.shape)}"
        raise ShapeError(msg)
    w = _weights(weights, (len(spans),))
    letters = lettering([title, *probabilities])
    end = spans[-1][1]
    every = -(-len(w) // COLUMNS)
    edges = [start for start, _ in spans[::every]] + [end]
    w = np.add.reduceat(w, np.arange(0, len(w), every))
    x = _means(x, -(-len(x) // COLUMNS))
    with need("matplotlib", extra="view", why="a figure").rc_context(LOOK):
        figure = _figure((11.0, 4.3))
        grid = figure.add_gridspec(2, 2, width_ratios=[7.5, 2.4], height_ratios=[1.0, 2.6])
        bottom = figure.add_subplot(grid[1, 0])
        curve = figure.add_subplot(grid[0, 0], sharex=bottom)
        curve.stairs(100 * w, edges, fill=True, color=(*HOT, 0.28))
        curve.stairs(100 * w, edges, color=HOT, linewidth=1.6)
        curve.set_ylim(0, None)
        curve.set_ylabel("attention, %")
        curve.spines[["top", "right"]].set_visible(False)
        curve.tick_params(labelbottom=False)
        _title(curve, title, letters)
        low, high = np.quantile(x, [0.02, 0.998])
        bottom.imshow(
            x.T,
            cmap="Greys",
            vmin=low,
            vmax=high + PALER * (high - low),
            aspect="auto",
            origin="lower",
            interpolation="nearest",
            extent=(0.0, end, -0.5, x.shape[1] - 0.5),
        )
        most = float(w.max()) or 1.0
        layer = {"cmap": _cmap(), "vmin": 0.0, "vmax": most, "rasterized": True}
        bottom.pcolormesh(edges, [-0.5, x.shape[1] - 0.5], w[None], **layer)
        bottom.set_xlabel("seconds")
        if len(bands) == x.shape[1]:
            _pitches(bottom, bands)
        else:
            bottom.set_ylabel("feature")
        _bars(figure.add_subplot(grid[1, 1]), probabilities, letters)
    return figure


def _means(x: NDArray[np.float64], every: int) -> NDArray[np.float64]:
    """The means of so many rows each."""
    starts = np.arange(0, len(x), every)
    counts = np.diff([*starts.tolist(), len(x)])
    means: NDArray[np.float64] = np.add.reduceat(x, starts) / counts[:, None]
    return means


def _pitches(ax: Axes, bands: Sequence[float]) -> None:
    """Round pitches on the axis of the features."""
    wanted = [hz for hz in (250, 500, 1000, 2000, 4000, 8000, 16000) if bands[0] <= hz <= bands[-1]]
    places = np.interp(wanted, bands, np.arange(len(bands)))
    ax.set_yticks(places, [f"{hz:,}" for hz in wanted])
    ax.set_ylabel("Hz")


def draw_over_image(
    image: ArrayLike,
    weights: ArrayLike,
    probabilities: Mapping[str, float],
    *,
    patch: int,
    title: str = "",
) -> Figure:
    """Draw an image, and beside it again with the weights of its patches over it.

    Args:
        image: [h, w, c] with 1 channel or 3, whole numbers from 0 to 255.
        weights: [rows, columns], one a patch.
        probabilities: of the labels, the likeliest first.
        patch: pixels a side; the last ones may reach beyond the image.
        title: above it.

    Returns:
        A matplotlib Figure; ``regard.viewing.save`` writes it.

    """
    x = np.asarray(image)
    if x.ndim != PIXELS or x.shape[2] not in {1, 3} or not x.size:
        msg = f"image must be [h, w, c] with 1 channel or 3, got the shape {list(x.shape)}"
        raise ShapeError(msg)
    height, width = x.shape[:2]
    w = _weights(weights, (-(-height // patch), -(-width // patch)))
    letters = lettering([title, *probabilities])
    scale = SIDE / max(height, width)
    across, down = max(scale * width, 1.4), max(scale * height, 1.4)
    with need("matplotlib", extra="view", why="a figure").rc_context(LOOK):
        figure = _figure((2 * across + 4.6, down + 0.9))
        plain, over, bars = figure.subplots(1, 3, width_ratios=[across, across, 2.4])
        _image(plain, x)
        # paler: on black or on strong colours the colour of the weights would be lost
        _image(over, 255 - (255 - x.mean(2, keepdims=True)) * PALE)
        across, down = w.shape[1] * patch - 0.5, w.shape[0] * patch - 0.5
        layer = over.imshow(
            w,
            cmap=_cmap(),
            vmin=0.0,
            vmax=float(w.max()) or 1.0,
            interpolation="nearest",
            extent=(-0.5, across, down, -0.5),
        )
        if max(w.shape) <= FINE and patch > 1:
            style = {"color": "#ffffff66", "linewidth": 0.5}
            over.vlines(np.arange(1, w.shape[1]) * patch - 0.5, -0.5, height - 0.5, **style)
            over.hlines(np.arange(1, w.shape[0]) * patch - 0.5, -0.5, width - 0.5, **style)
        over.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))  # patches may reach beyond
        _bar(figure, over, layer, float(w.max()))
        _title(plain, title, letters)
        _bars(bars, probabilities, letters)
    return figure


def _image(ax: Axes, x: NDArray[Any]) -> None:
    grey = x.shape[2] == 1
    look: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 255} if grey else {}
    ax.imshow(x[..., 0] if grey else x, interpolation="nearest", **look)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color("#d0d0d0")


def _weights(weights: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    w = np.asarray(weights, np.float64)
    if w.shape != shape or not w.size:
        msg = f"weights must have the shape {list(shape)} and not be empty, got {list(w.shape)}"
        raise ShapeError(msg)
    return np.nan_to_num(w, nan=0.0, posinf=0.0, neginf=0.0)


def _figure(size: tuple[float, float]) -> Figure:
    made = need("matplotlib.figure", extra="view", why="a figure")
    return made.Figure(figsize=size, layout="constrained")


def _cmap() -> Any:  # noqa: ANN401 - a map of matplotlib's
    """From nothing to the one colour."""
    colors = need("matplotlib.colors", extra="view", why="a figure")
    ends = [(*HOT, 0.0), (*HOT, STRONGEST)]
    return colors.LinearSegmentedColormap.from_list("regard-over", ends)


def _mixed(weight: float, all_of_them: NDArray[np.float64]) -> tuple[float, ...]:
    """The colour of a weight on white paper."""
    part = STRONGEST * weight / (float(all_of_them.max()) or 1.0)
    return tuple(1 - part * (1 - channel) for channel in HOT)


def _title(ax: Axes, title: str, letters: Lettering) -> None:
    if title:
        ax.set_title(letters.text(title), **letters.style)


def _bar(figure: Figure, ax: Axes, layer: Any, most: float) -> None:  # noqa: ANN401
    bar = figure.colorbar(layer, ax=ax, pad=0.03, aspect=22, shrink=0.9)
    bar.set_ticks([0, most], labels=["0", f"{100 * most:.2g}"])
    bar.set_label("attention, %", color=FAINT)
    bar.ax.tick_params(length=0, labelcolor=FAINT)
    bar.outline.set_visible(False)


def _bars(
    ax: Axes, probabilities: Mapping[str, float], letters: Lettering, rows: int = BARS
) -> None:
    """The likeliest labels, the likeliest on top, in the room of so many."""
    few = list(islice(probabilities.items(), BARS))
    names = [letters.text(cut(label(name), LONGEST)) for name, _ in few]
    values = [100 * p for _, p in few]
    colours = [HOT] + ["#b8b8b8"] * (len(few) - 1)
    ax.barh(range(len(few)), values, color=colours, height=0.5)
    for i, value in enumerate(values):
        ax.text(value + 2, i, _percent(value), va="center", fontsize=9.5, color=INK)
    ax.set_yticks(range(len(few)), names, **letters.style)
    ax.set(xlim=(0, 132), ylim=(rows - 0.3, -0.5), xticks=[])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _percent(value: float) -> str:
    """Per cents; what is nearly all or nothing does not become all or nothing.

    >>> _percent(99.97), _percent(97.12), _percent(0.004)
    ('> 99.9 %', '97.1 %', '< 0.1 %')
    """
    if 99.95 <= value < 100:  # noqa: PLR2004 - rounded it would be all
        return "> 99.9 %"
    if 0 < value < 0.05:  # noqa: PLR2004 - rounded it would be nothing
        return "< 0.1 %"
    return f"{value:.1f} %"

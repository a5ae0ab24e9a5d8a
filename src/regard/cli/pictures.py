"""What a figure of a fit shows, taken from the estimator: curves, surfaces, weights in pools."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli.fitted import BAND, Fitted

if TYPE_CHECKING:  # seconds to import, and `regard fit --help` does without
    import numpy as np
    from numpy.typing import NDArray

    from regard.viewing.fit import Along, Beside, Over

    Array = NDArray[np.float64]

__all__ = ["draw"]

GRID = 400  # places of a curve
SQUARE = 80  # places of a surface, each way
CELLS = 200  # rows and columns of a heatmap, at most
KEYS = 20_000  # data whose weights are pooled; more would look the same
DOTS = 4_000  # data drawn, at most
PAIRS = 10_000_000  # weights written out to leave out each point in turn
HELD_OUT = 1_000  # points predicted from the rest where that would be more
PANELS = 6  # measured quantities in one figure
PLANE = 2  # features


def draw(fit: Fitted, path: Path) -> None:
    """Save a figure: of a curve, a surface, or what was predicted beside what was measured."""
    from regard.viewing import fit as viewing  # noqa: PLC0415 - imports torch
    from regard.viewing.figures import save  # noqa: PLC0415 - imports torch

    model = copy.copy(fit.model)
    if model.empty == "raise":  # nobody asked for predictions in the gaps: they are drawn as gaps
        model.set_params(empty="nan")
    fit = replace(fit, model=model, y_names=fit.y_names[:PANELS])
    features = fit.x.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of the gaps
        if features == 1:
            figure = viewing.along(curves(fit), fit.x_names[0], *pooled_weights(fit))
        elif features == PLANE:
            figure = viewing.over(surfaces(fit), (fit.x_names[0], fit.x_names[1]))
        else:
            figure = viewing.beside(left_out(fit), "Each row predicted from the others")
    save(figure, path)


def _some(count: int, most: int) -> NDArray[np.intp]:
    """Which rows to draw: all, or as many as allowed, by lot and the same every time."""
    import numpy as np  # noqa: PLC0415 - not for --help

    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))


def _column(values: Array, i: int) -> Array:
    """What the model says of one measured column."""
    return values if values.ndim == 1 else values[:, i]


def curves(fit: Fitted) -> list[Along]:
    """One feature: the curve with its band, between the first and the last of the data."""
    import numpy as np  # noqa: PLC0415 - not for --help

    from regard.viewing.fit import Along  # noqa: PLC0415 - imports torch

    grid = np.linspace(fit.x.min(), fit.x.max(), GRID)
    values, errors = fit.model.predict(grid[:, None], return_std=True)
    some = _some(len(fit.x), DOTS)
    parts = []
    for i, name in enumerate(fit.y_names):
        curve, away = _column(values, i), BAND * _column(errors, i)
        data = (fit.x[some, 0], fit.y[some, i])
        parts.append(Along(name, *data, grid, curve, curve - away, curve + away))
    return parts


def pooled_weights(fit: Fitted) -> tuple[Array, Array, Array]:
    """One feature: keys [k], queries [q], and the attention weights of queries on keys [q, k].

    Of many data some thousands are taken, evenly from the sorted; then neighbours are pooled, and
    their weights added up.
    """
    import numpy as np  # noqa: PLC0415 - not for --help

    order = np.argsort(fit.x[:, 0], kind="stable")
    count = min(len(order), KEYS)
    rows = order[((np.arange(count) + 0.5) * len(order) / count).astype(np.intp)]
    queries = np.linspace(fit.x.min(), fit.x.max(), CELLS)
    found = fit.again(rows).weights(queries[:, None])
    matrix = found if isinstance(found, np.ndarray) else found.toarray()
    starts = np.arange(0, count, -(-count // CELLS))  # pools of one size, or there are stripes
    ends = np.append(starts[1:], count)
    keys = fit.x[rows[(starts + ends) // 2], 0]
    return keys, queries, np.add.reduceat(matrix, starts, axis=1)


def surfaces(fit: Fitted) -> list[Over]:
    """Two features: what is predicted over the rectangle of the data."""
    import numpy as np  # noqa: PLC0415 - not for --help

    from regard.viewing.fit import Over  # noqa: PLC0415 - imports torch

    low, high = fit.x.min(0), fit.x.max(0)
    across, up = (np.linspace(low[i], high[i], SQUARE) for i in range(PLANE))
    places = np.stack(np.meshgrid(across, up), -1).reshape(-1, PLANE)
    values = fit.model.predict(places)
    some = _some(len(fit.x), DOTS)
    return [
        Over(
            name,
            fit.x[some],
            fit.y[some, i],
            across,
            up,
            _column(values, i).reshape(SQUARE, SQUARE),
        )
        for i, name in enumerate(fit.y_names)
    ]


def left_out(fit: Fitted) -> list[Beside]:
    """Any features: each point predicted from those at other places, or of many data some."""
    import numpy as np  # noqa: PLC0415 - not for --help

    from regard.viewing.fit import Beside  # noqa: PLC0415 - imports torch

    place = np.unique(fit.x, axis=0, return_inverse=True)[1].reshape(-1)
    if len(fit.x) ** 2 <= PAIRS:
        rows = np.arange(len(fit.x))
        found = fit.again(rows).weights(fit.x)
        matrix = found if isinstance(found, np.ndarray) else found.toarray()
        # a smoother is linear in y: without its own place, what is left of a row is scaled up
        matrix = np.where(place[:, None] == place, 0.0, matrix)
        left = matrix.sum(1, keepdims=True)
        values = np.divide(matrix @ fit.y, left, out=np.full(fit.y.shape, np.nan), where=left > 0)
    else:
        rows = _some(len(fit.x), HELD_OUT)
        rest = np.flatnonzero(~np.isin(place, place[rows]))
        values = fit.again(rest).predict(fit.x[rows]).reshape(len(rows), -1)
    return [Beside(name, fit.y[rows, i], values[:, i]) for i, name in enumerate(fit.y_names)]

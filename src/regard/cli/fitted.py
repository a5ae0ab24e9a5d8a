"""A model fitted to the columns of a table: how well it predicts them, and what it predicts."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from regard.cli.columns import Columns
from regard.errors import ValueRangeError

if TYPE_CHECKING:  # seconds to import, and `regard fit --help` does without
    import numpy as np
    from numpy.typing import NDArray

    from regard.regression import NadarayaWatson

    Array = NDArray[np.float64]

__all__ = ["BAND", "Fitted", "fit", "prediction_names", "predictions"]

BAND = 1.959963984540054  # standard errors to either side hold 95 %


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model, the data it was fitted to, and how well it predicts them."""

    model: NadarayaWatson
    search: NadarayaWatson  # what chose the width; the model itself where there is one y
    x_names: list[str]
    y_names: list[str]
    x: Array  # [n, d]
    y: Array  # [n, k]
    weight: Array  # [n], above 0
    skipped: int  # rows in which a value is missing
    left_out: Array  # [k], mean squared error of each row predicted from those at other places
    about_mean: Array  # [k], mean squared distance to the mean
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def r2(self) -> list[float]:
        """1 - left_out / about_mean, for each measured column; NaN where it is constant."""
        pairs = zip(self.left_out.tolist(), self.about_mean.tolist(), strict=True)
        return [1 - error / spread if spread > 0 else math.nan for error, spread in pairs]

    @property
    def widths(self) -> dict[str, float]:
        """By the name of the feature."""
        return dict(zip(self.x_names, self.model.bandwidth_.tolist(), strict=True))

    def again(self, rows: NDArray[np.intp]) -> NadarayaWatson:
        """The model at its width, fitted to some of the rows; each has a column of weights."""
        y = self.y[rows, 0] if self.y.shape[1] == 1 else self.y[rows]
        return _at_its_width(self.model).fit(self.x[rows], y, self.weight[rows])


def _at_its_width(model: NadarayaWatson) -> NadarayaWatson:
    """The same settings with the width that was chosen, not fitted."""
    return type(model)(**model.get_params() | {"bandwidth": model.bandwidth_})


def fit(
    table: Columns,
    x_names: list[str],
    y_names: list[str],
    weight_name: str | None = None,
    **settings: Any,  # noqa: ANN401 - those of NadarayaWatson
) -> Fitted:
    """Fit the estimator to columns, and measure how it predicts what it has not seen."""
    import numpy as np  # noqa: PLC0415 - not for --help

    from regard.regression import NadarayaWatson  # noqa: PLC0415 - not for --help

    x, y = table.matrix(x_names), table.matrix(y_names)
    weight = np.ones(len(x)) if weight_name is None else _weights(table, weight_name)
    x, y, weight = x[weight > 0], y[weight > 0], weight[weight > 0]
    if len(x) < 2 or (x == x[0]).all():  # noqa: PLR2004
        rows = f"{len(x):,} row" + ("s" if len(x) != 1 else "")
        names = ", ".join(map(repr, x_names))
        msg = (
            f"a curve needs data at two places at least, got {rows}, all with the same {names}"
            if len(x) > 1
            else f"a curve needs data at two places at least, got {rows}"
        )
        raise ValueRangeError(msg)
    if y.shape[1] == 1:
        model = search = NadarayaWatson(**settings).fit(x, y[:, 0], weight)
    else:  # one width for all: chosen in units in which they vary alike, or the largest decides
        spread = y.std(0)
        search = NadarayaWatson(**settings).fit(x, y / np.where(spread > 0, spread, 1.0), weight)
        model = _at_its_width(search).fit(x, y, weight)
    errors = _errors(model, y, weight)
    return Fitted(model, search, x_names, y_names, x, y, weight, table.skipped, *errors)


def _weights(table: Columns, name: str) -> Array:
    weight = table.values[name]
    if weight.min() < 0:
        msg = f"column {name!r} must hold weights of 0 or more, got {weight.min():g}"
        raise ValueRangeError(msg)
    if not weight.max() > 0:
        msg = f"column {name!r} must hold a weight above 0 in at least one row, got 0 in all"
        raise ValueRangeError(msg)
    return weight


def _errors(model: NadarayaWatson, y: Array, weight: Array) -> tuple[Array, Array]:
    """Mean squared errors [k]: each row from those at other places, and each from the mean.

    Places are left out, not rows: else rows at one place would tell each other.
    """
    import numpy as np  # noqa: PLC0415 - not for --help

    total = weight.sum()
    told = model.loo_predict().reshape(y.shape)
    mean = weight @ y / total
    left_out, about_mean = (weight @ np.square(y - other) / total for other in (told, mean))
    return left_out, about_mean


def predictions(fitted: Fitted, q: Array) -> dict[str, Array]:
    """The columns of a table of predictions: where, what, its standard error and its 95% band."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of NaN, which the report counts
        values, errors = fitted.model.predict(q, return_std=True)
    found = {name: q[:, i] for i, name in enumerate(fitted.x_names)}
    for i, name in enumerate(fitted.y_names):
        value, error = (z if z.ndim == 1 else z[:, i] for z in (values, errors))
        away = BAND * error
        found |= dict(
            zip(prediction_names(name), (value, error, value - away, value + away), strict=True)
        )
    return found


def prediction_names(y_name: str) -> list[str]:
    """The columns that tell what is predicted for one that was measured."""
    return [f"{y_name}_{what}" for what in ("predicted", "error", "low", "high")]

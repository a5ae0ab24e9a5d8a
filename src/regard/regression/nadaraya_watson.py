"""Kernel regression with the manners of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from regard.errors import ImplError, ValueRangeError
from regard.optional import need
from regard.regression.band import Band
from regard.regression.bandwidth import Path, Scored, search, search_each
from regard.regression.blocks import Scattered, is_dask, scatter
from regard.regression.centre import centred
from regard.regression.derived import kernel_of
from regard.regression.distinct import Places, merged
from regard.regression.kernels import KERNELS, Kernel
from regard.regression.learning import learn
from regard.regression.plain import ones
from regard.regression.settings import Empty, check_settings, check_width
from regard.regression.smoother import Estimate, Smoother
from regard.regression.sums.base import Array
from regard.regression.weights import hat_rows

__all__ = ["NadarayaWatson"]

CHOSEN = ("scott", "silverman", "loo", "aicc", "learn")
BOUNDS = (1e-3, 1e3)


class NadarayaWatson(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predict by the average of the data, each weighted by its nearness: attention pooling.

    ::

        prediction(x) = sum over i of K((x - x_i) / h) w_i y_i / sum over i of K((x - x_i) / h) w_i

    Far from all data the prediction is that of the nearest point, never 0 or NaN. Sums are exact to
    ``tol``, and take linear time for the Gaussian in up to three features and for the other
    kernels in one; ``algorithm_`` says what ran. The arithmetic is float64 whatever the dtype,
    after taking off the middle of the data. X, y and sample_weight may be Dask arrays: then the
    data stay in their blocks.

    Args:
        kernel: "gaussian", "laplace", "matern32", "matern52"; with an edge at |u| = 1:
            "epanechnikov", "boxcar", "triangular", "tricube", "biweight", "triweight", "cosine"; or
            a function of u = (x - x_i) / h, one feature at a time. Several features: the product.
        bandwidth: h: a number, one a feature, or how to choose it. "scott" and "silverman" are
            rules of thumb; "loo" has the least error of each place predicted from the others,
            several outputs each over its variance, so that their units do not matter;
            "aicc" is the corrected information criterion; "learn" follows the gradient of the
            leave-one-out error through ``regard.attend``, as a network would.
        degree: 0 averages; 1 fits a line around each query, which bends less at the edges.
        per_feature: whether "loo", "aicc" and "learn" choose a width for each feature.
        bandwidth_bounds: where to look, in multiples of the rule of thumb; None: (0.001, 1000),
            and not below the spacing of the data.
        tol: the error of a prediction, as a share of the largest |y - mean|.
        algorithm: "auto", "fast" (linear time), "window" (kernels with an edge), "brute".
        empty: what to predict where no data are in reach of a kernel with an edge: "nearest",
            "nan" (with a warning), "mean" or "raise".
        max_iter: of the search for a width, in each valley.
        dtype: of predictions; None: as X in fit, float32 or float64.
        device: where "brute" runs, as "cuda"; None: the CPU.

    Attributes:
        bandwidth_: [d], the widths.
        bandwidth_path_: what was tried: "width" [t, d], "score" [t], for the chosen criteria;
            the errors of several outputs are over the variance of each.
        bandwidth_on_edge_: whether the best width lies at a bound, and may be better beyond.
        loo_score_: the leave-one-out error at ``bandwidth_``.
        algorithm_: "fast", "window" or "brute".
        n_iter_: widths tried.
        effective_dof_: the trace of the hat matrix.
        n_features_in_, feature_names_in_: as everywhere in scikit-learn.

    >>> import numpy as np
    >>> from regard.regression import NadarayaWatson
    >>> x = np.linspace(0, 5, 50)[:, None]
    >>> model = NadarayaWatson(bandwidth=0.1).fit(x, np.sin(x[:, 0]))
    >>> model.predict([[1.0], [100.0]]).round(2).tolist()
    [0.84, -0.96]
    >>> model.algorithm_
    'brute'

    """

    bandwidth_: Array
    bandwidth_path_: dict[str, Array]
    _data: Places | None
    _made: Smoother | Scattered | None
    _band: Band | None

    def __init__(
        self,
        kernel: str | Callable[[Array], Array] = "gaussian",
        bandwidth: float | str | Array = "loo",
        *,
        degree: int = 0,
        per_feature: bool = False,
        bandwidth_bounds: tuple[float, float] | None = None,
        tol: float = 1e-9,
        algorithm: str = "auto",
        empty: Empty = "nearest",
        max_iter: int = 100,
        dtype: Any = None,  # noqa: ANN401 - what numpy takes for one
        device: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.degree = degree
        self.per_feature = per_feature
        self.bandwidth_bounds = bandwidth_bounds
        self.tol = tol
        self.algorithm = algorithm
        self.empty = empty
        self.max_iter = max_iter
        self.dtype = dtype
        self.device = device

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NadarayaWatson:  # noqa: ANN401
        """Remember the data, and choose a width where none was given.

        Args:
            X: [n, d].
            y: [n], or [n, k] for several outputs.
            sample_weight: [n], 0 or more: 2 counts as two equal points, 0 as none.

        """
        check_settings(
            algorithm=self.algorithm, empty=self.empty, degree=self.degree, tol=self.tol,
            dtype=self.dtype,
        )  # fmt: skip
        if is_dask(X):
            return self._fit_blocks(X, y, sample_weight)
        X, y = validate_data(
            self, X, y, dtype=[np.float64, np.float32], multi_output=True, y_numeric=True
        )
        if y.ndim == 2 and y.shape[1] == 1:  # noqa: PLR2004
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the "
                "shape of y to (n_samples, ), for example using ravel().",
                DataConversionWarning,
                stacklevel=2,
            )
            y = y[:, 0]
        self._dtype = np.dtype(self.dtype or X.dtype)
        self._single = y.ndim == 1
        wide = np.asarray(y, dtype=np.float64)
        wide = wide[:, None] if self._single else wide
        weight = self._check_weight(sample_weight, X)
        if weight is None or weight.all():
            self._keep(X, wide, weight)
        else:
            there = weight > 0
            self._keep(X[there], wide[there], weight[there])
        return self

    @staticmethod
    def _check_weight(given: Any, X: Array) -> Array | None:  # noqa: ANN401
        """The weights, or None where all are 1: at ten million points each array counts."""
        if given is None:
            return None
        weight = _check_sample_weight(given, X, dtype=np.float64, ensure_non_negative=True)
        if not weight.sum() > 0:
            msg = "sample_weight must be above 0 for at least one point, got 0 for all"
            raise ValueRangeError(msg)
        return None if (weight == 1).all() else weight

    def _fit_blocks(self, X: Any, y: Any, sample_weight: Any) -> NadarayaWatson:  # noqa: ANN401
        """Data that stay where they are, in blocks of Dask."""
        if isinstance(self.bandwidth, str) and self.bandwidth not in ("scott", "loo"):
            msg = (
                f"bandwidth={self.bandwidth!r} needs the data in one memory; with Dask arrays "
                f"there are 'loo', 'scott' or a number"
            )
            raise ImplError(msg)
        self.n_features_in_ = X.shape[1]
        self._dtype = np.dtype(self.dtype or (X.dtype if X.dtype == np.float32 else np.float64))
        self._single = y.ndim == 1
        made, self._x_middle, self._y_middle = scatter(
            X, y, sample_weight, self.kernel, self.degree, self.tol, self.algorithm
        )
        self._data, self._made, self._band = None, made, None
        self.algorithm_ = made.plan.name
        self.bandwidth_path_, self.bandwidth_on_edge_, self.n_iter_ = {}, False, 1
        self.bandwidth_ = self._choose_bandwidth()
        return self

    def _keep(self, x: NDArray[Any], y: Array, weight: Array | None) -> None:
        here, self._x_middle = centred(x, weight)
        there, self._y_middle = centred(y, weight)
        data = Places(here, there, weight, None)
        if isinstance(self.bandwidth, str) and self.bandwidth not in ("scott", "silverman"):
            data = merged(*data[:3])  # equal places are one: else each would be told by its twin
        self._data, self._made, self._band = data, None, None
        self.algorithm_ = self._smoother.plan.name
        self.bandwidth_path_ = {}
        self.bandwidth_on_edge_ = False
        self.n_iter_ = 1  # a width that is given is tried, too
        self.bandwidth_ = self._choose_bandwidth()

    @property
    def _smoother(self) -> Smoother | Scattered:
        """The data, ready to be summed; made anew after a copy."""
        if self._made is None:
            kernel, rest = kernel_of(self.kernel), (self.degree, self.tol, self.algorithm)
            assert self._data is not None
            x, y, weight, _ = self._data
            weight = ones(len(x)) if weight is None else weight
            self._made = Smoother(x, y, weight, kernel, *rest, self.device)
        return self._made

    def _here(self, what: str) -> Smoother:
        """The data, if they are in one memory."""
        check_is_fitted(self)
        if not isinstance(self._smoother, Smoother):
            msg = f"{what} needs the data in one memory, and they are in blocks of Dask"
            raise ImplError(msg)
        return self._smoother

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if state.get("_data") is not None:
            state = {**state, "_made": None, "_band": None}  # follow from the rest
        return state

    @property
    def loo_score_(self) -> float:
        """The leave-one-out error at the chosen width; computed when read."""
        check_is_fitted(self)
        return self._smoother.loo(self.bandwidth_, slope=False).score

    @property
    def effective_dof_(self) -> float:
        """The trace of the hat matrix; computed when read."""
        return float(self._here("effective_dof_").leverage(self.bandwidth_).sum())

    def _choose_bandwidth(self) -> Array:
        data = self._smoother
        d = len(data.extent)
        if not isinstance(self.bandwidth, str):
            return check_width(self.bandwidth, d)
        if self.bandwidth not in CHOSEN:
            names = ", ".join(repr(name) for name in CHOSEN)
            msg = (
                f"bandwidth must be a number, one a feature, or one of {names}; "
                f"got {self.bandwidth!r}"
            )
            raise ValueRangeError(msg)
        if self.bandwidth in ("scott", "silverman"):
            n = None
            if isinstance(data, Smoother):  # as many points as weigh equally
                n = float(data.weight.sum() ** 2 / np.square(data.weight).sum())
            return data.rule(self.bandwidth, n) * _relative(data.kernel)
        base = data.rule("scott") * _relative(data.kernel)
        if data.n == 1:  # one place: any width predicts the same
            return base
        low, high = self._bounds(base)
        path = self._search(base, low, high)
        self.bandwidth_path_ = {
            "width": np.array([x.width for x in path.tried]),
            "score": np.array([x.score for x in path.tried]),
        }
        self.bandwidth_on_edge_ = path.on_edge
        self.n_iter_ = len(path.tried)
        return path.best.width

    def _search(self, base: Array, low: float, high: float) -> Path:
        data, most = self._smoother, self.max_iter
        data = data.in_common_units()
        if isinstance(data, Smoother):
            data = data.in_order()  # once for all widths
        if self.bandwidth == "learn":
            assert isinstance(data, Smoother)
            return learn(data, base, low, high, most, per_feature=self.per_feature)
        score: Callable[[Array], Scored] = data.aicc if self.bandwidth == "aicc" else data.loo
        path = search(score, base, low, high, most)
        if self.per_feature and len(base) > 1:
            more = search_each(score, path.best.width, base * low, base * high, most)
            path = Path([*path.tried, *more.tried], more.on_edge)
        return path

    def _bounds(self, base: Array) -> tuple[float, float]:
        """Multiples of the rule of thumb between which to look."""
        if self.bandwidth_bounds is not None:
            low, high = self.bandwidth_bounds
            if not 0 < low < high < np.inf:
                msg = (
                    f"bandwidth_bounds must be two numbers, 0 < low < high, got "
                    f"{self.bandwidth_bounds!r}"
                )
                raise ValueRangeError(msg)
            return float(low), float(high)
        # below half the spacing each point is told by its nearest alone; beyond twice the range
        # all are told by the mean: more is not worth looking at
        extent, n = self._smoother.extent, self._smoother.n
        here = extent > 0
        if not here.any():
            return BOUNDS
        axes = 1 if self.per_feature else here.sum()  # widths of their own: spaced as on a line
        spacing = float((extent[here] / base[here]).min()) / n ** (1 / axes) / 2
        most = 2 * float((extent[here] / base[here]).max()) * _relative(self._smoother.kernel)
        low = min(max(BOUNDS[0], spacing), 0.5)
        return low, max(min(BOUNDS[1], most), 2.0)

    def predict(self, X: Any, *, return_std: bool = False) -> Any:  # noqa: ANN401
        """Predict at X [m, d]; with ``return_std`` also the standard error of the curve there.

        The variance around a query is that of the leave-one-out errors there, as the kernel
        averages them; of all errors, where it rests on no more than one point, as far outside.
        """
        if is_dask(X):
            return self._predict_blocks(X, return_std=return_std)
        check_is_fitted(self)
        X = self._checked(X)
        values, data = None, self._smoother
        if isinstance(data, Smoother):
            values = data.averages(X, self._x_middle, self._y_middle, self.bandwidth_)
        if values is None:
            q = X - self._x_middle
            values = self._filled(q, data.at(q, self.bandwidth_)) + self._y_middle
        if not return_std:
            return self._shaped(values)
        data = self._here("return_std")
        if self._band is None:
            self._band = Band(data, self.bandwidth_)
        return self._shaped(values), self._shaped(self._band.at(X - self._x_middle))

    def _predict_blocks(self, X: Any, *, return_std: bool) -> Any:  # noqa: ANN401
        """A Dask array of predictions, a block for each block of queries; nothing runs yet."""
        check_is_fitted(self)
        dask, array = (need(x, extra="dask", why="data in blocks") for x in ("dask", "dask.array"))
        if return_std:
            self._here("return_std")
        data, wide = self._smoother, () if self._single else (len(self._y_middle),)
        parts = []
        for rows, block in zip(X.chunks[0], X.rechunk({1: -1}).to_delayed()[:, 0], strict=True):
            if isinstance(data, Smoother):
                made = dask.delayed(self.predict)(block, return_std=return_std)
            else:
                q = dask.delayed(np.subtract)(block, self._x_middle)
                made = dask.delayed(self._finished)(q, data.later(q, self.bandwidth_))
            parts.append((rows, made))

        def joined(which: int | None) -> Any:  # noqa: ANN401
            return array.concatenate(
                [
                    array.from_delayed(
                        made if which is None else made[which], (rows, *wide), dtype=self._dtype
                    )
                    for rows, made in parts
                ]
            )

        return (joined(0), joined(1)) if return_std else joined(None)

    def _finished(self, q: Array, got: Estimate) -> Array:
        return self._shaped(self._filled(q, got) + self._y_middle)

    def predict_interval(self, X: Any, level: float = 0.95) -> Any:  # noqa: ANN401
        """Lower and upper ends of the band that holds the curve with probability ``level``.

        Point by point, from the standard error and normal quantiles; [m, 2], or [m, k, 2]. The
        kernel's bias is not in it.
        """
        if not 0 < level < 1:
            msg = f"level must be above 0 and below 1, got {level!r}"
            raise ValueRangeError(msg)
        values, error = self.predict(X, return_std=True)
        away = float(norm.ppf((1 + level) / 2)) * error
        return np.stack((values - away, values + away), -1).astype(self._dtype)

    def gradient(self, X: Any) -> Any:  # noqa: ANN401
        """The derivative of the prediction by the features: [m, d], or [m, k, d].

        With degree 1 by differences, good to about 7 digits.
        """
        q = self._queries(X)
        if not self.degree:
            slopes = self._smoother.at(q, self.bandwidth_, slopes=True).slopes
            assert slopes is not None
            slopes = np.where(np.isfinite(slopes), slopes, 0.0)  # no data in reach: it stays level
        else:
            step = 1e-5 * np.where(np.isfinite(self.bandwidth_), self.bandwidth_, 1.0)
            parts = []
            for i, h in enumerate(step):
                aside = np.zeros(q.shape[1])
                aside[i] = h
                up, down = (
                    self._filled(at, self._smoother.at(at, self.bandwidth_))
                    for at in (q + aside, q - aside)
                )
                parts.append((up - down) / (2 * h))
            slopes = np.stack(parts, -1)
        return (slopes[:, 0] if self._single else slopes).astype(self._dtype)

    def weights(self, X: Any) -> Any:  # noqa: ANN401
        """The attention weights: predictions are these times y.

        [m, n], a sparse array for kernels with an edge. Points of weight 0 have no column, and
        with a bandwidth chosen from the data equal places share one: see ``places_``.
        """
        q = self._queries(X)
        data = self._here("weights")
        return hat_rows(data.x, data.weight, self.bandwidth_, data.kernel, q, self.degree)

    @property
    def places_(self) -> Array:
        """[n, d]: the places of the data, in the order of the columns of ``weights``."""
        return self._here("places_").x + self._x_middle

    @property
    def values_(self) -> Array:
        """[n] or [n, k]: what was measured at ``places_``; the mean where several were equal."""
        values = self._here("values_").y + self._y_middle
        return values[:, 0] if self._single else values

    @property
    def counts_(self) -> Array:
        """[n]: how much each of ``places_`` weighs."""
        return self._here("counts_").weight

    def density(self, X: Any) -> Any:  # noqa: ANN401
        """The logarithm of the density of the data at X: how far from them a query is."""
        q = self._queries(X)
        data = self._smoother
        log_mass = data.at(q, self.bandwidth_).log_mass
        volume = np.log(self.bandwidth_).sum() + len(self.bandwidth_) * np.log(data.kernel.integral)
        return (log_mass - np.log(data.total_weight) - volume).astype(self._dtype)

    def loo_score(self, bandwidth: Any = None, *, return_gradient: bool = False) -> Any:  # noqa: ANN401
        """The mean squared error of each place predicted from the others.

        With its gradient by the logarithm of each width, if asked; for degree 1 by differences. A
        place without others in reach is predicted by the mean of the others.
        """
        check_is_fitted(self)
        data = self._smoother
        width = self.bandwidth_ if bandwidth is None else check_width(bandwidth, len(data.extent))
        got = data.loo(width, slope=return_gradient)
        return (got.score, got.slope) if return_gradient else got.score

    def loo_predict(self) -> Any:  # noqa: ANN401
        """Each row of the data predicted from those at other places: as y, [n] or [n, k].

        A row for each that weighs more than 0. Without others in reach it is their mean. Rows at
        one place are left out together whatever the bandwidth, or they would tell each other.
        """
        data, places = self._here("loo_predict"), self._data
        assert places is not None
        if places.of is None:  # with a width that was given equal places are as they came
            places = merged(*places[:3])
            if places.weight is not None:
                data = replace(data, x=places.x, y=places.y, weight=places.weight)
        told = data.told(self.bandwidth_) + self._y_middle
        return self._shaped(told if places.of is None else told[places.of])

    def _checked(self, X: Any) -> NDArray[Any]:  # noqa: ANN401
        return np.asarray(
            validate_data(
                self, X, reset=False, dtype=[np.float64, np.float32], ensure_min_samples=0
            )
        )

    def _queries(self, X: Any) -> Array:  # noqa: ANN401
        check_is_fitted(self)
        return self._checked(X) - self._x_middle

    def _shaped(self, values: Array) -> Array:
        return (values[:, 0] if self._single else values).astype(self._dtype, copy=False)

    def _filled(self, q: Array, got: Estimate) -> Array:
        """Values also where no data are in reach."""
        hole = got.mass == 0
        if not hole.any():
            return got.values
        data, values = self._smoother, got.values.copy()
        count = f"{int(hole.sum())} of {len(q)} queries have no data in reach of the kernel"
        if self.empty == "raise":
            msg = f"{count}; use a wider bandwidth, or empty='nearest', 'mean' or 'nan'"
            raise ValueRangeError(msg)
        if self.empty == "nan":
            warnings.warn(f"{count}: NaN is predicted there", RuntimeWarning, stacklevel=3)
            values[hole] = np.nan
        elif self.empty == "mean":
            values[hole] = 0.0
        else:
            values[hole] = data.nearest_values(q[hole], self.bandwidth_)
        return values


def _relative(kernel: Kernel) -> float:
    """Rules of thumb are for the Gaussian: the width at which this kernel smooths as much."""
    return kernel.canonical / KERNELS["gaussian"].canonical

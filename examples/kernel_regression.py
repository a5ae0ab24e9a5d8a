"""Kernel regression as an estimator: the curve of the notes, then a real table.

50 points of y = 2 sin x + x^0.8 with noise are averaged in three ways: all alike, by nearness with
a width of 1, and with a width that is learned. Then a table of patients is predicted in a pipeline
of scikit-learn, beside the mean, nearest neighbours and a linear model:

    python examples/kernel_regression.py --out build
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from regard.regression import NadarayaWatson
from regard.viewing import heatmap

POINTS, NOISE = 50, 0.5
GRID = np.arange(0, 5, 0.1)  # where the curve is drawn
DARKEST = 0.2  # the attention weight drawn black
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Way:
    """One way to average the points, and how wrong it is."""

    name: str
    model: NadarayaWatson
    left_out: float  # mean squared error at the points, each predicted from the others
    off_truth: float  # mean squared error to the true curve, on the grid

    @property
    def width(self) -> float:
        """Infinite for the plain average."""
        return float(self.model.bandwidth_[0])

    @property
    def about(self) -> str:
        """A title."""
        if np.isinf(self.width):
            return "average pooling: every point counts the same"
        return f"attention pooling with a width of {self.width:.3g}, {self.name}"

    @property
    def weights(self) -> Array:
        """[50, 50]: how much each place of the curve takes from each point."""
        weights: Array = self.model.weights(GRID[:, None])
        return weights


def curve(x: Array) -> Array:
    """The truth."""
    return 2 * np.sin(x) + x**0.8  # x from 0 on: a power of a negative number is NaN


def points(seed: int) -> tuple[Array, Array]:
    """Points [50], sorted, and what was measured there."""
    draw = np.random.default_rng(seed)
    x = np.sort(draw.uniform(0, 5, POINTS))
    return x, curve(x) + NOISE * draw.standard_normal(POINTS)


def three_ways(x: Array, y: Array) -> list[Way]:
    """The mean, a width of 1, and the width learned by gradient from leaving points out."""
    widths: dict[str, float | str] = {"average": np.inf, "fixed": 1.0, "learned": "learn"}
    ways = []
    for name, bandwidth in widths.items():
        model = NadarayaWatson(bandwidth=bandwidth).fit(x[:, None], y)
        off = np.square(model.predict(GRID[:, None]) - curve(GRID)).mean()
        ways.append(Way(name, model, model.loo_score_, float(off)))
    return ways


def draw(way: Way, x: Array, y: Array, path: Path) -> None:
    """The points, the truth and the guess on the left, the attention weights on the right."""
    figure = Figure(figsize=(11, 4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.5, 1])
    left.scatter(x, y, s=20, color="#8a8a8a", alpha=0.6, linewidths=0, label="training points")
    left.plot(GRID, curve(GRID), color="#222222", linewidth=1.4, label="true curve")
    left.plot(GRID, way.model.predict(GRID[:, None]), color="#D55E00", linewidth=2.4, label="guess")
    left.set(xlabel="x", ylabel="y", title=way.about, ylim=(-1, 5))
    left.legend(frameon=False, loc="lower center", ncols=3)
    left.spines[["top", "right"]].set_visible(False)
    names = (
        "training point, sorted by x",
        "place of the curve, in steps of 0.1",
        "attention weights",
    )
    # one scale for the three figures, so that they can be compared
    image = heatmap(right, torch.tensor(way.weights), *names, most=DARKEST)
    figure.colorbar(image, ax=right, extend="max" if way.weights.max() > DARKEST else "neither")
    figure.savefig(path, dpi=80, facecolor="white")


def candidates() -> dict[str, Any]:
    """What predicts the table; those with a choice to make choose inside, from training rows."""
    neighbours = {"kneighborsregressor__n_neighbors": range(2, 62, 4)}
    narrow = {
        "nadarayawatson__bandwidth": np.geomspace(0.4, 3, 8),
        "nadarayawatson__kernel": ["gaussian", "laplace"],
    }
    scaled = make_pipeline(StandardScaler(), NadarayaWatson())
    return {
        "mean": DummyRegressor(),
        "nearest neighbours, as many as do best": GridSearchCV(
            make_pipeline(StandardScaler(), KNeighborsRegressor()), neighbours, cv=5
        ),
        "NadarayaWatson, width by leave-one-out": scaled,
        "NadarayaWatson, width and kernel by grid search": GridSearchCV(scaled, narrow, cv=5),
        "NadarayaWatson, a width a feature": make_pipeline(
            StandardScaler(), NadarayaWatson(per_feature=True)
        ),
        "linear regression": LinearRegression(),
    }


def table(X: Array, y: Array, folds: int) -> dict[str, tuple[float, float, float]]:
    """By name: the root of the mean squared error, its spread over the folds, and R^2."""
    found = {}
    for name, model in candidates().items():
        scores = cross_validate(
            model,
            X,
            y,
            cv=KFold(folds, shuffle=True, random_state=0),
            scoring=("neg_root_mean_squared_error", "r2"),
        )
        errors = -scores["test_neg_root_mean_squared_error"]
        found[name] = (errors.mean(), errors.std(), scores["test_r2"].mean())
    return found


def main(arguments: list[str] | None = None) -> None:
    """Print both tables, and write the figures and the data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build"), help="folder (default: build)")
    parser.add_argument("--seed", type=int, default=0, help="of the points (default: 0)")
    parser.add_argument("--folds", type=int, default=10, help="of the table (default: 10)")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)

    x, y = points(options.seed)
    print(f"{'way':8}  {'width':>6}  {'leave-one-out error':>19}  {'error to true curve':>19}")
    for way in three_ways(x, y):
        print(f"{way.name:8}  {way.width:6.3f}  {way.left_out:19.4f}  {way.off_truth:19.4f}")
        draw(way, x, y, options.out / f"kernel-regression-{way.name}.png")
    rows = np.column_stack((x, y))
    np.savetxt(options.out / "points.csv", rows, "%.6f", ",", header="x,y", comments="")

    data = load_diabetes(scaled=False)
    print(f"\n{'diabetes, ' + str(options.folds) + ' folds':48}  {'error':>12}  {'R^2':>5}")
    for name, (error, spread, r2) in table(data.data, data.target, options.folds).items():
        print(f"{name:48}  {error:5.1f} +- {spread:3.1f}  {r2:5.2f}")
    whole = make_pipeline(StandardScaler(), NadarayaWatson(per_feature=True))
    widths = whole.fit(data.data, data.target)[-1].bandwidth_
    order = np.argsort(widths)
    print("\nwidths, in standard deviations of each column: the narrow ones matter")
    print(", ".join(f"{data.feature_names[i]} {widths[i]:.2f}" for i in order))
    rows = np.column_stack((data.data, data.target))
    names = ",".join([*data.feature_names, "target"])
    np.savetxt(options.out / "diabetes.csv", rows, "%.6g", ",", header=names, comments="")


if __name__ == "__main__":
    main()

"""Kernel regression as an estimator: what the example prints is what was measured."""

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")

from examples import kernel_regression as example


@pytest.fixture(scope="module")
def ways():
    return example.three_ways(*example.points(0))


def test_the_data_are_those_of_the_notes():
    x, y = example.points(0)
    assert x.shape == y.shape == (50,)
    assert (np.diff(x) >= 0).all()
    assert (x >= 0).all()
    assert (x <= 5).all()
    assert 0.35 < (y - 2 * np.sin(x) - x**0.8).std() < 0.65


def by_definition(x, y, q, width, seen):
    k = np.exp(-0.5 * ((q[:, None] - x) / width) ** 2) * seen
    return k @ y / k.sum(1)


def test_the_errors_are_those_of_the_definition(ways):
    x, y = example.points(0)
    assert [way.name for way in ways] == ["average", "fixed", "learned"]
    assert [way.width for way in ways[:2]] == [np.inf, 1.0]
    for way in ways:
        left_out = by_definition(x, y, x, way.width, 1 - np.eye(50)) - y
        off_truth = by_definition(x, y, example.GRID, way.width, 1) - example.curve(example.GRID)
        assert way.left_out == pytest.approx(np.square(left_out).mean(), rel=1e-7)
        assert way.off_truth == pytest.approx(np.square(off_truth).mean(), rel=1e-7)
        assert way.weights.shape == (50, 50)
        assert np.allclose(way.weights @ y, way.model.predict(example.GRID[:, None]))


def test_each_way_is_better_than_the_one_before(ways):
    average, fixed, learned = ways
    assert learned.left_out < fixed.left_out < average.left_out
    assert learned.off_truth < fixed.off_truth < average.off_truth


def test_learning_finds_what_searching_finds(ways):
    x, y = example.points(0)
    searched = example.NadarayaWatson(bandwidth="loo").fit(x[:, None], y)
    assert ways[2].width == pytest.approx(searched.bandwidth_[0], rel=1e-3)


def test_it_prints_both_tables_and_writes_figures_and_data(tmp_path, capsys, monkeypatch):
    few = example.candidates()
    del few["NadarayaWatson, width and kernel by grid search"]  # many fits
    monkeypatch.setattr(example, "candidates", lambda: few)
    example.main(["--out", str(tmp_path / "new"), "--folds", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["way", "width"]
    assert [line.split()[0] for line in lines[1:4]] == ["average", "fixed", "learned"]
    start = lines.index("") + 1
    assert lines[start].split() == ["diabetes,", "2", "folds", "error", "R^2"]
    r2 = {line[:48].strip(): float(line.split()[-1]) for line in lines[start + 1 : start + 6]}
    assert list(r2) == list(few)
    assert abs(r2["mean"]) < 0.05
    assert 0.3 < r2["NadarayaWatson, width by leave-one-out"] < 0.6
    widths = dict(part.split() for part in lines[-1].split(", "))
    assert len(widths) == 10
    assert list(widths.values()) == sorted(widths.values(), key=float)
    made = sorted(path.name for path in (tmp_path / "new").iterdir())
    figures = [f"kernel-regression-{name}.png" for name in ("average", "fixed", "learned")]
    assert made == ["diabetes.csv", *figures, "points.csv"]
    assert (tmp_path / "new" / "points.csv").read_text().startswith("x,y\n")
    assert len((tmp_path / "new" / "diabetes.csv").read_text().splitlines()) == 443


def test_every_candidate_can_be_searched():
    some = example.candidates()["NadarayaWatson, width and kernel by grid search"]
    some.set_params(param_grid={"nadarayawatson__bandwidth": [0.5, 50.0]}, cv=2)
    draw = np.random.default_rng(0)
    X = draw.uniform(0, 5, (80, 2))
    assert some.fit(X, np.sin(X[:, 0])).best_params_ == {"nadarayawatson__bandwidth": 0.5}

from fractions import Fraction

import numpy as np
import pytest

from regard.regression.sums import gaussian_grid
from regard.regression.sums.direct import Direct
from regard.regression.sums.gaussian_grid import GaussianGrid, series_error
from regard.regression.sums.tree import Tree

KINDS = ("k", "uk", "uuk", "dk", "udk")


def columns_of(rng, n, c=3):
    weights = rng.uniform(0.5, 2, n)
    return np.concatenate([weights[:, None], weights[:, None] * rng.normal(size=(n, c - 1))], 1)


def data(name, d, n=3000):
    """x, columns, width and queries, chosen to hurt."""
    rng = np.random.default_rng(len(name) + d)
    x = rng.uniform(-3, 3, (n, d))
    width = np.array([0.6, 0.9]) if d == 2 else np.array([1.2, 1.8, 1.4])
    columns = columns_of(rng, n)
    q = rng.uniform(-3.2, 3.2, (400, d))
    if name == "clusters":  # a gap of thousands of widths, queries in it
        x[: n // 2] *= 0.2
        x[n // 2 :] += 3000
        before = x[n // 2 :: 6] - np.linspace(2, 14, len(x[n // 2 :: 6]))[:, None] * width
        q = np.concatenate([x[::40], x[::40] + 2, np.linspace(x[0], x[-1], 60), before])
    elif name == "gap":  # within the reach of both, and the weights of one a shadow
        x[: n // 2, 0] = x[: n // 2, 0] / 6 - 1.5
        x[n // 2 :, 0] = x[n // 2 :, 0] / 6 + 9 * width[0]
        columns[: n // 2] *= 1e-6
        q[:, 0] = np.linspace(x[:, 0].min(), x[:, 0].max(), len(q))
    elif name == "twice":
        x[1::2] = x[::2]
    elif name == "constant":
        x[:, 0] = 1.25
    elif name == "weights":
        columns[::3] = 0
        columns[1::3] *= 1e-12
    elif name == "edge":
        q = np.concatenate([q, rng.normal(size=(200, d)) * 6, x[:50]])
    elif name == "narrow":
        width = width / 40
    elif name == "one":
        x, columns = x[:1], columns[:1]
    else:
        assert name == "even"
    return x, columns, width, q


NAMES = ("even", "clusters", "twice", "gap", "constant", "weights", "edge", "narrow", "one")


def assert_right(found, exact, columns, tol):
    """Every sum over the first one of k, against the largest value."""
    kept = columns[:, 0] > 0
    largest = np.abs(columns[kept] / columns[kept, :1]).max()
    weight, true_weight = found.sums["k"][:, :1], exact.sums["k"][:, :1]
    nobody = true_weight[:, 0] == 0
    assert np.array_equal(weight[:, 0] == 0, nobody)
    for kind in found.sums:
        got, want = (x.sums[kind].reshape(len(nobody), -1)[~nobody] for x in (found, exact))
        got, want = got / weight[~nobody], want / true_weight[~nobody]
        far = np.maximum(np.abs(want).max(1, initial=0.0), largest)[:, None]
        assert np.all(np.abs(got - want) <= tol * far), (kind, np.max(np.abs(got - want) / far))
    log_weight, true_log = (
        np.log(x.sums["k"][~nobody, 0]) + x.log_scale[~nobody] for x in (found, exact)
    )
    assert np.all(np.abs(log_weight - true_log) <= tol + 1e-14 * np.abs(true_log))


@pytest.mark.parametrize("forced", [False, True], ids=["chosen", "boxes"])
@pytest.mark.parametrize("leave_out", [False, True], ids=["all", "leave_out"])
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_the_definition(name, d, leave_out, forced, monkeypatch):
    if forced:  # little data would be left to the tree
        monkeypatch.setattr(GaussianGrid, "_cheaper", lambda *_: True)
        monkeypatch.setattr(gaussian_grid, "SIDES", (1.0, 1.4))  # quickly made
    x, columns, width, q = data(name, d, 700)
    q = x if leave_out else q
    exact = Direct(x, columns, width).at(q, KINDS, leave_out=leave_out)
    found = GaussianGrid(x, columns, width, 1e-9).at(q, KINDS, leave_out=leave_out)
    assert_right(found, exact, columns, 1e-9)


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize(
    ("d", "kinds"),
    [(2, ("k",)), (2, ("k", "uk")), (2, ("k", "udk")), (3, ("k",)), (3, ("k", "udk"))],
)
def test_boxes_keep_the_tolerance(d, kinds, tol, monkeypatch):
    x, columns, width, q = data("edge", d, 1500)
    monkeypatch.setattr(GaussianGrid, "_cheaper", lambda *_: True)
    sums = GaussianGrid(x, columns, width, tol)
    exact = Direct(x, columns, width).at(q, kinds)
    seen = []
    monkeypatch.setattr(Tree, "add", lambda self, q, which, *rest: seen.append(which))
    found = sums.at(q, kinds)
    assert sums._grids
    by_boxes = np.ones(len(q), bool)
    by_boxes[np.concatenate([np.empty(0, int), *seen])] = False
    assert by_boxes[:400].mean() > 0.95
    for kind in kinds:
        scale = exact.sums["k"][:, 0] * np.exp(exact.log_scale)
        factor = np.exp(exact.log_scale).reshape(-1, *[1] * (exact.sums[kind].ndim - 1))
        error = (found.sums[kind] - exact.sums[kind] * factor).reshape(len(q), -1)
        share = np.abs(error).max(1)[by_boxes] / scale[by_boxes]
        assert share.max() <= tol * 5  # values of up to 5 for the weight of 1


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("close", [1, 1e-6])  # squares of 1e12 widths do not tell such points apart
@pytest.mark.parametrize("name", ["even", "clusters", "weights", "twice"])
def test_far_away_the_nearest_counts(name, close, d):
    x, columns, width, _ = data(name, d, 150)
    x = x * close
    rng = np.random.default_rng(5)
    q = rng.normal(size=(24, d)) * np.repeat(10.0 ** np.arange(1, 13), 2)[:, None] * width
    found = GaussianGrid(x, columns, width, 1e-9).at(q)
    ratio = found.sums["k"][:, 1] / found.sums["k"][:, 0]
    assert np.isfinite(ratio).all()
    for i in range(4, len(q)):
        squares = [
            sum(
                ((Fraction(a) - Fraction(b)) / Fraction(h)) ** 2
                for a, b, h in zip(*row, strict=True)
            )
            for row in ((q[i], point, width) for point in x)
        ]
        squares = [s if w > 0 else None for s, w in zip(squares, columns[:, 0], strict=True)]
        least = min(s for s in squares if s is not None)
        weights = np.array([0.0 if s is None else np.exp(-float(s - least) / 2) for s in squares])
        want = weights @ columns[:, 1] / (weights @ columns[:, 0])
        assert ratio[i] == pytest.approx(want, rel=1e-6, abs=1e-6), i


def test_a_point_that_is_alone_leaves_nothing():
    found = GaussianGrid(np.zeros((1, 2)), np.ones((1, 2)), np.ones(2)).at(
        np.zeros((1, 2)), KINDS, leave_out=True
    )
    assert all((x == 0).all() for x in found.sums.values())


def test_an_isolated_point_leaves_its_neighbour():
    x = np.array([[0.0, 0.0], [0.1, 0.0], [50.0, 0.0]])
    columns = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 9.0]])
    found = GaussianGrid(x, columns, np.ones(2)).at(x, leave_out=True)
    ratio = found.sums["k"][:, 1] / found.sums["k"][:, 0]
    assert ratio[2] == pytest.approx(2 - 1 / (1 + np.exp(0.5 * (2500 - 49.9**2))), rel=1e-12)


@pytest.mark.parametrize("m", [0, 1])
def test_no_points_and_no_queries(m):
    for n in (0, 5):
        columns = np.zeros((n, 2))
        found = GaussianGrid(np.zeros((n, 2)), columns, np.ones(2)).at(np.ones((m, 2)), ("k", "uk"))
        assert found.sums["k"].shape == (m, 2)
        assert found.sums["uk"].shape == (m, 2, 2)
        assert not found.sums["k"].any()


def test_a_grid_too_large_is_not_made(monkeypatch):
    x, columns, width, q = data("even", 3, 500)
    monkeypatch.setattr(gaussian_grid, "MOST", 1000)
    monkeypatch.setattr(GaussianGrid, "_cheaper", lambda *_: True)
    sums = GaussianGrid(x, columns, width)
    assert_right(sums.at(q), Direct(x, columns, width).at(q), columns, 1e-9)
    assert not sums._grids


def test_empty_stretches_take_no_boxes(monkeypatch):
    x, columns, width, q = data("clusters", 2, 700)
    monkeypatch.setattr(GaussianGrid, "_cheaper", lambda *_: True)
    sums = GaussianGrid(x, columns, width)
    assert_right(sums.at(q), Direct(x, columns, width).at(q), columns, 1e-9)
    assert sums._grids[0].boxes < 20_000  # of millions


def test_repeats_are_equal():
    x, columns, width, q = data("edge", 2)
    one, two = (GaussianGrid(x, columns, width).at(q) for _ in range(2))
    assert np.array_equal(one.sums["k"], two.sums["k"])


def _hermite(t, count):
    slopes = [np.exp(-t * t / 2), -t * np.exp(-t * t / 2)]
    for n in range(2, count):
        slopes.append(-t * slopes[-1] - (n - 1) * slopes[-2])
    return np.array(slopes)


@pytest.mark.parametrize("slopes", [0, 2])
@pytest.mark.parametrize("side", [0.35, 0.7, 1.4])
@pytest.mark.parametrize("orders", [(6, 6), (8, 10), (12, 15)])
def test_the_series_keeps_its_bound(orders, side, slopes):
    """In two features, at the corners of boxes and anywhere in them."""
    size, degree = orders
    rng = np.random.default_rng(0)
    many = 800
    t = rng.uniform(0, 7, (many, 2)) * rng.choice([0, 0.3, 1], (many, 2))
    s, v = (rng.choice([-1, 1, -1, 1, 0.5], (many, 2)) * side / 2 for _ in range(2))
    v[::2] = -s[::2]
    a = np.arange(size)
    factorial = np.cumprod(np.maximum(a, 1.0))
    parts = []
    for k in range(2):
        power = s[:, k] ** a[:, None]
        if k == 0 and slopes:
            power = np.zeros((size, many))
            power[2:] = (a * (a - 1.0))[2:, None] * s[:, 0] ** (a[2:, None] - 2)
        block = _hermite(t[:, k], 2 * size)[a[:, None] + a]
        block = block / factorial[:, None, None] / factorial[:, None]
        parts.append(block * power[:, None] * (-v[:, k]) ** a[:, None])
    total = np.zeros(many)
    for a0 in range(size):
        for b0 in range(size):
            rest = parts[1][: max(degree - a0, 0), : max(degree - b0, 0)].sum((0, 1))
            total += parts[0][a0, b0] * rest
    u = t + s - v
    exact = np.exp(-(u * u).sum(1) / 2) * (u[:, 0] ** 2 - 1 if slopes else 1)
    error = np.abs(total - exact) * np.exp((t * t).sum(1) / 4)
    bound = series_error(side, size, degree, 2, slopes)
    assert error.max() <= bound + 1e-14
    assert error.max() >= bound / 300 - 1e-14  # or it would be too easy

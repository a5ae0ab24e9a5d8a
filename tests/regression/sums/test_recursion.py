import math

import numpy as np
import pytest
import torch

from regard.regression.kernels import KERNELS
from regard.regression.sums.direct import Direct
from regard.regression.sums.recursion import ExponentialLine
from regard.regression.sums.recursion_loops import STRIDE
from tests.regression.sums.one_feature import DATA, KINDS, define, sizes

NAMES = ["laplace", "matern32", "matern52"]
WIDTHS = [1e-9, 1e-3, 0.1, 1.0, 1e9]
EPS = np.finfo(float).eps


def line(name, x, columns, width):
    return ExponentialLine(x[:, None], columns, np.array([width]), 1e-9, kernel=name)


@pytest.mark.parametrize("leave_out", [False, True])
@pytest.mark.parametrize("data", DATA, ids=lambda data: data.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_is_the_definition(name, data, leave_out):
    rng = np.random.default_rng(1)
    x, columns = data(rng)
    q = x if leave_out else np.r_[rng.uniform(-5, 5, 80), x[:30], rng.integers(-4, 5, 40)]
    for width in WIDTHS:
        found = line(name, x, columns, width).at(q[:, None], KINDS, leave_out=leave_out)
        # of K itself log_scale leaves out the polynomial: so must what it is compared with
        exact, size = define(name, x, columns, width, q, found.log_scale, leave_out=leave_out)
        for kind in KINDS:
            # exponents are rounded as numbers of their size are
            allowed = 2e-14 - 8 * EPS * found.log_scale[:, None]
            # next to a heavy point u is small, but others' moments are not
            reach = min(np.ptp(x) / width, 1) ** kind.count("u")
            allowed = allowed * (size[kind] + reach * size["k"])
            wrong = np.abs(sizes(found, kind) - exact[kind])
            assert (wrong <= allowed).all(), (kind, width, (wrong - allowed).max())


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_direct(name):
    rng = np.random.default_rng(2)
    x, columns = DATA[0](rng)
    q, width = rng.uniform(-2, 2, (50, 1)), np.array([0.5])
    one = ExponentialLine(x[:, None], columns, width, 1e-9, kernel=KERNELS[name]).at(q, KINDS[::-1])
    other = Direct(x[:, None], columns, width, kernel=KERNELS[name]).at(q, KINDS)
    scale = np.exp(one.log_scale - other.log_scale)
    for kind in KINDS:
        got = sizes(one, kind) * scale[:, None]
        assert got == pytest.approx(sizes(other, kind), rel=1e-11, abs=1e-12), kind


@pytest.mark.parametrize("name", NAMES)
def test_far_away_it_is_the_nearest_value(name):
    x = np.array([-1.0, 2.0, 2.0, 0.5, 1.9, 2.5, -1.5])
    values = np.array([7.0, 4.0, 6.0, 1.0, 100.0, 100.0, 100.0])
    weights = np.array([1.0, 1.0, 3.0, 1.0, 0.0, 0.0, 0.0])  # the outermost do not count
    columns = np.c_[weights, weights * values]
    q = np.array([-1e6, 1e6, 1.3, 1.2, 1.95, -2.0])
    found = line(name, x, columns, 1e-6).at(q[:, None])
    ratio = found.sums["k"][:, 1] / found.sums["k"][:, 0]
    assert ratio.tolist() == pytest.approx([7, 5.5, 5.5, 1, 5.5, 7], rel=1e-15)
    assert np.isfinite(found.log_scale).all()


@pytest.mark.parametrize("name", NAMES)
def test_alone_a_point_left_out_has_its_nearest(name):
    x = np.array([0.0, 1.0, 3.0, 3.0, 10.0])
    columns = np.c_[np.ones(5), [1.0, 2.0, 3.0, 4.0, 5.0]]
    found = line(name, x, columns, 1e-5).at(x[:, None], leave_out=True)
    ratio = found.sums["k"][:, 1] / found.sums["k"][:, 0]
    assert ratio.tolist() == pytest.approx([2, 1, 4, 3, 3.5], rel=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_one_point_no_query_and_no_weight(name):
    one = line(name, np.array([0.5]), np.array([[2.0, -3.0]]), 1.0)
    assert one.at(np.array([[0.5]])).sums["k"].tolist() == [[2.0, -3.0]]
    assert one.at(np.array([[0.5]]), leave_out=True).sums["k"].tolist() == [[0.0, 0.0]]
    assert one.at(np.empty((0, 1)), KINDS).sums["dk"].shape == (0, 2, 1)
    none = line(name, np.array([0.5, 1.0]), np.zeros((2, 2)), 1.0)
    found = none.at(np.array([[0.5], [2.0]]), KINDS)
    assert not found.sums["k"].any()
    assert not found.log_scale.any()


@pytest.mark.parametrize("leave_out", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_from_kept_moments_on(name, leave_out):
    """Few queries over many points, so that most points are passed in one go."""
    rng = np.random.default_rng(5)
    n = 3 * STRIDE + 7
    x, columns = rng.normal(size=n), rng.uniform(0.1, 1, (n, 2))
    some = np.arange(n) if leave_out else np.array([0, 700, 1500])
    found = line(name, x, columns, 0.1).at(x[some, None], KINDS, leave_out=leave_out)
    exact, size = define(name, x, columns, 0.1, x[some], found.log_scale, leave_out=leave_out)
    for kind in KINDS:
        wrong = np.abs(sizes(found, kind) - exact[kind])
        assert (wrong <= (3e-14 - 8 * EPS * found.log_scale[:, None]) * size[kind]).all()


@pytest.mark.parametrize("name", NAMES)
def test_rounding_does_not_add_up(name):
    # equal weights that are no binary fraction, equal steps: every step is wrong in one direction
    n = 200_000
    x, columns = np.linspace(-1, 1, n), np.c_[np.full(n, 0.1), np.full(n, 0.3)]
    q = np.array([-0.9, 0.1, 1.0])
    for width in (0.7, 1e9):
        found = line(name, x, columns, width).at(q[:, None])
        for got, scale, at in zip(found.sums["k"], found.log_scale, q, strict=True):
            terms = np.exp(KERNELS[name].log_k((at - x) / width) - scale)
            exact = [math.fsum(terms * column) for column in columns.T]
            assert got == pytest.approx(exact, rel=4e-15)


def test_far_away_the_scale_takes_the_distance_and_nothing_else():
    x, columns = np.array([0.0, 0.25, 0.75]), np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])
    found = line("laplace", x, columns, 1.0).at(np.array([[0.75], [1e12], [1e17]]))
    assert found.sums["k"][1:] == pytest.approx(found.sums["k"][[0, 0]], rel=1e-15)
    assert found.log_scale == pytest.approx([0, 0.75 - 1e12, -1e17], rel=1e-15)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(4)
    x, columns, q = rng.normal(size=30_000), rng.uniform(size=(30_000, 2)), rng.normal(size=30_000)
    found = []
    before = torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            found.append(line("matern32", x, columns, 0.2).at(q[:, None]).sums["k"])
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(*found)

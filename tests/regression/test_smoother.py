"""Kernel regression on checked arrays, apart from what the estimator makes of it."""

import numpy as np
import pytest

from regard.regression.kernels import KERNELS
from regard.regression.plain import ones
from regard.regression.smoother import Smoother
from tests.regression.data import NAMES, by_hand, curve


def smoother(n=120, name="gaussian", outputs=1, weight=None, **settings):
    x, y = curve(n, outputs=outputs)
    y = y.reshape(n, -1)
    weight = ones(n) if weight is None else weight
    return Smoother(x - x.mean(0), y - y.mean(0), weight, KERNELS[name], **settings)


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", [1e-4, 0.02, 0.3, 50.0])
def test_the_score_is_that_of_data_in_any_order(width, weighted, outputs):
    """Data in order are scored in one pass, others by what is told of each."""
    weight = np.random.default_rng(1).uniform(0.1, 3, 120) if weighted else None
    data = smoother(outputs=outputs, weight=weight)
    ordered = data.in_order()
    assert (np.diff(ordered.x[:, 0]) >= 0).all()
    assert ordered.in_order() is ordered
    width = np.array([width])
    one, other = data.loo(width), ordered.loo(width)
    assert other.score == pytest.approx(one.score, rel=1e-9)
    assert other.slope == pytest.approx(one.slope, rel=1e-7, abs=1e-9 * one.score)
    told = by_hand(data.x, data.y, width, "gaussian", data.x, data.weight, leave_out=True)
    miss = data.weight @ np.square(told - data.y) / data.weight.sum()
    assert other.score == pytest.approx(miss.mean(), rel=1e-8)


def test_a_point_of_no_neighbours_in_order():
    data = smoother(40)
    data.x[7] = 1e9
    width = np.array([0.3])
    assert data.in_order().loo(width).score == pytest.approx(data.loo(width).score, rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_told_by_the_others(name):
    data = smoother(60, name)
    data.x[3] = 50.0  # out of reach of all others
    found = data.told(np.array([0.8]))
    wanted = by_hand(data.x, data.y, 0.8, name, data.x, leave_out=True)
    rest = (data.y.sum(0) - data.y) / 59
    wanted = np.where(np.isfinite(wanted), wanted, rest)
    np.testing.assert_allclose(found, wanted, atol=1e-8)
    score = np.square(found - data.y).mean()
    assert data.loo(np.array([0.8]), slope=False).score == pytest.approx(score, rel=1e-9)


def test_averages_at_once_are_those_one_by_one():
    data, width = smoother(500), np.array([0.2])
    q = np.linspace(-9, 9, 77)[:, None]
    found = data.averages(q + 2, np.array([2.0]), np.array([5.0]), width)
    np.testing.assert_allclose(found, data.at(q, width).values + 5, atol=1e-9)
    for other in (smoother(500, degree=1), smoother(500, "tricube"), smoother(500, outputs=2)):
        assert other.averages(q, np.zeros(1), np.zeros(other.y.shape[1]), width) is None
    assert data.averages(q, np.zeros(1), np.zeros(1), np.array([np.inf])) is None


def test_common_units():
    data = smoother(outputs=2)
    far = Smoother(data.x, data.y * [1.0, 1e6], data.weight, data.kernel)
    np.testing.assert_allclose(far.in_common_units().y, data.in_common_units().y, rtol=1e-12)
    np.testing.assert_allclose(data.in_common_units().y.std(0), 1)
    flat = Smoother(data.x, data.y * [1.0, 0.0], data.weight, data.kernel)
    assert np.isfinite(flat.in_common_units().y).all()
    one = smoother()
    assert one.in_common_units() is one


def test_weights_of_one_are_never_written_down():
    data = smoother(1000)
    data.at(data.x, np.array([0.3]))
    data.in_order().loo(np.array([0.3]))
    assert "columns" not in vars(data)

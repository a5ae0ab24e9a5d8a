"""The standard error where it rests on few points; ``test_nadaraya_watson`` has the others."""

import numpy as np
import pytest

from regard.regression import NadarayaWatson
from tests.regression.data import curve


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("lucky", [0.0, 3.0])
def test_one_point_alone_does_not_tell_the_noise(degree, lucky):
    """Whether the last point was hit or missed says nothing of what lies beyond it."""
    x, y = curve(200)
    last = x[:, 0].argmax()
    x[last] = 8.0
    model = NadarayaWatson(bandwidth=0.2, degree=degree).fit(x, y)
    y[last] = model.loo_predict()[last] + lucky
    model.fit(x, y)
    everywhere = np.sqrt(np.square(model.loo_predict() - y).mean())
    _, error = model.predict([[8.0], [30.0]], return_std=True)
    np.testing.assert_allclose(error, everywhere, rtol=1e-6)


def test_from_one_to_two_points_the_errors_around_take_over():
    x, y = np.array([[0.0], [1.0], [10.0], [11.0]]), np.array([0.0, 4.0, 0.0, 0.2])
    model = NadarayaWatson(bandwidth=1.0).fit(x, y)
    told = model.loo_predict()
    q = np.array([[0.5], [-0.2], [-1.0], [-3.0]])
    _, error = model.predict(q, return_std=True)
    weights = model.weights(q)
    here, everywhere = weights @ np.square(told - y), np.square(told - y).mean()
    few = 1 / np.square(weights).sum(1)
    assert few[0] == pytest.approx(2)
    assert (np.diff(few) < 0).all()
    part = np.clip(few - 1, 0, 1)
    np.testing.assert_allclose(
        error, np.sqrt((part * here + (1 - part) * everywhere) / few), rtol=1e-6
    )


def test_infinity_where_no_data_are_in_reach():
    x, y = curve(50)
    model = NadarayaWatson("boxcar", bandwidth=0.5).fit(x, y)
    assert model.predict([[90.0]], return_std=True)[1][0] == np.inf

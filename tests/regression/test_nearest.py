import numpy as np
import pytest

from regard.regression.nearest import nearest


@pytest.mark.parametrize("d", [1, 2])
def test_the_nearest_in_widths(d):
    rng = np.random.default_rng(0)
    x, q, width = rng.normal(size=(50, d)), rng.normal(size=(30, d)) * 3, np.array([1.0, 5.0])[:d]
    away = np.square((q[:, None] - x) / width).sum(-1)
    np.testing.assert_array_equal(nearest(x, q, width), away.argmin(1))


def test_one_point_is_always_the_nearest():
    assert nearest(np.zeros((1, 1)), np.array([[-5.0], [3.0]]), np.ones(1)).tolist() == [0, 0]

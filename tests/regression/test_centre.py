import numpy as np
import pytest

from regard.regression.centre import FEW, centred


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("shape", [(5, 1), (5, 3), (FEW + 1, 1), (3 * FEW, 1), (3 * FEW, 2)])
def test_the_mean_is_taken_off_in_float64(shape, dtype):
    given = np.random.default_rng(0).uniform(1000, 1001, shape).astype(dtype)
    before = given.copy()
    found, middle = centred(given)
    wide = given.astype(np.float64)
    np.testing.assert_allclose(middle, wide.mean(0), rtol=1e-13)
    np.testing.assert_array_equal(found, wide - middle)
    assert found.dtype == middle.dtype == np.float64
    np.testing.assert_array_equal(given, before)


def test_weights_and_strides():
    given = np.random.default_rng(0).normal(size=(3 * FEW, 4))[:, 1:2]
    weight = np.random.default_rng(1).uniform(size=len(given))
    np.testing.assert_allclose(centred(given)[1], given.mean(0))
    np.testing.assert_allclose(centred(given, weight)[1], np.average(given, 0, weight))

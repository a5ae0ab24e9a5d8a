import numpy as np
import pytest

from regard.regression.kernels import KERNELS
from regard.regression.lines import local_lines


@pytest.mark.parametrize("leave_out", [False, True])
@pytest.mark.parametrize("name", ["gaussian", "biweight"])
def test_a_least_squares_fit_around_each_query(name, leave_out):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(40, 2))
    weight, width = rng.uniform(0.5, 2, 40), np.array([1.1, 1.7])
    columns = np.column_stack((weight, weight[:, None] * y))
    q = x if leave_out else rng.normal(size=(7, 2)) * 0.5
    got = local_lines(x, columns, width, KERNELS[name], q, leave_out=leave_out)
    for i, here in enumerate(q):
        k = KERNELS[name].k((here - x) / width).prod(1) * weight
        if leave_out:
            k[i] = 0
        if (k > 0).sum() < 4:
            continue
        design = np.column_stack((np.ones(40), x - here)) * np.sqrt(k)[:, None]
        line = np.linalg.lstsq(design, np.sqrt(k)[:, None] * y, rcond=None)[0]
        np.testing.assert_allclose(got.values[i], line[0], atol=1e-7)
        inverse = np.linalg.inv(design.T @ design)
        assert got.own[i] == pytest.approx(inverse[0, 0], rel=1e-6)
        assert got.log_mass[i] == pytest.approx(np.log(k.sum()))


def test_one_point_in_reach_and_none():
    x, columns = np.array([[0.0, 0.0], [9.0, 9.0]]), np.array([[1.0, 5.0], [1.0, 7.0]])
    kernel, width = KERNELS["boxcar"], np.ones(2)
    got = local_lines(
        x, columns, width, kernel, np.array([[0.5, 0.5], [4.0, 4.0]]), leave_out=False
    )
    assert got.values[0, 0] == pytest.approx(5)
    assert np.isnan(got.values[1, 0])
    assert got.log_mass[1] == -np.inf

"""Our functions against the library's, over their whole range."""

import numpy as np
import pytest
from numba import njit

from regard.attention.cpu import elementary


def applied(function, x):
    @njit
    def each(x, y):
        for i in range(x.shape[0]):
            y[i] = function(x[i])

    y = np.zeros_like(x)
    each(x, y)
    return y


def spread(low, high, dtype):
    x = np.concatenate((np.linspace(low, high, 200_001), np.linspace(-1, 1, 20_001) * 1e-3))
    return x[(x >= low) & (x <= high)].astype(dtype)


@pytest.mark.parametrize(
    ("name", "wanted", "low", "high", "most"),
    [
        ("exp32", np.exp, -87.0, 88.0, 2.0),
        ("exp64", np.exp, -708.0, 709.0, 2.0),
        ("log32", np.log, 1e-30, 1e6, 2.0),
        ("log64", np.log, 1e-300, 1e6, 1.0),
        ("tanh32", np.tanh, -20.0, 20.0, 2.0),
        ("tanh64", np.tanh, -20.0, 20.0, 4.0),
    ],
)
def test_within_a_few_units_in_the_last_place(name, wanted, low, high, most):
    dtype = np.float32 if name.endswith("32") else np.float64
    x = spread(low, high, dtype)
    exact = wanted(x.astype(np.longdouble))
    got = applied(getattr(elementary, name), x)
    wrong = np.abs(got - exact) / np.spacing(np.abs(exact).astype(dtype))
    if name == "log32":  # near 1 the result is near 0: measured against the argument's spacing
        wrong = np.minimum(wrong, np.abs(got - exact) / np.finfo(dtype).eps)
    assert float(wrong.max()) <= most


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_ends_of_exp(dtype):
    exp = elementary.exp32 if dtype is np.float32 else elementary.exp64
    x = np.array([0.0, -np.inf, np.inf, -1e4, 1e4], dtype)
    assert applied(exp, x).tolist() == [1.0, 0.0, np.inf, 0.0, np.inf]


def test_the_ends_of_log_and_tanh():
    x = np.array([0.0, 1.0, np.inf, -1.0], np.float32)
    got = applied(elementary.log32, x)
    assert got[:3].tolist() == [-np.inf, 0.0, np.inf]
    assert np.isnan(got[3])
    for tanh, dtype in ((elementary.tanh32, np.float32), (elementary.tanh64, np.float64)):
        ends = np.array([0.0, -np.inf, np.inf, 1e-30], dtype)
        assert applied(tanh, ends)[:3].tolist() == [0.0, -1.0, 1.0]
        assert applied(tanh, ends)[3] == pytest.approx(1e-30)

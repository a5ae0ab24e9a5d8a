import numpy as np
import pytest

from regard.regression.sums.line import arrange
from regard.regression.sums.order_loops import place

rng = np.random.default_rng(0)
POINTS = {
    "uniform": rng.uniform(-1, 1, 5000),
    "few": rng.uniform(-1, 1, 5),
    "turned": -np.sort(rng.uniform(-1, 1, 5000)),
    "ties": rng.integers(0, 7, 5000) * 1.0,
    "tails": rng.standard_cauchy(5000) ** 3,
    "crowd": np.r_[1e30, rng.uniform(-1, 1, 5000)],  # too close for the packed place: numpy's sort
    "pairs": np.r_[0.0, 1.0, rng.permutation(5000) // 2 * 1e-15],  # mended by insertion
    "tiny": rng.integers(0, 9, 5000) * 5e-324,
    "huge": rng.choice([-1.7e308, 1.7e308, 0.0], 5000),
}


@pytest.mark.parametrize("name", POINTS)
def test_arrange(name):
    x = POINTS[name]
    before = x.copy()
    out, order = arrange(x)
    assert np.array_equal(out, np.sort(x))
    assert np.array_equal(x[order], out)
    assert np.array_equal(np.sort(order), np.arange(x.size))
    assert np.array_equal(x, before)


def test_in_order_nothing_moves():
    x = np.array([0.0, 0.0, 1.0, 5.0])
    out, order = arrange(x)
    assert out is x
    assert order is None
    assert arrange(np.empty(0))[1] is None


@pytest.mark.parametrize("closed", [False, True])
def test_place_is_where_numpy_puts_it(closed):
    x = np.sort(rng.integers(0, 500, 1000)) * 1.0
    q = np.sort(np.r_[rng.integers(-5, 505, 300), rng.uniform(-5, 505, 300), 1e9])
    out = np.empty(q.size, np.int64)
    place(0, 1, 64, x, q, 2.0, 1.0, closed, out)
    assert np.array_equal(out, np.searchsorted(x, q + 2, side="left" if closed else "right"))

import numpy as np

from regard.regression.kernels import KERNELS
from regard.regression.nearby import lie, nearby


def test_shares_by_their_definition():
    rng = np.random.default_rng(0)
    x, weight, width = rng.normal(size=(30, 2)), rng.uniform(0.5, 2, 30), np.array([0.7, 1.3])
    near = nearby(x, weight, width, KERNELS["gaussian"], x[:4], np.arange(4))
    k = np.exp(-np.square((x[:4, None] - x) / width).sum(-1) / 2) * weight
    k[np.arange(4), np.arange(4)] = 0
    np.testing.assert_allclose(near.share, k / k.sum(1, keepdims=True), atol=1e-15)
    np.testing.assert_allclose(near.log_mass, np.log(k.sum(1)))


def test_nobody_in_reach():
    near = nearby(np.zeros((3, 1)), np.ones(3), np.ones(1), KERNELS["boxcar"], np.array([[5.0]]))
    assert not near.share.any()
    assert near.log_mass[0] == -np.inf
    assert np.isfinite(lie(near).inverse).all()


def test_points_on_a_line_have_no_spread_across_it():
    rng, along = np.random.default_rng(0), np.array([0.3, 0.7])
    x = rng.normal(size=(9, 1)) * along + 1 / 3  # but for what rounding puts them aside
    near = nearby(x, np.ones(9), np.ones(2), KERNELS["gaussian"], np.array([[0.5, 0.5]]))
    _, apart, inverse = lie(near)
    np.testing.assert_allclose(near.share[0] @ apart[0], 0, atol=1e-12)
    step = near.share[0] @ np.square(apart[0] @ along / (along @ along))
    wanted = np.outer(along, along) / (step * (along @ along) ** 2)
    np.testing.assert_allclose(inverse[0], wanted, rtol=1e-9)

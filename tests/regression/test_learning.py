"""Widths learned by the gradient through ``attend``."""

import numpy as np
import pytest
import torch

from regard.errors import ValueRangeError
from regard.regression import NadarayaWatson
from regard.regression.kernels import KERNELS
from regard.regression.learning import learn, score_of
from regard.regression.plain import ones
from regard.regression.smoother import Smoother
from tests.regression.data import NAMES, curve


@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_is_a_score(name):
    u = np.linspace(-1.7, 1.71, 36)  # not on the edge
    q, k = torch.from_numpy(u[:, None]), torch.zeros(1, 1, dtype=torch.float64)
    found = score_of(name, torch.tensor([0.8], dtype=torch.float64)).pairwise(q, k)
    with np.errstate(divide="ignore"):
        wanted = KERNELS[name].log_k(u / 0.8)
    np.testing.assert_allclose(found.numpy()[:, 0], wanted, atol=1e-12)


def test_a_function_is_no_score():
    with pytest.raises(ValueRangeError, match="knows the kernels by name, not 'custom'"):
        score_of("custom", torch.ones(1))
    with pytest.raises(ValueRangeError, match="is for degree 0"):
        NadarayaWatson(bandwidth="learn", degree=1).fit(*curve(20))


def test_scores_and_slopes_are_those_of_the_sums():
    x, y = curve(80)
    data = Smoother(x - x.mean(), (y - y.mean())[:, None], ones(80), KERNELS["gaussian"])
    path = learn(data, np.array([0.5]), 0.01, 10.0, 5, per_feature=False)
    for tried in path.tried:
        exact = data.loo(tried.width)
        assert tried.score == pytest.approx(exact.score, rel=1e-7)
        assert tried.slope == pytest.approx(exact.slope, rel=1e-5, abs=1e-8)
    assert not path.on_edge


def test_widths_of_their_own():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 5, (80, 2))
    y = np.sin(2 * x[:, 0]) + rng.normal(0, 0.1, 80)
    width = NadarayaWatson(bandwidth="learn", per_feature=True).fit(x, y).bandwidth_
    assert width[1] > 3 * width[0]

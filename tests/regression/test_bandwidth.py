"""Widths: rules of thumb, and searches that end where the score is least."""

import numpy as np
import pytest

from regard.regression import NadarayaWatson
from regard.regression.bandwidth import Path, Scored, rule_of_thumb, search, search_each
from tests.regression.data import NAMES, by_hand, curve


def loo_by_hand(x, y, width, name):
    found = by_hand(x, y, width, name, x, leave_out=True)
    n = len(y)
    mean = (y.sum() - y) / (n - 1)
    return np.square(np.where(np.isfinite(found), found, mean) - y).mean()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 2])
def test_the_leave_one_out_score_and_its_gradient(name, d):
    x, y = curve(100, d)
    model = NadarayaWatson(name, bandwidth=1.0).fit(x, y)
    width = np.array([0.83, 1.31])[:d]
    score, slope = model.loo_score(width, return_gradient=True)
    assert score == pytest.approx(loo_by_hand(x, y, width, name), rel=1e-8)
    assert slope.shape == (d,)
    step = 1e-6
    for i in range(d):
        if name == "boxcar":
            continue  # its score is made of steps
        up, down = width.copy(), width.copy()
        up[i] *= np.exp(step)
        down[i] *= np.exp(-step)
        wanted = (loo_by_hand(x, y, up, name) - loo_by_hand(x, y, down, name)) / (2 * step)
        assert slope[i] == pytest.approx(wanted, abs=2e-5), i


@pytest.mark.parametrize("name", ["gaussian", "laplace", "tricube", "matern52"])
def test_no_width_on_a_fine_grid_is_better(name):
    x, y = curve(150)
    model = NadarayaWatson(name).fit(x, y)
    fine = np.geomspace(0.02, 20, 300)
    least = min(model.loo_score(w) for w in fine)
    assert model.loo_score_ <= least * (1 + 1e-6)
    assert model.n_iter_ == len(model.bandwidth_path_["score"]) < 120
    assert model.bandwidth_path_["score"].min() == pytest.approx(model.loo_score_)
    assert not model.bandwidth_on_edge_


def test_the_deeper_of_two_valleys():
    """A fine ripple on a slow wave, with little noise: a narrow width and a wide one both do."""

    def score(width):
        s = np.log(width[0])
        value = -np.exp(-((s + 3) ** 2)) - 0.8 * np.exp(-((s - 2) ** 2))
        slope = 2 * (s + 3) * np.exp(-((s + 3) ** 2)) + 1.6 * (s - 2) * np.exp(-((s - 2) ** 2))
        return Scored(width, value, np.array([slope]))

    path = search(score, np.ones(1), 1e-3, 1e3, 100)
    assert np.log(path.best.width[0]) == pytest.approx(-3, abs=1e-4)
    assert not path.on_edge


def test_a_best_at_the_edge_is_told():
    path = search(lambda w: Scored(w, float(w[0]), w.copy()), np.ones(1), 0.1, 10.0, 20)
    assert path.on_edge
    assert path.best.width[0] == pytest.approx(0.1)
    x = np.linspace(0, 1, 50)[:, None]
    noise = np.random.default_rng(0).normal(size=50)  # nothing to be told: the mean is best
    model = NadarayaWatson(bandwidth_bounds=(0.5, 3.0)).fit(x, noise)
    assert model.bandwidth_on_edge_


def test_a_score_without_slopes_is_narrowed_down():
    def score(width):
        return Scored(width, round(abs(float(np.log(width[0])) - 0.7), 2), np.zeros(1))

    path = search(score, np.ones(1), 1e-3, 1e3, 100)
    assert np.log(path.best.width[0]) == pytest.approx(0.7, abs=0.02)


def test_a_width_for_each_feature_finds_the_one_that_tells_nothing():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 5, (200, 2))
    y = np.sin(2 * x[:, 0]) + rng.normal(0, 0.1, 200)
    together = NadarayaWatson().fit(x, y)
    each = NadarayaWatson(per_feature=True).fit(x, y)
    assert each.loo_score_ < 0.7 * together.loo_score_
    assert each.bandwidth_[1] > 10 * each.bandwidth_[0]
    assert not each.bandwidth_on_edge_ or each.bandwidth_[1] > 100 * each.bandwidth_[0]
    alone = NadarayaWatson().fit(x[:, :1], y)  # what tells nothing does no harm
    assert each.loo_score_ < 1.02 * alone.loo_score_


def test_search_each_ends_at_the_bottom_of_a_bowl():
    goal = np.array([0.3, -1.2])

    def score(width):
        away = np.log(width) - goal
        return Scored(width, float(away @ away), 2 * away)

    path = search_each(score, np.ones(2), np.full(2, 1e-3), np.full(2, 1e3), 100)
    np.testing.assert_allclose(np.log(path.best.width), goal, atol=1e-5)


@pytest.mark.parametrize("bandwidth", ["aicc", "learn"])
def test_other_criteria_come_near(bandwidth):
    x, y = curve(200)
    loo = NadarayaWatson().fit(x, y)
    other = NadarayaWatson(bandwidth=bandwidth).fit(x, y)
    assert 0.7 < other.bandwidth_[0] / loo.bandwidth_[0] < 1.4
    if bandwidth == "learn":
        np.testing.assert_allclose(other.bandwidth_, loo.bandwidth_, rtol=1e-4)


def test_aicc_by_its_formula():
    x, y = curve(60)
    for degree in (0, 1):
        model = NadarayaWatson(bandwidth=0.6, degree=degree).fit(x, y)
        hat = model.weights(x)
        error, dof = np.square(hat @ y - y).mean(), np.trace(hat)
        wanted = np.log(error) + 1 + 2 * (dof + 1) / (60 - dof - 2)
        found = model._smoother.aicc(np.array([0.6]))
        assert found.score == pytest.approx(wanted, rel=1e-9)
        assert model.effective_dof_ == pytest.approx(dof, rel=1e-9)
        step = 1e-5
        up, down = (model._smoother.aicc(np.array([0.6 * np.exp(s)])).score for s in (step, -step))
        assert found.slope[0] == pytest.approx((up - down) / (2 * step), abs=1e-4)


def test_rules_of_thumb():
    x = np.random.default_rng(0).normal(0, 3.0, (1000, 1))
    ones = np.ones(1000)
    assert rule_of_thumb(x, ones, 1000)[0] == pytest.approx(1.06 * x.std() * 1000**-0.2)
    spread = min(x.std(), np.subtract(*np.percentile(x, [75, 25])) / 1.34)
    found = rule_of_thumb(x, ones, 1000, "silverman")[0]
    assert found == pytest.approx(0.9 * spread * 1000**-0.2, rel=0.01)
    assert rule_of_thumb(np.zeros((5, 1)), np.ones(5), 5)[0] == 1.0
    plain = NadarayaWatson(bandwidth="scott").fit(x, x[:, 0]).bandwidth_
    heavy = NadarayaWatson(bandwidth="scott").fit(x, x[:, 0], sample_weight=5 * ones).bandwidth_
    np.testing.assert_allclose(plain, heavy)
    wider = NadarayaWatson("epanechnikov", bandwidth="scott").fit(x, x[:, 0]).bandwidth_
    assert 2.1 < (wider / plain)[0] < 2.3  # its edge is at sqrt(5) sd, as much smoothing at 2.2


def test_the_best_of_equals_is_the_widest():
    tried = [Scored(np.array([w]), s, np.zeros(1)) for w, s in ((1, 2.0), (3, 1.0), (2, 1.0))]
    tried.append(Scored(np.array([9.0]), float("nan"), np.zeros(1)))
    assert Path(tried).best.width[0] == 3


def test_several_outputs_are_counted_in_their_own_units():
    """One fine, one coarse: in which units each was measured must not decide between them."""
    x, _ = curve(150)
    y = np.column_stack((np.sin(8 * x[:, 0]), np.random.default_rng(0).normal(size=150)))
    plain = NadarayaWatson().fit(x, y)
    for units in ([1e3, 1.0], [1.0, 1e3]):
        other = NadarayaWatson().fit(x, y * units)
        np.testing.assert_allclose(other.bandwidth_, plain.bandwidth_, rtol=1e-5)
    score = plain.bandwidth_path_["score"].min()
    told = plain.loo_predict()
    assert score == pytest.approx((np.square(told - y).mean(0) / y.var(0)).mean(), rel=1e-6)
    assert plain.loo_score_ == pytest.approx(np.square(told - y).mean(), rel=1e-6)


def test_a_search_ends_when_nothing_is_left_to_gain():
    x, y = curve(100)
    model = NadarayaWatson().fit(x, y)
    best = min(model.loo_score(model.bandwidth_ * (1 + s)) for s in np.linspace(-1e-4, 1e-4, 41))
    assert model.loo_score_ <= best * (1 + 1e-13)
    assert model.n_iter_ < 22


def test_a_search_of_many_points_is_that_of_their_definition():
    """Sorted, without weights, on several threads: as the sums themselves say."""
    x, y = curve(20_000)
    model = NadarayaWatson().fit(x, y)
    for width, score in zip(*model.bandwidth_path_.values(), strict=True):
        told = model._smoother.at(model._smoother.x, width, leave_out=True).values
        assert np.square(told - model._smoother.y).mean() == pytest.approx(score, rel=1e-9)
    np.testing.assert_allclose(model.places_, x)  # searched in another order, kept in this

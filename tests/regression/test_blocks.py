"""Data in blocks of Dask: the same numbers, wherever they lie."""

import numpy as np
import pytest

from regard.errors import ImplError, ShapeError, ValueRangeError
from regard.regression import NadarayaWatson
from regard.regression.blocks import is_dask, merge
from regard.regression.kernels import KERNELS
from regard.regression.sums.direct import Direct
from tests.regression.data import curve

da = pytest.importorskip("dask.array", reason="dask is not installed")


def blocks(x, y, size=70):
    return da.from_array(x, chunks=(size, 1)), da.from_array(y, chunks=size)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="dask's cluster is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=False
        ) as found,
        distributed.Client(found) as client,
    ):
        yield client


@pytest.mark.parametrize("name", ["gaussian", "laplace", "epanechnikov"])
@pytest.mark.parametrize("d", [1, 2])
def test_blocks_and_one_memory_agree(name, d):
    x, y = curve(200, d)
    q = np.concatenate((curve(30, d, seed=1)[0], np.full((1, d), 1e6)))
    here = NadarayaWatson(name, bandwidth=0.7).fit(x, y)
    there = NadarayaWatson(name, bandwidth=0.7).fit(*blocks(x, y))
    np.testing.assert_allclose(there.predict(q), here.predict(q), atol=1e-8)
    np.testing.assert_allclose(there.density(q[:-1]), here.density(q[:-1]), atol=1e-7)
    np.testing.assert_allclose(there.gradient(q[:-1]), here.gradient(q[:-1]), atol=1e-7)
    score, slope = there.loo_score(0.7, return_gradient=True)
    wanted = here.loo_score(0.7, return_gradient=True)
    assert score == pytest.approx(wanted[0], rel=1e-8)
    np.testing.assert_allclose(slope, wanted[1], atol=1e-7)


def test_the_width_is_chosen_from_all_blocks():
    x, y = curve(200)
    for bandwidth in ("loo", "scott"):
        here = NadarayaWatson(bandwidth=bandwidth).fit(x, y)
        there = NadarayaWatson(bandwidth=bandwidth).fit(*blocks(x, y))
        np.testing.assert_allclose(there.bandwidth_, here.bandwidth_, rtol=1e-5)


def test_lines_weights_and_outputs_in_blocks():
    x, y = curve(150, outputs=2)
    weight = np.random.default_rng(0).uniform(0, 1, 150)
    weight[:75] = 0  # a whole block that weighs nothing
    here = NadarayaWatson(bandwidth=0.8, degree=1).fit(x, y, sample_weight=weight)
    bx, by = da.from_array(x, chunks=(75, 1)), da.from_array(y, chunks=(50, 1))
    there = NadarayaWatson(bandwidth=0.8, degree=1).fit(
        bx, by, sample_weight=da.from_array(weight, chunks=30)
    )
    np.testing.assert_allclose(there.predict(x), here.predict(x), atol=1e-8)
    score, slope = (m.loo_score(0.8, return_gradient=True) for m in (there, here))
    assert score[0] == pytest.approx(slope[0], rel=1e-8)
    np.testing.assert_allclose(score[1], slope[1], atol=1e-5)


def test_queries_in_blocks_give_an_array_of_blocks():
    x, y = curve(150)
    q = curve(40, seed=1)[0]
    lazy = da.from_array(q, chunks=(15, 1))
    for model in (
        NadarayaWatson(bandwidth=0.5).fit(x, y),
        NadarayaWatson(bandwidth=0.5).fit(*blocks(x, y)),
    ):
        found = model.predict(lazy)
        assert is_dask(found)
        assert found.chunks == ((15, 15, 10),)
        np.testing.assert_allclose(found.compute(), model.predict(q), atol=1e-10)


def test_holes_are_filled_from_the_nearest_block():
    x = np.array([[0.0], [1.0], [10.0], [11.0]])
    y = np.array([1.0, 2.0, 6.0, 7.0])
    model = NadarayaWatson("boxcar", bandwidth=0.5).fit(*blocks(x, y, 2))
    np.testing.assert_allclose(model.predict([[4.0], [8.0]]), [2.0, 6.0])


def test_on_a_cluster_of_two_workers(cluster):
    x, y = curve(300)
    q = np.linspace(0, 5, 50)[:, None]
    here = NadarayaWatson().fit(x, y)
    there = NadarayaWatson().fit(*blocks(x, y, 100))
    assert len(cluster.scheduler_info()["workers"]) == 2
    np.testing.assert_allclose(there.bandwidth_, here.bandwidth_, rtol=1e-5)
    np.testing.assert_allclose(there.predict(q), here.predict(q), atol=1e-6)


def test_merging_is_summing_over_both():
    x, y = curve(50)
    columns = np.column_stack((np.ones(50), y))
    q = np.array([[0.5], [40.0], [-1e5]])
    kernel, width = KERNELS["gaussian"], np.array([0.3])
    kinds = ("k", "udk")

    def found(part):
        return Direct(x[part], columns[part], width, 0.0, kernel).at(q, kinds)

    whole, parts = found(slice(None)), merge(found(slice(0, 20)), found(slice(20, 50)))
    for kind in kinds:
        for got, wanted in ((parts, whole),):
            factor = np.exp(got.log_scale - wanted.log_scale)
            shaped = factor.reshape(-1, *(1,) * (got.sums[kind].ndim - 1))
            np.testing.assert_allclose(got.sums[kind] * shaped, wanted.sums[kind], rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"bandwidth": "aicc"}, ImplError, "bandwidth='aicc' needs the data in one memory"),
        ({"bandwidth": "silverman"}, ImplError, "there are 'loo', 'scott' or a number"),
    ],
)
def test_what_blocks_cannot_do(settings, error, message):
    with pytest.raises(error, match=message):
        NadarayaWatson(**settings).fit(*blocks(*curve(30)))


def test_other_refusals():
    x, y = curve(30)
    model = NadarayaWatson(bandwidth=0.5).fit(*blocks(x, y))
    with pytest.raises(ImplError, match="return_std needs the data in one memory"):
        model.predict(x, return_std=True)
    with pytest.raises(ImplError, match="weights needs the data in one memory"):
        model.weights(x)
    with pytest.raises(ShapeError, match="equally many rows, got 30 and 29"):
        NadarayaWatson(bandwidth=0.5).fit(da.from_array(x), da.from_array(y[1:]))
    y[3] = np.nan
    with pytest.raises(ValueRangeError, match="X and y must be finite"):
        NadarayaWatson(bandwidth=0.5).fit(*blocks(x, y))


def test_units_and_offsets_do_not_matter():
    x, y = curve(200, outputs=2)
    here = NadarayaWatson().fit(x, y)
    far = x + 1e9, y * [1.0, 1e4] - 1e7
    there = NadarayaWatson().fit(*(da.from_array(a, chunks=(70, 1)) for a in far))
    np.testing.assert_allclose(there.bandwidth_, here.bandwidth_, rtol=1e-3)
    with pytest.raises(ImplError, match="loo_predict needs the data in one memory"):
        there.loo_predict()

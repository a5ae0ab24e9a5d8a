"""The estimator: what it predicts, its manners, and every odd thing that may be given to it."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from regard.errors import ImplError, KindError, ShapeError, ValueRangeError
from regard.regression import NadarayaWatson
from regard.regression.kernels import KERNELS
from tests.regression.data import COMPACT, NAMES, by_hand, curve, hill


@parametrize_with_checks(
    [
        NadarayaWatson(),
        NadarayaWatson("epanechnikov", bandwidth="scott"),
        NadarayaWatson("laplace", bandwidth="aicc", max_iter=5),
        NadarayaWatson(degree=1, bandwidth=0.7),
        NadarayaWatson(bandwidth="learn", max_iter=5),
    ]
)
def test_the_manners_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 2, 4])
def test_predictions_are_the_weighted_average(name, d):
    x, y = curve(150, d)
    width = np.full(d, 0.9 if d == 1 else 2.0) * (1 + 0.2 * np.arange(d))
    q = curve(40, d, seed=1)[0]
    model = NadarayaWatson(name, bandwidth=width).fit(x, y)
    wanted = by_hand(x, y, width, name, q)
    found = model.predict(q)
    seen = np.isfinite(wanted)
    assert seen.mean() > 0.5
    np.testing.assert_allclose(found[seen], wanted[seen], rtol=0, atol=1e-8)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("name", ["gaussian", "epanechnikov", "matern32"])
def test_several_outputs_and_weights(name):
    x, y = curve(150, outputs=3)
    weight = np.random.default_rng(2).uniform(0, 2, 150)
    weight[::7] = 0
    model = NadarayaWatson(name, bandwidth=0.6).fit(x, y, sample_weight=weight)
    wanted = by_hand(x, y, 0.6, name, x, weight)
    np.testing.assert_allclose(model.predict(x), wanted, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_far_away_the_nearest_point_is_predicted(name):
    x, y = curve(100)
    model = NadarayaWatson(name, bandwidth=0.2).fit(x, y)
    far = np.array([[-1e9], [-50.0], [60.0], [1e12]])
    wanted = np.array([y[x[:, 0].argmin()]] * 2 + [y[x[:, 0].argmax()]] * 2)
    if name in ("laplace", "matern32", "matern52"):  # whose weights keep their ratio far away
        ends = by_hand(x, y, 0.2, "laplace", np.array([[-1e3], [1e3]])).repeat(2)
        wanted = ends if name == "laplace" else model.predict(np.array([[-1e5]] * 2 + [[1e5]] * 2))
    np.testing.assert_allclose(model.predict(far), wanted, rtol=1e-2)
    plane, z = curve(100, 2)
    model = NadarayaWatson(name, bandwidth=0.2).fit(plane, z)
    far = np.array([[1e6, 1e6 + 1.0], [2.5, -300.0]])
    which = [np.square(plane - q).sum(1).argmin() for q in far]
    if name not in ("laplace", "matern32", "matern52"):  # a product's level lines are no circles
        np.testing.assert_allclose(model.predict(far), z[which], rtol=1e-5)
    assert np.isfinite(model.predict(far)).all()


@pytest.mark.parametrize("algorithm", ["fast", "brute"])
def test_an_offset_loses_no_digits(algorithm):
    x, y = curve(200)
    q = np.linspace(0, 5, 30)[:, None]
    options = {"bandwidth": 0.3, "algorithm": algorithm}
    here = NadarayaWatson(**options).fit(x, y).predict(q)
    # powers of two move a number without rounding it, as far as its digits reach
    there = NadarayaWatson(**options).fit(x.astype(np.float32) + 2**20, y)
    moved = there.predict((q + 2**20).astype(np.float64))
    np.testing.assert_allclose(moved, here, atol=0.2)
    exact = NadarayaWatson(**options).fit(x + 1e6, y + 1e6).predict(q + 1e6)
    np.testing.assert_allclose(exact - 1e6, here, atol=1e-6)


def test_float32_stays_float32_and_is_computed_in_float64():
    x, y = curve(200)
    narrow = x.astype(np.float32), y.astype(np.float32)
    model = NadarayaWatson(bandwidth=0.3).fit(*narrow)
    found = model.predict(narrow[0])
    assert found.dtype == np.float32
    wide = NadarayaWatson(bandwidth=0.3).fit(*(a.astype(np.float64) for a in narrow))
    np.testing.assert_array_equal(found, wide.predict(narrow[0].astype(np.float64)).astype("f4"))
    assert NadarayaWatson(bandwidth=0.3, dtype="f8").fit(*narrow).predict(narrow[0]).dtype == "f8"
    for method in ("gradient", "density", "predict_interval"):
        assert getattr(model, method)(narrow[0]).dtype == np.float32


@pytest.mark.parametrize("name", ["gaussian", "laplace", "tricube"])
def test_weights_times_values_are_predictions(name):
    x, y = curve(90)
    q = curve(20, seed=3)[0]
    for degree in (0, 1):
        model = NadarayaWatson(name, bandwidth=1.1, degree=degree).fit(x, y)
        weights = model.weights(q)
        assert weights.shape == (20, 90)
        assert sparse.issparse(weights) == (name == "tricube")
        np.testing.assert_allclose(weights @ y, model.predict(q), atol=1e-8)
        np.testing.assert_allclose(np.asarray(weights.sum(1)).ravel(), 1, atol=1e-12)
        np.testing.assert_array_equal(model.places_.round(12), x.round(12))


def test_a_line_is_predicted_by_lines_and_bent_by_averages():
    x = np.linspace(0, 1, 40)[:, None]
    y = 3 * x[:, 0] + 1
    flat = NadarayaWatson(bandwidth=0.2).fit(x, y)
    line = NadarayaWatson(bandwidth=0.2, degree=1).fit(x, y)
    assert abs(flat.predict([[0.0]])[0] - 1) > 0.3
    np.testing.assert_allclose(line.predict(x), y, atol=1e-7)
    plane = np.random.default_rng(0).uniform(size=(60, 2))
    z = plane @ [2.0, -1.0]
    tilted = NadarayaWatson(bandwidth=0.3, degree=1).fit(plane, z)
    np.testing.assert_allclose(tilted.predict(plane), z, atol=1e-9)
    np.testing.assert_allclose(tilted.gradient(plane[:5]), [[2.0, -1.0]] * 5, atol=1e-4)


@pytest.mark.parametrize("name", ["gaussian", "matern52", "biweight"])
@pytest.mark.parametrize("d", [1, 2])
def test_gradient(name, d):
    x, y = curve(200, d)
    model = NadarayaWatson(name, bandwidth=1.3).fit(x, y)
    q = np.random.default_rng(1).uniform(1, 4, (10, d))
    step = 1e-5
    for i in range(d):
        aside = np.eye(d)[i] * step
        wanted = (model.predict(q + aside) - model.predict(q - aside)) / (2 * step)
        np.testing.assert_allclose(model.gradient(q)[:, i], wanted, atol=2e-4)


def test_the_band_holds_the_truth_about_as_often_as_it_says():
    rng, hits = np.random.default_rng(0), []
    q = np.linspace(1, 4, 25)[:, None]
    for _ in range(40):
        x = rng.uniform(0, 5, (300, 1))
        y = np.sin(x[:, 0]) + rng.normal(0, 0.3, 300)
        band = NadarayaWatson(bandwidth=0.15).fit(x, y).predict_interval(q)
        hits.append((band[:, 0] < np.sin(q[:, 0])) & (np.sin(q[:, 0]) < band[:, 1]))
    assert 0.9 < np.mean(hits) < 0.98


@pytest.mark.parametrize("name", NAMES)
def test_the_standard_error_by_its_definition(name):
    x, y = curve(80)
    model = NadarayaWatson(name, bandwidth=0.9).fit(x, y)
    q = np.array([[1.0], [2.2], [4.4]])
    found, error = model.predict(q, return_std=True)
    out = by_hand(x, y, 0.9, name, x, leave_out=True)
    variance = by_hand(x, np.square(out - y), 0.9, name, q)
    k = KERNELS[name].k((q - x[:, 0]) / 0.9)
    wanted = np.sqrt(variance * np.square(k).sum(1)) / k.sum(1)
    np.testing.assert_allclose(error, wanted, rtol=1e-6)
    np.testing.assert_allclose(found, model.predict(q))


@pytest.mark.parametrize("name", ["gaussian", "tricube"])
@pytest.mark.parametrize("d", [1, 2])
def test_the_standard_error_of_lines(name, d):
    x, y = curve(80, d)
    model = NadarayaWatson(name, bandwidth=2.5, degree=1).fit(x, y)
    q = np.random.default_rng(1).uniform(0, 5, (6, d))
    _, error = model.predict(q, return_std=True)
    rows = model.weights(q)
    rows = rows.toarray() if sparse.issparse(rows) else rows
    k = KERNELS[name].k((q[:, None] - x) / 2.5).prod(-1)
    data = model._smoother
    out = data.at(data.x, model.bandwidth_, leave_out=True).values[:, 0] - data.y[:, 0]
    variance = k @ np.square(out) / k.sum(1)
    np.testing.assert_allclose(error, np.sqrt(variance * np.square(rows).sum(1)), rtol=1e-5)


def test_density_integrates_to_one():
    x, y = curve(60)
    q = np.linspace(-10, 15, 4001)[:, None]
    for name in NAMES:
        model = NadarayaWatson(name, bandwidth=0.5).fit(x, y)
        whole = np.exp(model.density(q)).sum() * (q[1, 0] - q[0, 0])
        assert whole == pytest.approx(1, abs=2e-3), name
    assert NadarayaWatson(bandwidth=0.5).fit(x, y).density([[1e3]])[0] < -1e5


def test_weights_count_as_repetitions_in_everything_chosen_from_the_data():
    x, y = curve(40)
    times = np.random.default_rng(0).integers(0, 4, 40)
    for bandwidth in ("loo", "learn"):
        weighted = NadarayaWatson(bandwidth=bandwidth).fit(x, y, sample_weight=times)
        repeated = NadarayaWatson(bandwidth=bandwidth).fit(x.repeat(times, 0), y.repeat(times))
        np.testing.assert_allclose(weighted.bandwidth_, repeated.bandwidth_, rtol=1e-5)
        np.testing.assert_allclose(weighted.predict(x), repeated.predict(x), atol=1e-5)


def test_repeated_places_do_not_drive_the_width_to_nothing():
    x, y = curve(60)
    x, y = x.repeat(3, 0), y.repeat(3)
    model = NadarayaWatson().fit(x, y)
    once = NadarayaWatson().fit(x[::3], y[::3])
    np.testing.assert_allclose(model.bandwidth_, once.bandwidth_, rtol=1e-6)
    assert len(model.places_) == 60


def test_what_is_kept_of_the_data_can_be_read():
    x, y = np.array([[3.0], [0.0], [3.0], [1.0]]), np.array([1.0, 5.0, 2.0, 7.0])
    model = NadarayaWatson().fit(x, y)
    kept = zip(model.places_[:, 0], model.values_, model.counts_, strict=True)
    np.testing.assert_allclose(sorted(kept), [(0, 5, 1), (1, 7, 1), (3, 1.5, 2)])
    as_given = NadarayaWatson(bandwidth=1.0).fit(x, np.stack([y, -y], 1), [1, 2, 0, 3])
    np.testing.assert_allclose(as_given.values_, [[1, -1], [5, -5], [7, -7]])
    assert as_given.counts_.tolist() == [1, 2, 3]


@pytest.mark.parametrize("empty", ["nearest", "mean", "nan", "raise"])
def test_where_no_data_are_in_reach(empty):
    x, y = np.array([[0.0], [1.0], [10.0]]), np.array([1.0, 2.0, 6.0])
    model = NadarayaWatson("boxcar", bandwidth=1.5, empty=empty).fit(x, y)
    q = np.array([[0.5], [4.0], [8.0]])
    if empty == "raise":
        with pytest.raises(ValueRangeError) as raised:
            model.predict(q)
        assert str(raised.value) == (
            "2 of 3 queries have no data in reach of the kernel; use a wider bandwidth, or "
            "empty='nearest', 'mean' or 'nan'"
        )
        return
    if empty == "nan":
        with pytest.warns(RuntimeWarning, match="2 of 3 queries have no data in reach"):
            found = model.predict(q)
        np.testing.assert_array_equal(found, [1.5, np.nan, np.nan])
        return
    wanted = {"nearest": [1.5, 2.0, 6.0], "mean": [1.5, 3.0, 3.0]}[empty]
    np.testing.assert_allclose(model.predict(q), wanted)


def test_odd_data_have_a_defined_answer():
    one = NadarayaWatson().fit([[3.0]], [7.0])
    np.testing.assert_allclose(one.predict([[3.0], [-100.0]]), [7.0, 7.0])
    x, y = curve(50)
    constant = np.column_stack((x[:, 0], np.full(50, 4.0)))
    for bandwidth in ("loo", "scott", "silverman", "aicc"):
        model = NadarayaWatson(bandwidth=bandwidth).fit(constant, y)
        assert (model.bandwidth_ > 0).all()
        assert np.isfinite(model.predict(constant)).all()
    same = NadarayaWatson().fit(np.ones((5, 1)), np.arange(5.0))
    np.testing.assert_allclose(same.predict([[1.0], [9.0]]), [2.0, 2.0])
    level = NadarayaWatson().fit(x, np.full(50, 2.5))
    np.testing.assert_allclose(level.predict(x), 2.5)
    assert NadarayaWatson(bandwidth=0.5).fit(x, y).predict(np.zeros((0, 1))).shape == (0,)


@pytest.mark.parametrize("name", NAMES)
def test_absurd_widths(name):
    x, y = curve(50)
    wide = NadarayaWatson(name, bandwidth=1e12).fit(x, y).predict(x)
    np.testing.assert_allclose(wide, y.mean(), atol=1e-6)
    endless = NadarayaWatson(name, bandwidth=np.inf).fit(x, y).predict(x)
    np.testing.assert_allclose(endless, y.mean(), atol=1e-12)
    narrow = NadarayaWatson(name, bandwidth=1e-12).fit(x, y).predict(x)
    np.testing.assert_allclose(narrow, y, atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"bandwidth": -1}, ValueRangeError, "bandwidth must be above 0, got -1"),
        ({"bandwidth": 0.0}, ValueRangeError, "bandwidth must be above 0, got 0.0"),
        ({"bandwidth": np.nan}, ValueRangeError, "bandwidth must be above 0, got nan"),
        (
            {"bandwidth": [1.0, 2.0]},
            ShapeError,
            "bandwidth must be a number or one for each of 1 features, got shape (2,)",
        ),
        (
            {"bandwidth": "wide"},
            ValueRangeError,
            "bandwidth must be a number, one a feature, or one of 'scott', 'silverman', 'loo', "
            "'aicc', 'learn'; got 'wide'",
        ),
        (
            {"bandwidth": {}},
            KindError,
            "bandwidth must be a number or one a feature, got {}",
        ),
        (
            {"kernel": "gauss"},
            ValueRangeError,
            f"kernel must be one of {', '.join(map(repr, KERNELS))}, or a function of u; "
            "got 'gauss'",
        ),
        ({"degree": 2}, ValueRangeError, "degree must be one of 0, 1; got 2"),
        ({"tol": 0}, ValueRangeError, "tol must be above 0 and below 1, got 0"),
        (
            {"algorithm": "quick"},
            ValueRangeError,
            "algorithm must be one of 'auto', 'fast', 'window', 'brute'; got 'quick'",
        ),
        (
            {"algorithm": "window"},
            ImplError,
            "algorithm='window' cannot sum the gaussian kernel in 1 features with degree 0: "
            "window is for the kernels with an edge, in 1 feature; use 'auto' or 'brute'",
        ),
        (
            {"empty": "zero"},
            ValueRangeError,
            "empty must be one of 'nearest', 'nan', 'mean', 'raise'; got 'zero'",
        ),
        (
            {"bandwidth_bounds": (2.0, 1.0)},
            ValueRangeError,
            "bandwidth_bounds must be two numbers, 0 < low < high, got (2.0, 1.0)",
        ),
        (
            {"dtype": int},
            KindError,
            "dtype must be a floating point type or None, got <class 'int'>",
        ),
    ],
)
def test_settings_that_make_no_sense(settings, error, message):
    with pytest.raises(error) as raised:
        NadarayaWatson(**settings).fit(*curve(30))
    assert str(raised.value) == message


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none(bad):
    x, y = curve(20)
    for which in (0, 1):
        data = [x.copy(), y.copy()]
        data[which].flat[3] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            NadarayaWatson().fit(*data)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        NadarayaWatson(bandwidth=1.0).fit(x, y).predict([[bad]])


def test_weights_that_weigh_nothing():
    with pytest.raises(ValueError, match=r"non-zero|above 0"):
        NadarayaWatson().fit(*curve(5), sample_weight=np.zeros(5))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        NadarayaWatson().fit(*curve(5), sample_weight=-np.ones(5))


def test_before_fit_there_is_nothing():
    for method in ("predict", "gradient", "weights", "density"):
        with pytest.raises(NotFittedError):
            getattr(NadarayaWatson(), method)([[0.0]])


def test_in_a_pipeline_a_grid_search_and_a_copy():
    x, y = curve(80, 2)
    pipe = make_pipeline(StandardScaler(), NadarayaWatson(bandwidth=1.0))
    grid = GridSearchCV(pipe, {"nadarayawatson__bandwidth": [0.05, 0.3, 3.0]}, cv=4).fit(x, y)
    assert grid.best_params_["nadarayawatson__bandwidth"] == 0.3
    model = grid.best_estimator_[-1]
    again = pickle.loads(pickle.dumps(model))
    q = np.zeros((1, 2))
    assert again.predict(q) == model.predict(q)
    assert clone(model).bandwidth == 0.3
    own = NadarayaWatson(hill, bandwidth=0.5).fit(x, y)
    assert pickle.loads(pickle.dumps(own)).predict(x[:3]).tolist() == own.predict(x[:3]).tolist()


def test_a_kernel_of_ones_own():
    x, y = curve(70)
    own = NadarayaWatson(lambda u: np.exp(-(u**2) / 2), bandwidth=0.7).fit(x, y)
    known = NadarayaWatson(bandwidth=0.7).fit(x, y)
    assert own.algorithm_ == "brute"
    np.testing.assert_allclose(own.predict(x), known.predict(x), atol=1e-9)
    np.testing.assert_allclose(own.gradient(x[:5]), known.gradient(x[:5]), atol=1e-4)
    np.testing.assert_allclose(own.density(x[:5]), known.density(x[:5]), atol=1e-6)


@pytest.mark.parametrize("name", COMPACT)
def test_a_user_can_ask_what_ran(name):
    x, y = curve(100)
    assert NadarayaWatson(name, bandwidth=0.5).fit(x, y).algorithm_ == "window"
    assert NadarayaWatson(name, bandwidth=0.5, algorithm="brute").fit(x, y).algorithm_ == "brute"
    assert NadarayaWatson(name, bandwidth=0.5).fit(*curve(100, 2)).algorithm_ == "brute"


def test_what_ran_for_the_others():
    for d, wanted in ((1, "fast"), (2, "fast"), (3, "fast"), (4, "brute")):
        assert NadarayaWatson(bandwidth=0.5).fit(*curve(100, d)).algorithm_ == wanted
    for name in ("laplace", "matern32", "matern52"):
        assert NadarayaWatson(name, bandwidth=0.5).fit(*curve(100)).algorithm_ == "fast"
    assert NadarayaWatson(bandwidth=0.5).fit(*curve(20)).algorithm_ == "brute"


def test_on_another_device():
    x, y = curve(100)
    here = NadarayaWatson(bandwidth=0.4).fit(x, y)
    there = NadarayaWatson(bandwidth=0.4, device="cpu:0").fit(x, y)  # as a GPU would
    np.testing.assert_allclose(there.predict(x), here.predict(x), atol=1e-8)
    assert there.algorithm_ == "brute"
    with pytest.raises(ImplError, match="algorithm='fast' runs on the CPU, and device is 'cuda'"):
        NadarayaWatson(bandwidth=0.4, device="cuda", algorithm="fast").fit(x, y)


@pytest.mark.parametrize("n", [100, 40_000])  # one thread, and several
@pytest.mark.parametrize("bandwidth", [0.3, "loo"])
def test_what_is_given_is_neither_changed_nor_kept(n, bandwidth):
    given = *curve(n), np.linspace(-1, 6, n)[:, None]
    x, y, q = (a.copy() for a in given)
    for a in (x, y, q):
        a.flags.writeable = False
    model = NadarayaWatson(bandwidth=bandwidth).fit(*given[:2])
    read_only = NadarayaWatson(bandwidth=bandwidth).fit(x, y).predict(q)
    for a in given[:2]:
        a[:] = 1e3
    np.testing.assert_array_equal(model.predict(given[2]), read_only)
    np.testing.assert_array_equal(given[2], q)


def test_many_queries_of_every_layout_and_distance():
    x, y = curve(30_000)
    model = NadarayaWatson(bandwidth=0.2).fit(x, y)
    q = np.random.default_rng(1).uniform(0, 5, (40_000, 1))
    q[::1000] = np.linspace(-1e9, 1e9, 40)[:, None]
    found = model.predict(q)
    some = np.r_[0:40_000:1000, 1:40_000:5003]
    wanted = by_hand(x, y, 0.2, "gaussian", q[some])
    np.testing.assert_allclose(found[some], wanted, atol=1e-8)
    wide = np.column_stack((q, q))[:, 1:]
    np.testing.assert_array_equal(model.predict(wide), found)
    np.testing.assert_array_equal(model.predict(wide[::-1])[::-1], found)
    np.testing.assert_allclose(
        model.predict(q.astype("f4"))[some[1::2]], found[some[1::2]], atol=0.1
    )


def test_weights_of_one_are_none():
    x, y = curve(200)
    for bandwidth in (0.3, "loo", "scott"):
        plain = NadarayaWatson(bandwidth=bandwidth).fit(x, y)
        ones = NadarayaWatson(bandwidth=bandwidth).fit(x, y, np.ones(200))
        np.testing.assert_array_equal(plain.bandwidth_, ones.bandwidth_)
        np.testing.assert_array_equal(plain.predict(x), ones.predict(x))
        assert plain._data.weight is ones._data.weight is None


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("bandwidth", [0.4, "loo"])
@pytest.mark.parametrize("name", ["gaussian", "tricube"])
def test_rows_predicted_from_those_at_other_places(name, bandwidth, outputs):
    x, y = curve(60, outputs=outputs)
    x[40:] = x[:20]  # at places where there is another
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    model = NadarayaWatson(name, bandwidth=bandwidth).fit(x, y, weight)
    found = model.loo_predict()
    assert found.shape == y.shape
    for i in range(60):
        others = x[:, 0] != x[i, 0]
        alone = NadarayaWatson(name, bandwidth=model.bandwidth_, empty="mean")
        wanted = alone.fit(x[others], y[others], weight[others]).predict(x[i : i + 1])[0]
        np.testing.assert_allclose(found[i], wanted, atol=1e-8)


def test_rows_predicted_keep_their_dtype_and_want_data_in_memory():
    x, y = curve(60)
    assert NadarayaWatson(bandwidth=0.4).fit(x.astype("f4"), y).loo_predict().dtype == np.float32
    with pytest.raises(NotFittedError):
        NadarayaWatson().loo_predict()

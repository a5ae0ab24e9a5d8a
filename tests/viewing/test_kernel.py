"""Data and their kernel: the weights are those of the regression, and a page holds them."""

import numpy as np
import pytest

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.viewing import notes
from regard.viewing.kernel import KERNELS, POINTS, Kernel, data_of, kernel_document, kernel_of

NadarayaWatson = pytest.importorskip("regard.regression").NadarayaWatson
RANDOM = np.random.default_rng(0)
X, Y = RANDOM.uniform(0, 5, 60), RANDOM.normal(size=60)


def read(document, name):
    run = document.header["kernel"][name]
    return np.frombuffer(document.data, "<f4", run["count"], run["at"])


@pytest.mark.parametrize("kernel", sorted(set(KERNELS) - {"cauchy"}))
def test_the_weights_are_those_of_the_regression(kernel):
    queries = np.linspace(-0.5, 5.5, 40)
    model = NadarayaWatson(kernel, bandwidth=0.4).fit(X[:, None], Y)
    wanted = model.predict(queries[:, None])
    np.testing.assert_allclose(kernel_of(model).weights(queries) @ Y, wanted, atol=1e-9)


def test_a_fit_and_its_document():
    model = NadarayaWatson().fit(X[:, None], Y)
    document = kernel_document(kernel_of(model), title="T", language=None)
    about = document.header["kernel"]
    assert about["width"] == model.bandwidth_[0]
    assert sorted(read(document, "x")) == sorted(X.astype(np.float32))
    order = np.argsort(read(document, "x"))
    assert read(document, "y")[order].tolist() == Y[np.argsort(X)].astype(np.float32).tolist()
    assert (about["from"], about["to"]) == pytest.approx((X.min(), X.max()))
    assert document.header["notes"] == []


def test_places_that_were_merged_count_as_often_as_they_came():
    x, y = np.array([0.0, 0, 1, 2]), np.array([1.0, 3, 5, 7])
    found = kernel_of(NadarayaWatson().fit(x[:, None], y))
    assert sorted(zip(found.x, found.y, strict=True)) == [(0, 2), (0, 2), (1, 5), (2, 7)]
    weighted = NadarayaWatson(bandwidth=1.0).fit(x[:, None], y, [0.5, 1, 1, 1])
    assert kernel_of(weighted).said == (notes.without_weights(),)


def test_outputs_are_chosen_and_what_cannot_be_drawn_is_refused():
    two = NadarayaWatson(bandwidth=1.0).fit(X[:, None], np.stack([Y, -Y], 1))
    np.testing.assert_allclose(kernel_of(two, 1).y, -Y)
    with pytest.raises(ValueRangeError, match="entry must be one of the 2 outputs"):
        kernel_of(two, 2)
    plane = NadarayaWatson(bandwidth=1.0).fit(np.stack([X, X], 1), Y)
    with pytest.raises(ShapeError, match="a curve over one feature, got a fit of 2"):
        kernel_of(plane)
    with pytest.raises(KindError, match="degree=1"):
        kernel_of(NadarayaWatson(bandwidth=1.0, degree=1).fit(X[:, None], Y))


def test_many_data_are_thinned_evenly_and_that_is_said():
    data = Kernel(RANDOM.uniform(size=3 * POINTS), np.zeros(3 * POINTS), width=0.1)
    document = kernel_document(data, title="", language=None)
    assert document.header["kernel"]["x"]["count"] == POINTS
    assert document.header["notes"] == [notes.a_part_of_the_data(POINTS, 3 * POINTS)]
    assert np.abs(np.histogram(read(document, "x"), 10)[0] - POINTS / 10).max() < POINTS / 50


def test_data_far_from_zero_keep_their_distances():
    document = kernel_document(Kernel(1.7e9 + X, Y), title="", language=None)
    assert np.abs(np.diff(read(document, "x")) - np.diff(X)).max() < 1e-4
    assert "counted from" in document.header["notes"][0]["en"]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: data_of(X, Y, "round", 1.0), ValueRangeError, "kernel must be one of gaussian"),
        (lambda: data_of(X, Y, None, 0.0), ValueRangeError, "width must be a number above 0"),
        (lambda: data_of(X, Y[1:], None, 1.0), ShapeError, "got the shapes [60] and [59]"),
        (lambda: data_of([], [], None, None), ShapeError, "not empty"),
        (lambda: data_of([np.nan], [1.0], None, 1.0), ValueRangeError, "must be finite"),
    ],
)
def test_message(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert message in str(raised.value)


def test_the_figure_draws_what_the_page_does():
    figure = Kernel(X, Y, width=0.3).draw("")
    curve = figure.axes[0].lines[0]
    data = Kernel(X, Y, width=0.3)
    np.testing.assert_allclose(curve.get_ydata(), data.weights(curve.get_xdata()) @ Y)
    assert not figure.axes[0].collections[1:]  # no band: nothing is known of one
    assert data.head().tile(slice(None), slice(None)).values.shape == (200, 60)

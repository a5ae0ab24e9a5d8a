"""A figure of how much is learned from how much."""

import math

import pytest

pytest.importorskip("matplotlib")

from regard.errors import ValueRangeError
from regard.viewing.learning import Curve, learning_curves

CURVES = [
    Curve("self-attention", (50, 200, 800), (60.0, 80.0, 95.0), (2.0, 1.0, 0.5), (9.0, 10.0, 11.0)),
    Curve("cnn", (50, 200, 800), (70.0, 82.0, 93.0), (math.nan,) * 3, (5.0, 5.0, 6.0)),
]


def test_errors_and_times_over_the_data():
    errors, times = learning_curves(CURVES, "images", "two of them").axes
    lines = {
        line.get_label(): (list(line[0].get_xdata()), list(line[0].get_ydata()))
        for line in errors.containers
    }
    assert lines["cnn"] == ([50, 200, 800], [30.0, 18.0, 7.0])
    assert errors.get_xscale() == errors.get_yscale() == "log"
    assert [x.get_text() for x in errors.get_xticklabels()] == ["50", "200", "800"]
    assert errors.get_xlabel() == "images to learn from"
    assert [list(line.get_ydata()) for line in times.lines] == [[9.0, 10.0, 11.0], [5.0, 5.0, 6.0]]


def test_nothing_wrong_can_be_drawn():
    figure = learning_curves([Curve("cnn", (50,), (100.0,), (0.0,), (1.0,))], "images")
    figure.canvas.draw()
    low, high = figure.axes[0].get_ylim()
    assert 0 < low < high


@pytest.mark.parametrize("count", [0, 6])
def test_as_many_as_can_be_told_apart(count):
    with pytest.raises(ValueRangeError, match=f"one to 5 curves .* got {count}"):
        learning_curves(CURVES[:1] * count, "images")


@pytest.mark.parametrize("scores", [(40.0, 72.0), (94.0, 94.5), (10.0, 99.9)])
def test_errors_have_a_scale(scores):
    curve = Curve("cnn", (50, 100), scores, (0.0, 0.0), (1.0, 1.0))
    errors, _ = learning_curves([curve], "images").axes
    said = [x.get_text() for x in errors.get_yticklabels()]
    assert len(said) > 2
    assert [float(x) for x in said] == pytest.approx(list(errors.get_yticks()))


def test_the_scale_ends_below_the_smallest_error():
    curves = [
        Curve("cnn", (10, 100), (90.0, 99.6), (1.0, 0.399), (1.0, 1.0)),
        Curve("rnn", (10, 100), (90.0, 100.0), (1.0, 0.0), (1.0, 1.0)),
    ]
    low, _ = learning_curves(curves, "images").axes[0].get_ylim()
    assert low == pytest.approx(0.2)

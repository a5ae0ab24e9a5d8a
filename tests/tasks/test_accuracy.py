"""Shares, their uncertainty, labels and mistakes: counted by hand."""

import math

import pytest

from regard.tasks.accuracy import interval, label_scores, mistaken, share, table

PAIRS = [("a", "a"), ("a", "b"), ("b", "b"), ("c", "b"), ("a", "b"), ("b", "a")]


@pytest.mark.parametrize(
    ("right", "count", "low", "high"),
    [(0, 10, 0.0, 27.753), (10, 10, 72.247, 100.0), (5, 10, 23.659, 76.341), (1, 1, 20.655, 100.0)],
)
def test_wilsons_interval(right, count, low, high):
    assert interval(right, count) == pytest.approx((low, high), abs=2e-3)


def test_a_share_of_nothing():
    assert share(1, 4) == 25
    assert math.isnan(share(0, 0))


def test_labels():
    found = label_scores(PAIRS)
    assert set(found) == {"a", "b", "c"}
    assert (found["a"].count, found["a"].recall, found["a"].precision) == (
        3,
        pytest.approx(100 / 3),
        50,
    )
    assert (found["b"].count, found["b"].recall, found["b"].precision) == (2, 50, 25)
    assert found["a"].f1 == pytest.approx(40)
    assert found["c"].recall == 0
    assert math.isnan(found["c"].precision)
    assert math.isnan(found["c"].f1)


def test_mistakes_are_counted_and_alike_ones_in_order():
    assert mistaken(PAIRS, 2) == [("a", "b", 2), ("b", "a", 1)]
    assert mistaken(PAIRS, 9)[1:] == [("b", "a", 1), ("c", "b", 1)]


def test_cells_have_no_tabs_and_no_ends_of_lines():
    assert table([("a", "b"), ("one\ttwo", "three\nfour")]) == "a\tb\none two\tthree four\n"

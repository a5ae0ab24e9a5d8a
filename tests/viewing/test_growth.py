"""The figure of growth shows what was measured beside what theory says."""

import pytest

from regard.errors import ValueRangeError
from regard.viewing.growth import Line, comparison

pytest.importorskip("matplotlib")

SIZES = (8, 16, 32)
LINES = [
    Line("CNN", SIZES, (3.0, 5.0, 8.0), (False, True, True), 0.68, 1),
    Line("RNN", SIZES, (3.0, 5.0, 8.0), (True, True, True), 1.25, 1),
    Line("self-attention", SIZES, (1.0, 4.0, 16.0), (True, True, True), None, 2),
]


@pytest.fixture
def figure():
    return comparison({("Time", "seconds"): LINES, ("Paths", "layers"): LINES[:1]}, "a machine")


def test_every_panel_is_named_and_logarithmic(figure):
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["Time", "Paths"]
    assert [ax.get_ylabel() for ax in figure.axes] == ["seconds", "layers"]
    for ax in figure.axes:
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert ax.get_xlabel() == "n, positions in the sequence"
    assert figure.get_suptitle() == "a machine"


def test_points_are_those_measured(figure):
    drawn = {line.get_label(): line for line in figure.axes[0].lines}
    for line in LINES:
        found = drawn[line.name]
        assert tuple(found.get_xdata()) == line.sizes
        assert tuple(found.get_ydata()) == line.values
    looks = {(drawn[x.name].get_color(), drawn[x.name].get_marker()) for x in LINES}
    assert len({color for color, _ in looks}) == len({marker for _, marker in looks}) == 3


def test_points_that_were_not_fitted_are_hollow(figure):
    hollow = [x for x in figure.axes[0].lines if x.get_markerfacecolor() == "white"]
    assert [(list(x.get_xdata()), list(x.get_ydata())) for x in hollow] == [([8], [3.0])]


def test_dashed_lines_have_the_slope_of_theory_and_meet_the_last_point(figure):
    dashed = [x for x in figure.axes[0].lines if x.get_linestyle() == "--"]
    values = [list(x.get_ydata()) for x in dashed]
    assert values == [[2.0, 4.0, 8.0], [2.0, 4.0, 8.0], [1.0, 4.0, 16.0]]


def test_exponents_stand_at_the_ends_and_not_on_each_other(figure):
    texts = figure.axes[0].texts
    assert {text.get_text() for text in texts} == {"$n^{0.68}$", "$n^{1.25}$"}
    first, second = (text.get_position()[1] for text in texts)
    assert abs(first - second) > 0.05  # both lines end in the same point


def test_the_legend_says_what_is_what(figure):
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "CNN",
        "RNN",
        "self-attention",
        "slope in theory",
        "not fitted",
    ]


def test_three_panels_leave_no_empty_axes():
    panels = {(name, ""): LINES for name in "abc"}
    assert len(comparison(panels).axes) == 3


@pytest.mark.parametrize(
    ("panels", "counts"), [({}, "[]"), ({("a", ""): []}, "[0]"), ({("a", ""): LINES * 2}, "[6]")]
)
def test_nothing_or_too_much_to_draw(panels, counts):
    with pytest.raises(ValueRangeError) as raised:
        comparison(panels)
    assert str(raised.value) == f"a panel needs one to 3 lines, got panels of {counts}"

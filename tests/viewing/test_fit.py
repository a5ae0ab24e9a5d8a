"""Figures of a fit: what is on them, at which places, in colours everybody tells apart."""

import io
import warnings

import numpy as np
import pytest

from regard.viewing.fit import Along, Beside, Over, along, beside, over

pytest.importorskip("matplotlib")

GRID = np.linspace(0, 4, 9)
KEYS = np.array([0.0, 1.0, 1.5, 3.0, 4.0])
WEIGHTS = np.full((9, 5), 0.2)


def curve(name="y", low=-1.0):
    return Along(name, KEYS, KEYS**2, GRID, 2 * GRID, 2 * GRID + low, 2 * GRID + 1)


def written(figure):
    """It is drawn for real, and nothing is complained of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.savefig(io.BytesIO(), format="png")
    return figure


def named(figure):
    return {ax.get_title("left"): ax for ax in figure.axes}


def test_a_curve_with_its_data_its_band_and_its_weights():
    figure = written(along([curve()], "x", KEYS, GRID, WEIGHTS))
    axes = named(figure)
    left = axes["The curve through the data"]
    assert (left.get_xlabel(), left.get_ylabel()) == ("x", "y")
    (line,) = left.lines
    assert line.get_xydata().tolist() == np.column_stack((GRID, 2 * GRID)).tolist()
    dots, band = left.collections
    assert dots.get_offsets().tolist() == np.column_stack((KEYS, KEYS**2)).tolist()
    assert band.get_paths()[0].get_extents().bounds == (0.0, -1.0, 4.0, 10.0)
    right = axes["Where it looks: attention weights"]
    assert right.images[0].get_array().tolist() == WEIGHTS.tolist()
    assert right.get_xlabel() == "key: x of the data"
    assert right.get_ylabel() == "query: x of the curve"
    (legend,) = figure.legends
    said = [text.get_text() for text in legend.get_texts()]
    assert said == ["data", "95% band of the curve", "curve"]


def test_ticks_of_the_weights_are_where_round_numbers_fall_between_the_data():
    right = named(along([curve()], "x", KEYS, GRID, WEIGHTS))["Where it looks: attention weights"]
    across = {
        t.get_text(): at for t, at in zip(right.get_xticklabels(), right.get_xticks(), strict=True)
    }
    # 1 is before the second cell; 2 and 3 are both between the third and the fourth, and 2 is kept
    assert across == {"0": -0.5, "1": 0.5, "2": 2.5, "4": 3.5}
    down = dict(
        zip(right.get_yticks(), (t.get_text() for t in right.get_yticklabels()), strict=True)
    )
    assert down[1.5] == "1"


def test_labels_do_not_overlap_where_data_are_few():
    keys = np.append(np.linspace(0, 1, 97), [2.0, 3.0, 4.0])
    figure = along([curve()], "x", keys, GRID, np.full((9, 100), 0.01))
    right = named(figure)["Where it looks: attention weights"]
    assert [t.get_text() for t in right.get_xticklabels()] == ["0", "1"]


def test_where_nothing_is_known_there_is_no_band():
    gap = curve(low=np.where(GRID > 2, -np.inf, -1.0))
    figure = written(along([gap], "x", KEYS, GRID, WEIGHTS))
    _, band = named(figure)["The curve through the data"].collections
    assert [path.get_extents().x1 for path in band.get_paths()] == [2.0]


def test_a_lonely_dark_cell_does_not_make_the_others_pale():
    weights = np.full((50, 50), 0.01)
    weights[0, 0] = 1.0
    x = np.arange(50.0)
    right = named(along([curve()], "x", x, x, weights))["Where it looks: attention weights"]
    assert right.images[0].get_clim() == (0.0, 0.01)
    assert right.images[0].colorbar.extend == "max"
    plain = named(along([curve()], "x", x, x, np.full((50, 50), 0.01)))
    assert plain["Where it looks: attention weights"].images[0].colorbar.extend == "neither"


def test_several_curves_stand_below_each_other():
    figure = written(along([curve("a"), curve("b")], "x", KEYS, GRID, WEIGHTS))
    assert [ax.get_ylabel() for ax in figure.axes[:2]] == ["a", "b"]
    assert [ax.get_xlabel() for ax in figure.axes[:2]] == ["", "x"]
    assert len(figure.legends) == 1


def test_names_of_columns_are_not_read_as_formulas():
    figure = along([curve("$y_{$")], "price in $ (US$)", KEYS, GRID, WEIGHTS)
    assert written(figure).axes[0].get_ylabel() == "$y_{$"


def test_a_surface_and_its_data_have_the_same_colours():
    across, up = np.linspace(0, 1, 4), np.linspace(0, 2, 3)
    surface = across + up[:, None]
    places = np.array([[0.0, 2.0], [0.5, 1.0]])
    part = Over("y", places, np.array([0.0, 3.0]), across, up, surface)
    figure = written(over([part], ("a", "b")))
    ax = named(figure)["The surface, and the data on it"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    areas, dots = ax.collections
    assert dots.get_offsets().tolist() == places.tolist()
    assert dots.get_array().tolist() == [0.0, 3.0]
    assert dots.get_cmap().name == areas.get_cmap().name == "cividis"
    assert dots.get_clim() == pytest.approx((0, 3), abs=0.05)
    assert areas.levels[0] <= 0.05
    assert areas.levels[-1] >= 2.95
    assert figure.axes[-1].get_ylabel() == "y"


def test_a_flat_surface_and_one_with_holes():
    across = np.linspace(0, 1, 4)
    flat = np.ones((4, 4))
    data = (np.array([[0.0, 1.0]]), np.array([1.0]), across, across)
    written(over([Over("y", *data, flat)], ("a", "b")))
    flat[0, 0] = np.nan
    written(over([Over("y", *data, flat), Over("z", *data, flat)], ("a", "b")))


def test_predicted_beside_measured():
    part = Beside("y", np.array([1.0, 2.0, 5.0]), np.array([1.5, np.nan, 3.0]))
    figure = written(beside([part, part], "Each from the others"))
    ax = figure.axes[1]
    assert ax.get_title("left") == "Each from the others"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("y, predicted", "y, measured")
    assert ax.lines[0].get_xydata().tolist() == [[1.0, 1.0], [5.0, 5.0]]
    assert ax.collections[0].get_offsets()[0].tolist() == [1.5, 1.0]
    assert ax.collections[0].get_offsets()[2].tolist() == [3.0, 5.0]


def test_many_points_are_drawn_smaller_and_paler():
    def dots(count):
        x = np.linspace(0, 1, count)
        part = Along("y", x, x, GRID, GRID, GRID, GRID)
        return along([part], "x", KEYS, GRID, WEIGHTS).axes[0].collections[0]

    few, many = dots(50), dots(4000)
    assert many.get_sizes()[0] < 0.5 * few.get_sizes()[0]
    assert many.get_alpha() < 0.5 * few.get_alpha()

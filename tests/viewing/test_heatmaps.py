"""show_heatmaps: the numbers in their places, on one scale, in words that can be read."""

import io
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch

import regard
from regard.errors import KindError, MissingError, ShapeError, ValueRangeError
from regard.viewing import draw_heatmaps, show_heatmaps
from regard.viewing.figures import heatmap

matplotlib = pytest.importorskip("matplotlib")
manager = pytest.importorskip("matplotlib.font_manager")
pyplot = pytest.importorskip("matplotlib.pyplot")

X = torch.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5) / 100


@pytest.fixture
def backend():
    """Figures that open no window; none stays open."""
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


@pytest.fixture
def no_fonts(monkeypatch):
    own = [entry for entry in manager.fontManager.ttflist if entry.name.startswith("DejaVu")]
    monkeypatch.setattr(manager.fontManager, "ttflist", own)
    monkeypatch.setattr(manager, "findSystemFonts", list)


def panels(figure):
    return [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]


# what is drawn


def test_every_matrix_is_in_its_place():
    figure = draw_heatmaps(X, "Keys", "Queries", ["a", "b", "c"], figsize=(7, 5))
    found = panels(figure)
    assert len(found) == 6
    for ax, matrix in zip(found, X.flatten(0, 1), strict=True):
        assert ax.images[0].get_array().tolist() == matrix.double().tolist()
    assert tuple(figure.get_size_inches()) == (7, 5)


def test_words_are_where_the_notes_have_them():
    found = panels(draw_heatmaps(X, "Keys", "Queries", ["a", "b", "c"]))
    assert [ax.get_xlabel() for ax in found] == [""] * 3 + ["Keys"] * 3  # the last row
    assert [ax.get_ylabel() for ax in found] == ["Queries", "", ""] * 2  # the first column
    assert [ax.get_title() for ax in found] == ["a", "b", "c"] * 2
    for titles in (None, []):
        assert {ax.get_title() for ax in panels(draw_heatmaps(X, "", "", titles))} == {""}


def test_axes_and_scale_are_shared_and_there_is_one_colour_bar():
    figure = draw_heatmaps(X, "Keys", "Queries", cmap="Blues")
    found = panels(figure)
    assert {ax.images[0].get_clim() for ax in found} == {(0.0, X.max().double().item())}
    assert {ax.images[0].get_cmap().name for ax in found} == {"Blues"}
    assert len(figure.axes) == len(found) + 1
    assert all(found[0].get_shared_x_axes().joined(found[0], ax) for ax in found)
    assert all(found[0].get_shared_y_axes().joined(found[0], ax) for ax in found)


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([0.25, 0.5], (0, 0.5)),  # weights from 0, or the palest would look like none
        ([-1.0, 0.5], (-1, 0.5)),
        ([-2.0, -1.0], (-2, -1)),
        ([-2.0, -2.0], (-2, -1)),
        ([0.0, 0.0], (0, 1)),
        ([0.25, np.nan], (0, 0.25)),
        ([np.inf, -np.inf], (0, 1)),
        ([np.nan, np.nan], (0, 1)),
    ],
)
def test_the_scale(values, scale):
    (ax,) = panels(draw_heatmaps(np.array(values).reshape(1, 1, 1, 2), "", ""))
    assert ax.images[0].get_clim() == scale


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_seen(value):
    x = X.clone()
    x[0, 1, 2, 3] = value
    found = panels(draw_heatmaps(x, "", ""))
    assert [ax.patch.get_hatch() for ax in found] == [None, "////", *[None] * 4]
    masked = found[1].images[0].get_array().mask
    assert masked.sum() == 1
    assert masked[2, 3]
    bad = found[1].images[0].get_cmap().get_bad()
    assert bad[3] == 0  # open: the hatch behind it is seen


def test_cells_are_square_but_for_slender_matrices():
    for shape, aspect in [((1, 1, 2, 10), 1.0), ((1, 1, 1, 50), "auto"), ((1, 1, 50, 1), "auto")]:
        (ax,) = panels(draw_heatmaps(np.ones(shape), "", ""))
        assert ax.get_aspect() == aspect


def test_ticks_are_whole_numbers():
    figure = draw_heatmaps(np.ones((2, 4, 6, 9)), "", "", figsize=(9, 4))
    figure.draw_without_rendering()  # their number depends on the room there is
    ticks = [*figure.axes[0].get_xticks(), *figure.axes[0].get_yticks()]
    assert all(float(tick).is_integer() for tick in ticks)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.bfloat16().requires_grad_(),
        lambda x: x.half(),
        lambda x: x.numpy(),
        lambda x: x.tolist(),
        lambda x: x.int(),
        lambda x: x > 0.5,
        lambda x: x.numpy().astype(np.float16),
        lambda x: (x > 0.5).numpy(),
        lambda x: x.transpose(2, 3),
    ],
    ids=["bf16", "half", "array", "list", "int", "bool", "f16", "boolarray", "transposed"],
)
def test_any_kind_of_numbers(make):
    x = torch.arange(6.0).reshape(1, 1, 2, 3)  # every dtype holds these
    (ax,) = panels(draw_heatmaps(make(x), "", ""))
    drawn = make(x)
    wanted = drawn.double() if isinstance(drawn, torch.Tensor) else np.asarray(drawn, float)
    assert ax.images[0].get_array().tolist() == wanted[0][0].tolist()


# what is refused

FOUR = "matrices must have four axes [rows, columns, n, m], got the shape "


@pytest.mark.parametrize(
    ("matrices", "options", "error", "message"),
    [
        (
            torch.eye(3),
            {},
            ShapeError,
            FOUR + "[3, 3]; add 2 in front, as in matrices.reshape(1, 1, 3, 3)",
        ),
        (torch.zeros(1, 1, 1, 2, 2), {}, ShapeError, FOUR + "[1, 1, 1, 2, 2]"),
        (
            torch.zeros(1, 0, 2, 2),
            {},
            ShapeError,
            "matrices must not be empty, got the shape [1, 0, 2, 2] for [rows, columns, n, m]",
        ),
        (
            X,
            {"titles": ["a", "b"]},
            ShapeError,
            "titles must be one a column: there are 3 columns, got 2 titles",
        ),
        (
            X,
            {"titles": "abc"},
            KindError,
            "titles must be a list with one title a column, got the text 'abc'",
        ),
        (
            X,
            {"cmap": "Redds"},
            ValueRangeError,
            "cmap must be a colour map of matplotlib, as 'Reds' or 'viridis', got 'Redds'",
        ),
        (
            X.to(torch.complex64),
            {},
            KindError,
            "matrices must be real numbers, got torch.complex64; give abs() or angle()",
        ),
        (
            [["a"]],
            {},
            KindError,
            "matrices must be one tensor or array of real numbers [rows, columns, n, m], got list "
            "of <U1",
        ),
        (
            [[1], [1, 2]],
            {},
            KindError,
            "matrices must be one tensor or array of real numbers [rows, columns, n, m], got list "
            "that is no array",
        ),
        (
            [X.clone().requires_grad_()] * 2,
            {},
            KindError,
            "matrices must be one tensor or array of real numbers [rows, columns, n, m], got list "
            "that is no array; make it one with torch.stack",
        ),
        (
            None,
            {},
            KindError,
            "matrices must be one tensor or array of real numbers [rows, columns, n, m], got "
            "NoneType of object",
        ),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_what_cannot_be_drawn(matrices, options, error, message, backend):
    for function in (draw_heatmaps, show_heatmaps):
        with pytest.raises(error) as raised:
            function(matrices, "Keys", "Queries", **options)
        assert str(raised.value) == message
    assert pyplot.get_fignums() == []  # no empty figure is left


def test_without_matplotlib_the_remedy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for function in (draw_heatmaps, show_heatmaps):
        with pytest.raises(MissingError) as raised:
            function(X, "Keys", "Queries")
        assert str(raised.value) == (
            "a heatmap needs matplotlib, which is not installed; pip install 'regard[view]'"
        )


# where it is shown


def test_it_is_the_current_figure_and_nothing_is_returned(backend, monkeypatch):
    shown = []
    monkeypatch.setattr(pyplot, "show", lambda: shown.append(True))
    assert show_heatmaps(X, "Keys", "Queries", figsize=(6, 4)) is None
    assert len(pyplot.get_fignums()) == 1
    assert tuple(pyplot.gcf().get_size_inches()) == (6, 4)
    assert len(panels(pyplot.gcf())) == 6
    assert shown == []  # there are no windows here


def test_where_there_are_windows_one_is_opened(backend, monkeypatch):
    shown = []
    monkeypatch.setattr(pyplot, "show", lambda: shown.append(True))
    canvas = pyplot.figure().canvas
    monkeypatch.setattr(type(canvas), "required_interactive_framework", "tk")
    show_heatmaps(X, "Keys", "Queries")
    assert shown == [True]


def test_drawing_needs_no_pyplot():
    code = """
import sys, torch
from regard.viewing import draw_heatmaps
draw_heatmaps(torch.eye(3).reshape(1, 1, 3, 3), "Keys", "Queries").savefig(sys.stdout.buffer)
assert "matplotlib.pyplot" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"\x89PNG")


def test_it_is_in_the_root():
    assert regard.show_heatmaps is show_heatmaps


# Chinese


def test_without_a_font_there_is_one_warning_and_no_flood(no_fonts, backend):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        show_heatmaps(X, "键", "查询", ["头一", "头二", "头三"], figsize=(6, 4))
        for _ in range(2):
            pyplot.savefig(io.BytesIO())
    assert [w.category for w in caught] == [UserWarning]
    assert str(caught[0].message).startswith("no installed font has 一三二头查询键, drawn as boxes")
    assert caught[0].filename == __file__  # it points at the call
    found = panels(pyplot.gcf())
    assert (found[3].get_xlabel(), found[0].get_ylabel()) == ("□", "□□")
    assert found[1].get_title() == "□□"


def test_a_font_is_used_for_every_word(no_fonts, monkeypatch):
    chosen = ["sans-serif", "DejaVu Serif"]  # it has no such letters; that it is set is seen
    monkeypatch.setattr(
        "regard.viewing.heatmaps.lettering",
        lambda texts: regard.viewing.fonts.Lettering(tuple(chosen)),
    )
    figure = draw_heatmaps(X, "键", "查询", ["头一", "头二", "头三"])
    found = panels(figure)
    for text in (found[3].xaxis.label, found[0].yaxis.label, found[0].title):
        assert text.get_fontfamily() == chosen
    assert found[3].get_xlabel() == "键"


def test_one_heatmap_has_the_same_letters(no_fonts):
    ax = matplotlib.figure.Figure().subplots()
    with pytest.warns(
        UserWarning, match="no installed font has 头查询键, drawn as boxes"
    ) as caught:
        heatmap(ax, torch.eye(2), "键", "查询", "头")
    assert caught[0].filename == __file__
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("□", "□□", "□")

"""Figures show the numbers they are given, and are written where they should be."""

import subprocess
import sys

import pytest
import torch

from regard.errors import MissingError, ShapeError, ValueRangeError
from regard.viewing import figures

figure_module = pytest.importorskip("matplotlib.figure")

WEIGHTS = torch.tensor(
    [[0.5, 0.25, 0.25], [0.0625, 0.0625, 0.875]]
)  # no 0: it would hide where the scale starts


@pytest.fixture
def ax():
    return figure_module.Figure().subplots()


def test_heatmap_shows_the_weights_as_they_are(ax):
    image = figures.heatmap(ax, WEIGHTS, "words", "answers", "one head")
    assert image.get_array().tolist() == WEIGHTS.tolist()  # a row a query, the first on top
    assert image.origin == "upper"
    assert image.get_interpolation() == "nearest"
    assert image.get_clim() == (0, 0.875)  # from 0, not from the smallest
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("words", "answers", "one head")


def test_heatmaps_can_share_a_scale(ax):
    assert figures.heatmap(ax, WEIGHTS, most=0.5).get_clim() == (0, 0.5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_heatmap_takes_any_dtype_and_what_is_being_learned(ax, dtype):
    weights = WEIGHTS.to(dtype).requires_grad_()
    assert figures.heatmap(ax, weights).get_array().tolist() == WEIGHTS.tolist()


def test_heatmap_refuses_a_batch(ax):
    with pytest.raises(ShapeError) as raised:
        figures.heatmap(ax, WEIGHTS[None])
    assert str(raised.value) == (
        "weights must be one matrix [n, m], got the shape [1, 2, 3]; "
        "choose one batch entry and head, as in weights[0, 0]"
    )


def test_without_matplotlib_the_remedy_is_told(ax, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingError) as raised:
        figures.heatmap(ax, WEIGHTS)
    assert str(raised.value) == (
        "a heatmap needs matplotlib, which is not installed; pip install 'regard[view]'"
    )


def _regression(sharpest=0.4):
    # the keys are more than a row of heatmap long, so that one of them is beyond the scale or none
    x = torch.linspace(0.5, 4.5, 60)
    grid = torch.linspace(0, 4.9, 50)
    flat = torch.full((50, 60), 0.01)
    sharp = flat.clone()
    sharp[0, 0] = sharpest
    return figures.regression(
        x=x,
        y=x + 1,
        grid=grid,
        truth=grid,
        curves={"a": grid + 1, "b": grid + 2, "c": grid + 3},
        weights={"b": flat, "c": sharp},
    )


def test_regression_draws_points_truth_and_every_curve():
    figure = _regression()
    left, first, second, bar = figure.axes
    grid = torch.linspace(0, 4.9, 50)
    drawn = {line.get_label(): line.get_ydata().tolist() for line in left.lines}
    shifted = {"true curve": 0, "a": 1, "b": 2, "c": 3}
    assert drawn == {name: (grid + by).tolist() for name, by in shifted.items()}
    assert len({(line.get_color(), str(line.get_linestyle())) for line in left.lines}) == 4
    points = left.collections[0].get_offsets()
    assert points[:, 1].tolist() == (torch.linspace(0.5, 4.5, 60) + 1).tolist()
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["training points", "true curve", "a", "b", "c"]
    assert [ax.get_title(loc="left") for ax in (first, second)] == ["Weights: b", "Weights: c"]
    assert [ax.get_xlabel() for ax in (first, second)] == ["key: x of a training point"] * 2
    assert first.get_ylabel() == "query: x of a test point"
    assert bar.get_ylabel() == "attention weight"


@pytest.mark.parametrize(("sharpest", "extend"), [(0.4, "max"), (0.01, "neither")])
def test_regression_has_one_scale_and_says_what_lies_beyond(sharpest, extend):
    _, first, second, _ = _regression(sharpest).axes
    assert first.images[0].get_clim() == second.images[0].get_clim()
    bar = second.images[0].colorbar or first.images[0].colorbar
    assert bar.extend == extend


def test_ticks_are_at_the_whole_numbers():
    assert figures._ticks(torch.tensor([0.0, 0.5, 1.0, 1.5, 2.5])) == {
        -0.5: "0",
        1.5: "1",
        3.5: "2",
    }
    assert figures._ticks(torch.tensor([3.5, 4.5])) == {-0.5: "3", 0.5: "4"}
    # 1, 2 and 3 all fall between the same two points: one label, not three on top of each other
    assert figures._ticks(torch.tensor([0.0, 3.5])) == {-0.5: "0", 0.5: "3"}


def test_save_makes_the_folder_and_refuses_a_strange_suffix(tmp_path):
    figure = figure_module.Figure()
    figures.save(figure, tmp_path / "new" / "a.svg")
    assert (tmp_path / "new" / "a.svg").read_bytes().startswith(b"<?xml")
    with pytest.raises(ValueRangeError) as raised:
        figures.save(figure, tmp_path / "a.xyz")
    assert str(raised.value) == (
        f"a figure is written as .png, .svg, .pdf, got '{tmp_path / 'a.xyz'}'"
    )


def test_asking_whether_a_path_will_do_changes_no_file(tmp_path):
    (tmp_path / "old.png").write_bytes(b"old")
    figures.check_path(tmp_path / "old.png")
    figures.check_path(tmp_path / "new.png")
    assert (tmp_path / "old.png").read_bytes() == b"old"
    assert not (tmp_path / "new.png").exists()


def test_matplotlib_waits_for_a_figure_and_pyplot_is_never_used(tmp_path):
    code = f"""
import sys
from pathlib import Path
import torch
from regard.viewing import figures
assert "matplotlib" not in sys.modules, "imported with the module"
x = torch.linspace(0, 4, 5)
figures.save(
    figures.regression(x=x, y=x, grid=x, truth=x, curves={{}}, weights={{"a": torch.eye(5)}}),
    Path({str(tmp_path / "a.png")!r}),
)
assert "matplotlib.figure" in sys.modules, "nothing drawn"
assert "matplotlib.pyplot" not in sys.modules, "pyplot"
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

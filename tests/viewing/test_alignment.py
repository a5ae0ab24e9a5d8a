"""The figure of an alignment: numbers, labels and cells where they belong."""

import warnings

import pytest
import torch

from regard.errors import MissingError, ShapeError, ValueRangeError
from regard.viewing import alignment, draw_alignment, figures

manager = pytest.importorskip("matplotlib.font_manager")

W = torch.tensor([[0.75, 0.25, 0.0], [0.05, 0.125, 0.825]])
SOURCE, TARGET = ["▁ni", "hao", "▁"], ["▁hel", "lo"]


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def test_every_weight_is_in_its_place():
    ax = draw_alignment(W, SOURCE, TARGET).axes[0]
    assert ax.images[0].get_array().tolist() == W.double().tolist()
    assert ax.images[0].origin == "upper"
    assert ax.images[0].get_clim() == (0, 1)  # two figures can be compared
    assert labels(ax.xaxis) == ["ni", "hao", "·"]
    assert labels(ax.yaxis) == ["hel", "lo"]
    assert ax.xaxis.get_tick_params()["labeltop"]
    assert not ax.xaxis.get_tick_params()["labelbottom"]


def test_a_few_cells_hold_their_per_cents_on_a_ground_they_can_be_read_on():
    texts = draw_alignment(W, SOURCE, TARGET).axes[0].texts
    found = {text.get_position(): (text.get_text(), text.get_color()) for text in texts}
    ink = figures.INK
    assert found == {
        (0, 0): ("75", "white"), (1, 0): ("25", ink), (1, 1): ("12", ink), (2, 1): ("82", "white")
    }  # fmt: skip


def test_many_cells_have_a_bar_and_very_many_tokens_no_names():
    figure = draw_alignment(torch.rand(30, 20), ["a"] * 20, ["b"] * 30)
    assert [len(ax.texts) for ax in figure.axes] == [0, 0]
    assert labels(figure.axes[0].yaxis) == ["b"] * 30
    figure = draw_alignment(torch.rand(300, 20), ["a"] * 20, ["b"] * 300)
    figure.draw_without_rendering()
    assert "b" not in labels(figure.axes[0].yaxis)
    assert max(figure.get_size_inches()) < 20


def test_long_names_are_turned_so_that_they_do_not_overlap():
    for name, turned in [("ab", 0), ("extraordinary", 60)]:
        ax = draw_alignment(W, [name] * 3, TARGET).axes[0]
        assert {text.get_rotation() for text in ax.get_xticklabels()} == {turned}


def test_the_title_fits():
    narrow = draw_alignment(W, SOURCE, TARGET, "x" * 5).get_size_inches()[0]
    figure = draw_alignment(W, SOURCE, TARGET, "x" * 60)
    assert figure.get_suptitle() == "x" * 60
    figure.draw_without_rendering()
    box = figure._suptitle.get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.width
    assert figure.get_size_inches()[0] > narrow


def test_chinese_is_written_or_boxed_with_a_word_on_what_to_install(monkeypatch, tmp_path):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        own = [entry for entry in manager.fontManager.ttflist if entry.name.startswith("DejaVu")]
        monkeypatch.setattr(manager.fontManager, "ttflist", own)
        monkeypatch.setattr(manager, "findSystemFonts", list)
        figure = draw_alignment(W, ["西安", "好", "a"], TARGET, "西")
        figures.save(figure, tmp_path / "a.png")
    assert labels(figure.axes[0].xaxis) == ["□□", "□", "a"]
    assert figure.get_suptitle() == "□"
    assert [str(x.message).partition(", drawn")[0] for x in said] == [
        "no installed font has 好安西"
    ]


@pytest.mark.parametrize(("name", "magic"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml")])
def test_odd_tokens_and_numbers_are_drawn(tmp_path, name, magic):
    weights = torch.tensor([[torch.nan, 2.0], [-1.0, torch.inf]], dtype=torch.bfloat16)
    figure = draw_alignment(weights, ["$x^2", "\x1b[2J"], ["\\frac", "\x00"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figures.save(figure, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(magic)
    assert figure.axes[0].patch.get_hatch() == "////"


def test_what_would_fill_the_memory_is_refused_before_anything_is_drawn(monkeypatch):
    monkeypatch.setattr(alignment, "need", lambda *_, **__: pytest.fail("it was drawn"))
    for n, m in [(2001, 1), (1, 2001)]:
        with pytest.raises(ValueRangeError) as raised:
            draw_alignment(torch.ones(1, 1).expand(n, m), ["a"] * m, ["b"] * n)
        assert str(raised.value) == (
            f"a figure of an alignment has at most 2,000 tokens on a side, got {n:,} written and "
            f"{m:,} read; draw a part of the text"
        )
    alignment.check_drawable(2000, 2000)


def test_what_cannot_be_drawn_is_refused(monkeypatch):
    message = (
        "weights must be [n, m], a row a token and a column a source token, and not empty: there "
        "are {} and 3 of them, got the shape {}"
    )
    for weights, tokens in [(W, ["a"]), (W[:0], [])]:
        with pytest.raises(ShapeError) as raised:
            draw_alignment(weights, SOURCE, tokens)
        assert str(raised.value) == message.format(len(tokens), list(weights.shape))
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingError):
        draw_alignment(W, SOURCE, TARGET)

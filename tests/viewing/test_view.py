"""A view in a notebook, in files, in a terminal and in words."""

import io
import os

import pytest
import torch

from regard import look
from regard.errors import ShapeError, StateError, ValueRangeError
from regard.viewing.called import translations
from regard.viewing.document import Drawn
from regard.viewing.heads import DenseHead
from regard.viewing.view import View
from tests.viewing.pages import Page

W = torch.tensor([[0.75, 0.25], [0.0, 1.0]])


@pytest.fixture
def view():
    torch.manual_seed(0)
    return look(torch.rand(2, 3, 6, 6).softmax(-1), list("abcdef"), title="T")


def test_a_saved_page_is_the_page(view, tmp_path):
    path = tmp_path / "new" / "x.html"
    view.save(path)
    assert path.read_text(encoding="utf-8") == view.html()
    assert Page(path.read_text()).data == view.document().data
    view.save(str(path))  # over itself
    assert [x.name for x in path.parent.iterdir()] == ["x.html"]


@pytest.mark.parametrize("name", ["x.html", "x.png"])
def test_saving_is_whole_or_not_at_all(view, tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_text("before")

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="No space left") as raised:
        view.save(path)
    assert str(raised.value) == f"[Errno 28] No space left on device: {str(path)!r}"
    assert [x.name for x in tmp_path.iterdir()] == [name]
    assert path.read_text() == "before"


@pytest.mark.parametrize(
    ("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_figures_are_made(view, tmp_path, suffix, start):
    pytest.importorskip("matplotlib")
    view.save(tmp_path / f"one.{suffix}", layer=1, head=2)
    assert (tmp_path / f"one.{suffix}").read_bytes().startswith(start)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_figure_of_one_head_and_of_a_layer_and_of_all(view):
    pytest.importorskip("matplotlib")
    assert len(view.figure().axes) == 6 + 1
    assert len(view.figure(layer=0).axes) == 3 + 1
    assert len(view.figure(head=1).axes) == 2 + 1
    one = view.figure(layer="1", head=2).axes[0]
    assert [x.get_text() for x in one.get_xticklabels()] == list("abcdef")
    got = torch.as_tensor(one.images[0].get_array()).float()
    torch.testing.assert_close(got, view.heads[5].tile(slice(None), slice(None)).values)
    long = look(torch.rand(900, 30)).figure()
    assert long.axes[0].images[0].get_array().shape == (450, 30)
    assert long.axes[0].get_ylabel() == "900 queries (in 450 cells)"
    with pytest.raises(ShapeError, match="choose a layer, or one head"):
        look({"a": torch.rand(3, 3), "b": torch.rand(4, 3)}).figure()


def test_dollars_in_tokens_are_dollars(tmp_path):
    pytest.importorskip("matplotlib")
    odd = r"$\frac$"
    for view in (look(W, [odd, "$x_$"], title=odd), look(W, title=odd)):
        view.save(tmp_path / "x.svg")  # as mathematics it would be refused
        assert (tmp_path / "x.svg").stat().st_size > 1000


def test_a_terminal_shows_one_head():
    out = io.StringIO()
    look(W, ["▁Xi'an", "西安"]).show(stream=out, width=60)
    assert out.getvalue().splitlines() == [
        "2 queries, 2 keys, self-attention",
        "       Xi'an 西安",
        "Xi'an  █████ ▒▒▒▒",
        "西安         ████",
    ]


def test_a_terminal_shows_pools_of_many_and_names_what_is_shown():
    out = io.StringIO()
    seen = look(torch.eye(100).expand(1, 2, 100, 100))
    seen.show(layer=0, head=1, stream=out, width=300)
    first, second, *rest = out.getvalue().splitlines()
    assert first == "layer 0, head 1: 100 queries, 100 keys, causal attention"
    assert second.split()[:2] == ["0-3", "4-6"]
    assert len(rest) == 32


def test_a_terminal_without_shades_gets_ascii():
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    look(W, ["é", "x"]).show(stream=out)
    out.flush()
    assert b"### :::" in out.buffer.getvalue()


def test_a_summary_tells_who_looks_where(view):
    seen = look(W, ["a", "b"])
    assert seen.summary().splitlines() == [
        "2 queries, 2 keys, self-attention",
        "The average query: entropy 0.28 nats, looks 0.1 keys far, 100 % near its own place, "
        "38 % on the first key.",
        "a looks at a 75 %, b 25 %",
        "b looks at b 100 %",
        "Most looked at, by the sum of weights: b 1.25, a 0.75.",
    ]
    assert view.summary(layer=1, head=2).startswith("layer 1, head 2: 6 queries, 6 keys")
    chinese = look(W, ["a", "b"], language="zh").summary()
    assert "a 关注 a 75 %" in chinese
    assert "... and 60 more queries." in look(torch.rand(100, 100)).summary()


def test_a_kernel_view_has_the_same_doors(tmp_path):
    pytest.importorskip("matplotlib")
    seen = look(([0.0, 1.0, 2.0], [1.0, 0.0, 1.0]), width=0.5)
    out = io.StringIO()
    seen.show(stream=out)
    assert (
        out.getvalue() == "3 points, x from 0 to 2, averaged by the gaussian kernel of width 0.5\n"
    )
    seen.save(tmp_path / "k.png")
    seen.save(tmp_path / "k.html")
    assert Page((tmp_path / "k.html").read_text()).header["kind"] == "kernel"
    assert seen.heads == []
    assert repr(seen) == "<View of 3 points, gaussian kernel>"


def test_a_view_for_a_server_has_heads_in_the_order_of_the_maps(view):
    document = view.document(live=True)
    assert document.header["live"] == {"tile": "tile", "line": "line"}
    assert [(x["layer"], x["head"]) for x in document.header["maps"]] == [
        (int(head.layer), head.number) for head in view.heads
    ]
    assert view.document() is view.document()
    assert repr(view) == "<View of 6 heads in 2 layers>"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda v: v.save("x.gif"), "a view is saved as .html, .png, .svg, .pdf, got 'x.gif'"),
        (lambda v: v.save("x"), "a view is saved as .html, .png, .svg, .pdf, got 'x'"),
        (
            lambda v: v.save("x.html", head=1),
            "a page holds all heads; leave layer and head out, or choose in look()",
        ),
        (
            lambda v: v.summary(layer=2),
            "layer must be a number below 2, or one of '0', '1'; got 2",
        ),
        (
            lambda v: v.summary(layer="x"),
            "layer must be a number below 2, or one of '0', '1'; got 'x'",
        ),
        (lambda v: v.show(head=3), "head must be one of 0, 1, 2; got 3"),
    ],
)
def test_message(view, call, message):
    with pytest.raises(ValueRangeError) as raised:
        call(view)
    assert str(raised.value) == message


def test_it_says_in_short_what_it_is(view):
    assert repr(view) == "<View of 6 heads in 2 layers>"
    assert repr(look(W)) == "<View of 1 head in 1 layer>"


def test_what_is_no_layer_and_no_head_is_called_what_it_is():
    drawn = [Drawn(DenseHead(W, "sentence 1", i)) for i in (1, 2)]
    view = View(drawn, called=translations(3))
    assert view.summary(head=2).startswith("sentence 1, translation 2: 2 queries")
    view = View(drawn, called=translations(3), language="zh")
    assert view.summary(head=2).startswith("第 1 句, 译文 2: 2 个查询")
    header = view.document().header
    assert header["layers"][0]["label"] == {"en": "sentence 1", "zh": "第 1 句"}
    assert header["called"]["heads"] == {"en": "Translations", "zh": "译文"}
    header = look(W).document().header
    assert (header["layers"][0]["label"], header["called"]) == (None, None)


def test_nothing_is_not_looked_at():
    with pytest.raises(StateError, match="nothing to look at"):
        View().summary()

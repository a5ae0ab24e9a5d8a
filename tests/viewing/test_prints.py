"""Heads on paper."""

import pytest
import torch

from regard.errors import ShapeError
from regard.viewing.document import Drawn
from regard.viewing.heads import DenseHead
from regard.viewing.prints import draw_grid, draw_one

pytest.importorskip("matplotlib")


def test_tokens_are_named_where_they_can_be_read():
    w = torch.rand(2, 3)
    tokens = [["a", "b"], ["x", "y", "z"]]
    ax = draw_one(Drawn(DenseHead(w), 0, 1), tokens, "T").axes[0]
    assert [x.get_text() for x in ax.get_yticklabels()] == ["a", "b"]
    assert [x.get_text() for x in ax.get_xticklabels()] == ["x", "y", "z"]
    ax = draw_one(Drawn(DenseHead(w), 0, None), tokens, "T").axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("3 keys", "2 queries", "T")


def test_a_long_head_is_pooled_evenly_and_says_so():
    ax = draw_one(Drawn(DenseHead(torch.full((1700, 1700), 1 / 1700))), [], "").axes[0]
    cells = ax.images[0].get_array()
    assert cells.shape == (567, 567)
    assert ax.get_xlabel() == "1,700 keys (in 567 cells)"


def test_a_grid_has_a_row_a_layer_also_of_one_that_was_called_twice():
    heads = [DenseHead(torch.rand(4, 4), name, i) for name in "abb" for i in range(2)]
    figure = draw_grid([Drawn(head) for head in heads])
    images = [ax for ax in figure.axes if ax.images]
    assert len(images) == 6
    assert [ax.get_title() for ax in images] == ["head 0", "head 1", "", "", "", ""]
    assert [ax.get_ylabel() for ax in images[::2]] == [
        "layer a\nqueries",
        "layer b\nqueries",
        "layer b #2\nqueries",
    ]
    figure = draw_grid([Drawn(head) for head in heads], "$注意力$")
    figure.canvas.draw()  # which warns of letters that no font has
    assert figure.get_suptitle().startswith("$")
    for ax, head in zip(images, heads, strict=True):
        assert (torch.as_tensor(ax.images[0].get_array()).float() == head.weights).all()
    with pytest.raises(ShapeError, match="choose a layer, or one head"):
        draw_grid([Drawn(head) for head in heads[:3]])

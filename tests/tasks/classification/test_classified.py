"""What was found can be drawn, whatever it is."""

import numpy as np
import pytest
import torch

from regard.tasks.classification.classified import Classified

LIKELY = {"yes": 0.75, "no": 0.25}
FOUND = {
    "text": Classified("yes", LIKELY, "text", "good day", ("▁good", "▁day")),
    "sound": Classified(
        "yes", LIKELY, "sound", np.random.default_rng(0).random((3, 4)),
        ((0.0, 0.02), (0.02, 0.03)), (100.0, 300.0, 900.0, 2000.0),
    ),
    "images": Classified(
        "yes", LIKELY, "images", np.zeros((2, 3, 1), np.uint8), ((0, 0, 2, 2), (0, 2, 2, 3)),
    ),
}  # fmt: skip


def looking(kind):
    found = FOUND[kind]
    return Classified(
        found.label, found.probabilities, kind, found.content, found.places, found.pitches,
        lambda: torch.tensor([[0.9, 0.1], [0.5, 0.5]]),
    )  # fmt: skip


@pytest.mark.parametrize("kind", FOUND)
def test_weights_are_the_mean_of_the_looks(kind):
    found = looking(kind)
    assert found.weights.tolist() == pytest.approx([0.7, 0.3])
    assert found.probability == 0.75
    assert FOUND[kind].looks.shape == (0, 0)


def test_the_grid_of_an_image():
    np.testing.assert_allclose(looking("images").grid, [[0.7, 0.3]], rtol=1e-6)


@pytest.mark.parametrize("kind", FOUND)
def test_it_is_drawn(kind):
    pytest.importorskip("matplotlib")
    figure = looking(kind).draw("a title")
    words = [text.get_text() for ax in figure.axes for text in ax.texts]
    words += [ax.get_title("left") for ax in figure.axes]
    assert "a title" in words
    assert "75.0 %" in words


@pytest.mark.parametrize("kind", FOUND)
def test_it_is_drawn_with_characters(kind):
    lines = looking(kind).lines(width=40)
    assert any("█" in line for line in lines)
    assert all(len(line) <= 40 for line in lines)
    assert all(line.isascii() for line in looking(kind).lines(unicode=False))
    assert any("\x1b[48;2" in line for line in looking(kind).lines(color=True))

"""The same in characters: every column where it belongs, in any terminal."""

import re

import numpy as np
import pytest

from regard.errors import ShapeError
from regard.viewing.overlay_lines import image_lines, sound_lines, text_lines

COLOR = re.compile("\x1b\\[[0-9;]*m")
PIECES = ["▁A", "▁wonder", "ful", "▁西安", "▁day", "\x1b[2J"]
WEIGHTS = [0.0, 0.5, 0.1, 0.4, 0.05, 0.3]


def test_a_text_and_its_weights_line_up():
    words, marks = text_lines(PIECES, WEIGHTS)
    assert words == "A wonderful 西安 day�[2J"
    assert marks == "  ██████░░░ ████ ░░░▓▓▓▓"


def test_a_text_is_wrapped():
    lines = text_lines(["▁one", "▁two", "▁three"], [1.0, 0.0, 1.0], width=8)
    assert lines == ["one two", "███", "three", "█████"]


def test_a_text_in_colours_is_the_text():
    lines = text_lines(PIECES, WEIGHTS, color=True)
    assert [COLOR.sub("", line) for line in lines] == ["A wonderful 西安 day�[2J"]
    assert "48;2;255;255;255" in lines[0]  # nothing looked at is paper


def test_ascii():
    for line in text_lines(PIECES, WEIGHTS, unicode=False):
        assert line.isascii()


def test_a_sound():
    frames = np.zeros((20, 12))
    frames[10:, 6:] = 5.0  # high pitches in the second half
    lines = sound_lines(frames, [0.0, 0.0, 1.0, 0.5], 0.2, width=80)
    assert len(lines) == 6 + 2
    columns = 60
    assert lines[0] == " " * (columns // 2) + "█" * (columns // 2)
    assert lines[5] == ""
    assert lines[6] == " " * 30 + "█" * 15 + "▄" * 15
    assert lines[7] == "0" + " " * 53 + "0.20 s"


@pytest.mark.parametrize("width", [10, 20, 33, 80])
@pytest.mark.parametrize(("frames", "spans"), [(1, 1), (7, 4), (1000, 500)])
def test_a_sound_fits(frames, spans, width):
    x = np.random.default_rng(0).random((frames, 3))
    for color in (False, True):
        lines = sound_lines(x, np.ones(spans), frames / 100, width=width, color=color)
        assert len(lines) == 3 + 2
        assert max(len(COLOR.sub("", line)) for line in lines) <= width


def test_an_image_beside_its_weights():
    image = np.zeros((8, 8, 1))
    image[:, 4:] = 255
    lines = image_lines(image, [[1.0, 0.0], [0.0, 0.6]], patch=4)
    assert lines == ["    ████   ████"] * 2 + ["    ████       ▓▓▓▓"] * 2


@pytest.mark.parametrize("sides", [(1, 1), (3, 100), (100, 3), (64, 64), (7, 5)])
@pytest.mark.parametrize("width", [20, 80])
def test_an_image_fits(sides, width):
    image = np.random.default_rng(0).integers(0, 256, (*sides, 3))
    weights = np.ones([-(-side // 4) for side in sides])
    for color in (False, True):
        lines = image_lines(image, weights, patch=4, width=width, color=color)
        assert 1 <= len(lines) <= 24
        assert max(len(COLOR.sub("", line)) for line in lines) <= width


def test_refusals():
    with pytest.raises(ShapeError, match="weights"):
        text_lines(["▁a"], [0.5, 0.5])
    with pytest.raises(ShapeError, match="weights"):
        sound_lines(np.zeros((3, 3)), [], 0.1)
    with pytest.raises(ShapeError, match="weights"):
        image_lines(np.zeros((4, 4, 1)), [[1.0]], patch=2)


def test_what_is_no_number_is_nothing():
    assert text_lines(["▁a", "▁b"], [np.nan, 1.0]) == ["a b", "  █"]
    assert text_lines(["▁a", "▁b"], [0.0, 0.0]) == ["a b", ""]

"""Drawings of which words each word looked at."""

import io

import pytest
import torch

from regard.cli import attended
from regard.errors import ValueRangeError
from regard.tasks.tagging.tagged_words import MOST, Tagged, joined


def tagged(*words):
    return Tagged(words, ("X",) * len(words), (1.0,) * len(words))


def eye(text):
    return torch.eye(len(text))


def shown(text, weights=eye, encoding="utf-8"):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    attended.show(text, weights, stream)
    return stream.buffer.getvalue().decode(encoding).splitlines()


def test_a_row_a_word():
    assert shown(tagged("dogs", "bark")) == [
        "        dogs bark",
        "dogs/X  ████",
        "bark/X       ████",
    ]


def test_letters_a_terminal_cannot_show():
    assert shown(tagged("dogs", "é"), encoding="ascii") == [
        "        dogs ?",
        "dogs/X  ####",
        "?/X          ###",
    ]


def test_sentences_below_one_another():
    rows = shown(joined([tagged("a", "b"), tagged("c")]))
    assert [bool(row) for row in rows] == [True, True, True, False, True, True]


def test_a_sentence_too_long_is_told_and_the_others_are_drawn():
    def look(text):
        assert len(text) < MOST
        return eye(text)

    rows = shown(joined([tagged(*"a" * (MOST + 1)), tagged("c")]), look)
    assert rows[0] == "(2,001 words, which are too many to draw)"
    assert rows[2:] == ["     c", "c/X  ███"]


def test_nothing():
    assert shown(Tagged()) == []


def test_a_figure(tmp_path):
    assert attended.draw(tagged("a", "b"), eye, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert not attended.draw(Tagged(), eye, tmp_path / "b.png")
    assert not (tmp_path / "b.png").exists()


def test_a_text_too_long_for_a_figure(tmp_path):
    text = joined([tagged(*"a" * 1500), tagged(*"b" * 1500)])
    with pytest.raises(ValueRangeError, match="at most 2,000"):
        attended.draw(text, lambda _: pytest.fail("looked"), tmp_path / "a.png")

"""Drawings of alignments on the command line: see also test_translate."""

import io

import pytest
import torch

from regard.cli import alignments
from regard.errors import ValueRangeError
from regard.tasks.translation.translated import Translation


def test_nothing_is_drawn_of_nothing(tmp_path):
    stream = io.StringIO()
    alignments.show(Translation("", ""), stream)
    assert stream.getvalue() == ""
    assert not alignments.draw(Translation("", ""), tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_sentences_that_gave_nothing_are_left_out(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    full = Translation("a", "b", ("b",), ("a",), look=lambda: torch.ones(1, 1))
    empty = Translation("", "c", ("c",))
    stream = io.StringIO()
    alignments.show(Translation("a", "b c", parts=(full, empty, full)), stream)
    assert stream.getvalue() == "   b\na  ###\n\n   b\na  ###\n"  # a StringIO has no encoding


def test_too_long_for_a_figure_is_told_before_the_weights_are_made(tmp_path):
    never = Translation("a", "b", ("b",) * 9, ("a",) * 2001, look=lambda: pytest.fail("looked"))
    with pytest.raises(ValueRangeError, match="got 2,001 written and 9 read; draw a part"):
        alignments.draw(never, tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_weights_that_were_shown_are_not_kept():
    part = Translation("a", "b", ("b",), ("a",), look=lambda: torch.ones(1, 1))
    alignments.show(Translation("a a", "b b", parts=(part, part)), io.StringIO())
    assert "weights" not in vars(part)

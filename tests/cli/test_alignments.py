"""Drawings of alignments on the command line: see also test_translate."""

import io

import torch

from regard.cli import alignments
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

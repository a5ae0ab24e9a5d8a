"""Paragraphs are as wide as the terminal, up to a width one likes to read."""

import pytest

from regard.cli.prose import say


@pytest.mark.parametrize(("columns", "widest"), [("40", 40), ("300", 100)])
def test_width(columns, widest, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    say("self-attention " * 40)
    said = capsys.readouterr().out
    assert widest - len("self-attention ") < max(map(len, said.splitlines())) <= widest
    assert "-\n" not in said
    assert said.endswith("attention\n")

"""The translation at the end of the demo, and what is said where there is none."""

import sys
from pathlib import Path

import pytest

from regard.cli.demo_translation import SENTENCES, alignment_path, show
from regard.tasks.packed import ship
from regard.tasks.translation import translator as module
from regard.tasks.translation.translator import Translator
from regard.viewing.terminal import columns_of
from tests.tasks.translation.tiny import tiny_run


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    ship(tiny_run(tmp_path / "run"), tmp_path / "shipped" / "zh-en")
    monkeypatch.setattr(module, "_shipped", lambda: tmp_path / "shipped")
    monkeypatch.setenv("COLUMNS", "1000")


def test_sentences_and_one_drawing(shipped, capsys):
    show(None)
    got = capsys.readouterr()
    assert got.err == ""
    lines = got.out.splitlines()
    found = Translator.load("zh-en")(SENTENCES)
    assert lines[0] == "Attention at work, in the model zh-en:"
    assert [line.split() for line in lines[2:5]] == [[x.source, *x.text.split()] for x in found]
    starts = {
        columns_of(line[: line.rindex(x.text)]) for line, x in zip(lines[2:5], found, strict=True)
    }
    assert len(starts) == 1  # the translations stand below one another
    drawing = lines[lines.index("Where each word looked, darker for more:") + 2 :]
    assert "天" in drawing[0]
    assert sum(bool(set(line) & set("░▒▓█")) for line in drawing) == len(found[1].tokens)
    assert lines[-1] == f'Your own: regard translate "{SENTENCES[0]}" --show'


def test_the_figure_is_beside_the_first(shipped, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    show(tmp_path / "demo.svg")
    path = tmp_path / "demo-alignment.svg"
    assert path.read_bytes().startswith(b"<?xml")
    assert f"\nThe same is drawn in {path}\n" in capsys.readouterr().out
    assert alignment_path(Path("a/b.c.PNG")) == Path("a/b.c-alignment.PNG")


def test_without_a_model_one_line_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(module, "_shipped", lambda: tmp_path)
    show(tmp_path / "demo.png")
    assert (
        capsys.readouterr().out == "No translation to see: no model zh-en came with this regard\n"
    )
    assert not list(tmp_path.iterdir())


def test_without_sentencepiece_one_line_says_so(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    show(None)
    assert capsys.readouterr().out == "To see a translation too: pip install 'regard[text]'\n"

"""Tables: the same cells with rich and without, and nothing broken that need not be."""

import sys

import pytest

from regard.cli.table import print_table

HEADER = ("layer", "a long name of a column", "b")
CELLS = [("one", "k^1.00 n^1.00", "2"), ("  two", "", "30")]


def test_plain(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich", None)
    print_table(HEADER, [*CELLS, ("three", "", "")], strong={0})
    assert capsys.readouterr().out == (
        "layer  a long name of a column   b\n"
        "-----  -----------------------  --\n"
        "one              k^1.00 n^1.00   2\n"
        "  two                           30\n"
        "three\n"  # and no spaces behind it
        "\n"
    )


def test_rich_breaks_names_of_columns_before_cells(monkeypatch, capsys):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "32")
    print_table(HEADER, CELLS)
    said = capsys.readouterr().out
    assert "k^1.00 n^1.00 " in said
    assert "  two " in said
    assert HEADER[1] not in said
    assert said.split()[:4] == ["a", "long", "name", "layer"] or "column" in said.split()


def test_strong_rows_are_bold(monkeypatch, capsys):
    pytest.importorskip("rich")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    print_table(HEADER, CELLS, strong={1})
    lines = capsys.readouterr().out.splitlines()
    assert [("\x1b[1m" in line) for line in lines if "n^1.00" in line or "30" in line] == [
        False,
        True,
    ]


def test_rich_takes_no_commands_from_what_it_prints(capsys):
    pytest.importorskip("rich")
    print_table(("[red]", "[/x]"), [("[bold]a", "b")])
    said = capsys.readouterr().out
    assert [word for word in said.split() if "─" not in word] == ["[red]", "[/x]", "[bold]a", "b"]

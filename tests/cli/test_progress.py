"""A bar for long work at a terminal, and silence elsewhere."""

import io
import sys

import pytest

from regard.cli import progress as module
from regard.cli.progress import progress


class Terminal(io.StringIO):
    """A text that can be told to be a terminal."""


@pytest.fixture
def work(monkeypatch):
    """Work at a terminal; gives what was written to it."""

    def run(*, patience=-1.0, terminal=True, fail=False):
        # here and not in the fixture: pytest puts its own stderr in place when a test starts
        found = Terminal()
        monkeypatch.setattr(found, "isatty", lambda: terminal)
        monkeypatch.setattr(sys, "stderr", found)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setattr(module, "PATIENCE", patience)
        with progress() as tell:
            tell("first", 0.0)
            tell("second", 0.5)
            if fail:
                raise ZeroDivisionError(found.getvalue)
        return found.getvalue()

    return run


def test_long_work_shows_a_bar(work, capsys):
    pytest.importorskip("rich")
    said = work()
    assert "second" in said
    assert "50%" in said
    assert capsys.readouterr().out == ""


def test_quick_work_shows_none(work):
    pytest.importorskip("rich")
    assert work(patience=60.0) == ""


def test_an_error_ends_the_bar(work):
    pytest.importorskip("rich")
    with pytest.raises(ZeroDivisionError) as raised:
        work(fail=True)
    said = raised.value.args[0]()
    assert said.count("\x1b[?25l") == said.count("\x1b[?25h") == 1  # the cursor is back


def test_elsewhere_it_is_silent(work, monkeypatch):
    assert work(terminal=False) == ""
    monkeypatch.setitem(sys.modules, "rich", None)
    assert work() == ""

"""What is said while a training goes on."""

import io
import sys

import pytest

from regard.tasks.engine import live
from regard.tasks.engine.live import Live, Standing, duration

FULL = Standing(50, 900, 1, 3.214, "12,346 tokens/s", "BLEU 20.0 (best 21.6)", 5000.0)


def test_the_line():
    assert str(Standing(0, 900, 0)) == "step 0 of 900  epoch 0"
    assert str(FULL) == (
        "step 50 of 900  epoch 1  loss 3.21  12,346 tokens/s  BLEU 20.0 (best 21.6)  "
        "1 h 23 min left"
    )


def test_durations():
    assert [duration(x) for x in (0.2, 59.4, 90, 3599, 3600, 36000 + 60)] == [
        "0 s", "59 s", "2 min", "1 h", "1 h", "10 h",
    ]  # fmt: skip


def test_a_file_gets_a_line_now_and_then(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: now[0])
    with Live() as said:
        said.say("it begins")
        for second in range(70):
            now[0] = float(second)
            said.show(lambda: f"at {now[0]:.0f}")
    assert capsys.readouterr().err == "it begins\nat 31\nat 62\n"


def test_nothing_is_no_line(capsys, monkeypatch):
    monkeypatch.setattr(live, "EVERY", -1.0)
    with Live() as said:
        said.show(lambda: "", now=True)
    assert capsys.readouterr().err == ""


def test_the_others_are_silent(capsys, monkeypatch):
    monkeypatch.setattr(live, "EVERY", -1.0)
    with Live(silent=True) as said:
        said.say("it begins")
        said.show(lambda: "at 1")
    assert capsys.readouterr().err == ""


def test_a_terminal_has_one_line_that_changes(monkeypatch):
    pytest.importorskip("rich")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(live, "REDRAWN", -1.0)
    with Live() as said:
        said.show(lambda: "at [red] 1")
        said.say("it [red] goes")
        said.show(lambda: FULL)
    text = terminal.getvalue()
    assert "at [red] 1" in text
    assert "it [red] goes\n" in text
    assert "step 50 of 900  epoch 1" in text
    assert "\x1b[2K" in text  # the line is taken back

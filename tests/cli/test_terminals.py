"""What a terminal can show is found out from it and from what it says of itself."""

import io

import pytest

from regard.cli.terminals import has_colors, has_shades


class Stream(io.StringIO):
    def __init__(self, *, terminal=True, encoding="utf-8"):
        super().__init__()
        self.terminal, self.said = terminal, encoding

    def isatty(self):
        return self.terminal

    @property
    def encoding(self):
        return self.said


@pytest.mark.parametrize(
    ("told", "plain", "terminal", "wanted"),
    [
        ("truecolor", None, True, True),
        ("24bit", None, True, True),
        ("", None, True, False),
        ("truecolor", "1", True, False),
        ("truecolor", None, False, False),
    ],
)
def test_colors(monkeypatch, told, plain, terminal, wanted):
    monkeypatch.setenv("COLORTERM", told)
    if plain is None:
        monkeypatch.delenv("NO_COLOR", raising=False)
    else:
        monkeypatch.setenv("NO_COLOR", plain)
    assert has_colors(Stream(terminal=terminal)) is wanted


@pytest.mark.parametrize(
    ("encoding", "wanted"),
    [("utf-8", True), ("ascii", False), ("latin-1", False), (None, False), ("strange", False)],
)
def test_shades(encoding, wanted):
    assert has_shades(Stream(encoding=encoding)) is wanted

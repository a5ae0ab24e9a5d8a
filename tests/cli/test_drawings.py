"""What cannot be drawn is said before the work."""

import os
from pathlib import Path

import pytest

from regard.cli.drawings import check_drawings
from regard.errors import RegardError, ValueRangeError


def test_nothing_asked_for_nothing_checked():
    check_drawings(None, None, [], "TEXT")


def test_both_can_be_written(tmp_path):
    check_drawings(tmp_path / "new" / "x.png", tmp_path / "x.html", ["text"], "TEXT")
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


@pytest.mark.parametrize("given", [[], ["a", "b"]])
@pytest.mark.parametrize("flag", ["figure", "page"])
def test_of_one_thing_only(flag, given, tmp_path):
    paths = {"figure": None, "page": None} | {flag: tmp_path / "x.png"}
    with pytest.raises(ValueRangeError, match=f"^--{flag} .* one PATH, got {len(given) or 'none'}"):
        check_drawings(**paths, given=given, called="PATH")


def test_not_into_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "x.png")
    with pytest.raises(ValueRangeError, match="is a device or a pipe, not a file"):
        check_drawings(tmp_path / "x.png", None, ["text"], "TEXT")


@pytest.mark.parametrize(("figure", "page"), [("x.jpg", None), (None, "x.png")])
def test_not_as_something_else(figure, page):
    with pytest.raises(RegardError, match="is written as"):
        check_drawings(figure and Path(figure), page and Path(page), ["text"], "TEXT")

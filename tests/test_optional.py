import sys

import pytest

from regard.errors import MissingError
from regard.optional import has, need


def test_need_gives_the_module():
    assert need("json", extra="view", why="a test").loads("[1]") == [1]


def test_need_says_what_for_and_how_to_get_it():
    with pytest.raises(MissingError) as raised:
        need("no_such_package.part", extra="view", why="a heatmap")
    assert str(raised.value) == (
        "a heatmap needs no_such_package, which is not installed; pip install 'regard[view]'"
    )


def test_has_looks_without_importing(monkeypatch):
    monkeypatch.delitem(sys.modules, "this", raising=False)
    assert has("this")
    assert "this" not in sys.modules
    assert not has("no_such_package")


def test_has_takes_a_blocked_package_for_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "this", None)
    assert not has("this")

"""The file the page's arithmetic is held to is what regard computes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.viewing.golden import FILE, golden


@pytest.fixture(scope="module")
def both():
    return json.loads(FILE.read_text()), golden()


def test_the_points_and_the_queries_are_these(both):
    stored, now = both
    assert [stored[name] for name in ("x", "y", "queries")] == [
        now[name] for name in ("x", "y", "queries")
    ]
    assert [(c["kernel"], c["width"]) for c in stored["cases"]] == [
        (c["kernel"], c["width"]) for c in now["cases"]
    ]


def test_every_number_is_what_regard_computes(both):
    stored, now = both
    for old, new in zip(stored["cases"], now["cases"], strict=True):
        assert old.keys() == new.keys()
        for name in ("weights", "predictions", "leave_one_out"):
            assert [row is None for row in _rows(old, name)] == [
                row is None for row in _rows(new, name)
            ]
            for a, b in zip(_rows(old, name), _rows(new, name), strict=True):
                if a is not None:
                    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)


def _rows(case, name):
    value = case.get(name, [])
    return value if isinstance(value, list) else [value]

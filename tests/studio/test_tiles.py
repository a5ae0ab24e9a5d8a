"""Tiles: what they hold, what may be asked for, and what is kept of them."""

import struct

import pytest
import torch

from regard import Causal, Dot, Gaussian, weights
from regard.studio.guard import Refusal
from regard.studio.tiles import Cache, line, tile
from regard.viewing.captured import Captured
from regard.viewing.heads import heads_of


def read(data):
    """A tile as the page reads it: its numbers, and how many queries were read."""
    mark, rows, cols, every = struct.unpack("<4i", data[:16])
    assert mark.to_bytes(4, "little") == b"RGT1"
    assert len(data) == 16 + 4 * rows * cols
    return torch.frombuffer(bytearray(data[16:]), dtype=torch.float32).view(rows, cols), every


@pytest.fixture(scope="module", params=["dot", "causal", "gaussian"])
def both(request):
    torch.manual_seed(1)
    q, k = torch.randn(1, 2, 300, 8), torch.randn(1, 2, 300, 8)
    score = Gaussian(width=2.0) if request.param == "gaussian" else Dot()
    mask = Causal() if request.param == "causal" else None
    call = Captured("layer", q, k, score, mask)
    return heads_of(call), weights(q, k, score=score, mask=mask)[0]


def test_a_close_tile_holds_the_weights_themselves(both):
    heads, dense = both
    got, every = read(tile(heads, "map=1&r0=20&r1=120&c0=7&c1=207").answer())
    assert every == 1
    torch.testing.assert_close(got, dense[1, 20:120, 7:207], atol=1e-6, rtol=1e-5)


def test_a_far_tile_holds_means_or_maxima(both):
    heads, dense = both
    cells = dense[0].view(10, 30, 10, 30)
    got, every = read(tile(heads, "map=0&r0=0&r1=300&c0=0&c1=300&cells=10&reduce=mass").answer())
    torch.testing.assert_close(got, cells.sum(3).mean(1), atol=1e-6, rtol=1e-4)
    assert every == 1
    got, _ = read(tile(heads, "map=0&r0=0&r1=300&c0=0&c1=300&cells=10&reduce=max").answer())
    torch.testing.assert_close(got, cells.amax((1, 3)), atol=1e-6, rtol=1e-4)


def test_lines_are_a_query_or_a_key(both):
    heads, dense = both
    got, _ = read(line(heads, "map=0&axis=row&at=17&cells=1024").answer())
    torch.testing.assert_close(got, dense[0, 17:18], atol=1e-6, rtol=1e-5)
    got, _ = read(line(heads, "map=1&axis=col&at=299").answer())
    torch.testing.assert_close(got, dense[1, :, 299:], atol=1e-6, rtol=1e-5)


class Asked:
    """Notes how many cells it is asked for."""

    def __init__(self, n, m, work):
        self.n, self.m, self.work = n, m, work

    def tile(self, rows, cols, cells, reduce, budget):
        return cells

    def line(self, axis, at, cells, budget):
        return cells


def cells_of(kind, n, m, query, work=128):
    return kind([Asked(n, m, work)], f"map=0&{query}").work()


def test_no_more_cells_than_a_moment_is_enough_for():
    """Each cell takes a query that is read, and a query all of its keys."""
    whole = "r0=0&r1=1000000&c0=0&c1=1000000&cells=512"
    assert cells_of(tile, 10**6, 10**6, whole) == 134
    assert cells_of(tile, 10**6, 10**8, whole) == 64
    assert cells_of(tile, 10**6, 10**6, "r0=5&r1=500&c0=0&c1=500&cells=512") == 512  # exact
    assert cells_of(tile, 10**5, 10**5, "r0=0&r1=100000&c0=0&c1=100000&cells=512") == 512
    assert cells_of(line, 10**5, 10**5, "axis=col&at=1&cells=16384") == 1342
    assert cells_of(line, 10**4, 10**4, "axis=col&at=1&cells=16384") >= 10**4  # exact
    assert cells_of(line, 10**6, 10**6, "axis=row&at=1&cells=16384") == 16384  # one query alone
    # a score that takes longer leaves less
    assert cells_of(line, 10**5, 10**5, "axis=col&at=1&cells=16384", 1280) == 134


@pytest.fixture(scope="module")
def heads():
    return heads_of(torch.rand(2, 300, 300))


GOOD = {"map": "1", "r0": "0", "r1": "300", "c0": "0", "c1": "300", "cells": "10"}
WRONG = {
    "map": ["2", "-1", "", "x", "1.0", "01", "+1", " 1", "1e0", "99999999999", "%31", "\uff11"],
    "r0": ["-1", "300", "NaN", "inf", "1e400", "0x0", "10000000000000000000000"],
    "r1": ["0", "301", "-5", "nan", str(10**30)],
    "c0": ["300", "-0", "null"],
    "c1": ["0", "301", "[]"],
    "cells": ["0", "-1", "513", str(10**9), "NaN", "true"],
    "reduce": ["sum", "", "Mass", "mass ", "mass,max", "__class__"],
    "unknown": ["1"],
}


@pytest.mark.parametrize(("name", "value"), [(k, v) for k, some in WRONG.items() for v in some])
def test_a_tile_there_is_not(heads, name, value):
    query = "&".join(f"{k}={v}" for k, v in (GOOD | {name: value}).items())
    with pytest.raises(Refusal) as raised:
        tile(heads, query)
    assert raised.value.status == 400
    assert "\n" not in raised.value.why


@pytest.mark.parametrize(
    "query",
    [
        "",
        "&",
        "map",
        "map=1",
        "map=1&map=1&r0=0&r1=1&c0=0&c1=1",
        "map=1&r0=5&r1=5&c0=0&c1=1",
        "map=1&r0=5&r1=4&c0=0&c1=1",
        "map=1;r0=0;r1=1;c0=0;c1=1",
    ],
)
def test_a_query_that_asks_for_nothing(heads, query):
    with pytest.raises(Refusal):
        tile(heads, query)


@pytest.mark.parametrize(
    "query",
    [
        "map=0&axis=row",
        "map=0&axis=row&at=300",
        "map=0&axis=row&at=-1",
        "map=0&axis=diagonal&at=1",
        "map=0&at=1",
        "map=2&axis=row&at=1",
        "map=0&axis=row&at=1&cells=0",
        "map=0&axis=row&at=1&cells=16385",
        "map=0&axis=row&at=1&reduce=max",
    ],
)
def test_a_line_there_is_not(heads, query):
    with pytest.raises(Refusal):
        line(heads, query)


def test_nothing_of_theirs_is_sent_back(heads):
    evil = "<script>alert(1)</script>"
    for name in (*GOOD, "reduce", evil):
        with pytest.raises(Refusal) as raised:
            tile(heads, "&".join(f"{k}={v}" for k, v in (GOOD | {name: evil}).items()))
        assert "script" not in raised.value.why


def test_each_is_kept_by_all_that_it_depends_on(heads):
    asked = [
        tile(heads, f"map={number}&r0={r0}&r1=300&c0=0&c1=300&cells={cells}&reduce={reduce}")
        for number in (0, 1)
        for r0 in (0, 1)
        for cells in (10, 11)
        for reduce in ("mass", "max")
    ]
    assert len({one.key for one in asked}) == 16
    assert line(heads, "map=0&axis=row&at=1").key != line(heads, "map=0&axis=col&at=1").key


def test_what_was_not_looked_at_for_longest_is_let_go():
    cache = Cache(100)
    for name in "abc":
        cache.put(name, bytes(30))
    assert cache.get("a") is not None
    cache.put("d", bytes(30))
    assert [name for name in "abcd" if cache.get(name) is not None] == ["a", "c", "d"]
    cache.put("e", bytes(101))  # would push out all others for nothing
    assert cache.get("e") is None
    assert cache.get("d") is not None
    cache.put("d", bytes(5))
    assert cache.held == 90

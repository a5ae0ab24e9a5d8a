"""Which rung of the ladder is taken: as fine as there is room, and said."""

import pytest
import torch

from regard.errors import ValueRangeError
from regard.viewing.heads import heads_of
from regard.viewing.ladder import ENOUGH, KEYS, THUMBNAIL, fitted


def heads(count, n):
    torch.manual_seed(0)
    return heads_of(torch.randn(count, n, n).softmax(-1))


@pytest.mark.parametrize(
    ("most", "kind", "reduces"),
    [
        (1 << 20, "f4", ["exact"]),
        (300_000, "f2", ["exact"]),
        (60_000, "u1", ["mass", "max"]),
        (2_000, "u1", ["mass", "max"]),
        (800, "u1", ["mass"]),
    ],
)
def test_rungs(most, kind, reduces):
    block, (here,), notes = fitted(heads(1, 300), most, live=False)
    assert [grid["reduce"] for grid in here["grids"]] == reduces
    assert {grid["type"] for grid in here["grids"]} == {kind}
    assert len(block.deflated()) <= most
    assert bool(notes) == (reduces != ["exact"])


def test_single_weights_beside_a_pooled_map():
    _, (here,), _ = fitted(heads(1, 300), 60_000, live=False)
    assert ENOUGH <= here["top"]["count"] <= KEYS


def test_a_live_page_begins_with_thumbnails():
    _, maps, notes = fitted(heads(8, 600), 1 << 30, live=True)
    for here in maps:
        assert max(here["grids"][0]["rows"], here["grids"][0]["cols"]) <= THUMBNAIL
        assert here["top"] is None
    assert notes == []


def test_too_little_room_is_said():
    with pytest.raises(ValueRangeError, match="limit must leave room for 3 heads"):
        fitted(heads(3, 300), 90, live=False)

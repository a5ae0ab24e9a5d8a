"""Documents: what a page reads is what the heads say, as finely as the limit allows."""

import json
import re
import time
import zlib

import numpy as np
import pytest
import torch

from regard import Causal, Dot, overview
from regard.errors import ValueRangeError
from regard.viewing import notes
from regard.viewing.capturing import Captured, Captures
from regard.viewing.document import LIMIT, Drawn, attention, layers_of
from regard.viewing.heads import DenseHead, heads_of
from regard.viewing.page import as_json
from regard.viewing.reading import Reading, even

SIZES = {"f4": 4, "f2": 2, "u1": 1, "u2": 2, "u4": 4}


def captured(n, heads, layers=1, d=16, mask=None, sharp=0.6):
    torch.manual_seed(0)
    seen = Captures()
    for layer in range(layers):
        q = torch.randn(1, heads, n, d)
        k = sharp * q + 0.8 * torch.randn(1, heads, n, d)
        seen.add(Captured(f"layer.{layer}", q, k, Dot(), mask))
    return seen


def made(source, limit=LIMIT, **how):
    return attention([Drawn(head) for head in heads_of(source)], limit=limit, **how)


def numbers(document, run, count=None):
    """What a page reads, written anew: JSON, inflate, look up."""
    data = zlib.decompress(document.deflated)
    count = run["count"] if count is None else count
    assert run["at"] % 4 == 0
    assert run["at"] + count * SIZES[run["type"]] <= len(data)
    return np.frombuffer(data, f"<{run['type']}", count, run["at"])


def grid(document, here, reduce):
    (run,) = [x for x in here["grids"] if x["reduce"] == reduce]
    found = numbers(document, run, run["rows"] * run["cols"]).reshape(run["rows"], run["cols"])
    return found / 255 * run["one"] if run["type"] == "u1" else found


def test_a_small_map_is_exact():
    seen = captured(12, 3, layers=2, mask=Causal())
    document = made(seen, title="t", language="zh")
    maps = document.header["maps"]
    assert [(x["layer"], x["head"]) for x in maps] == [(i, j) for i in range(2) for j in range(3)]
    assert [x["name"] for x in document.header["layers"]] == ["layer.0", "layer.1"]
    for here in maps:
        call = seen[here["layer"]]
        dense = call.weights()[0, here["head"]]
        assert [x["type"] for x in here["grids"]] == ["f4"]
        assert (grid(document, here, "exact") == dense.numpy()).all()
        assert here["shape"] == "causal"
        assert here["top"] is None
        got = torch.from_numpy(numbers(document, here["entropy"]).copy())
        torch.testing.assert_close(got, call.entropy()[0, here["head"]])
        got = torch.from_numpy(numbers(document, here["received"]).copy())
        torch.testing.assert_close(got, call.received()[0, here["head"]])
    assert document.header["notes"] == []
    assert (document.header["title"], document.header["language"]) == ("t", "zh")


def test_then_exact_in_half_precision():
    seen = captured(64, 8)
    document = made(seen, limit=100_000)
    assert document.header["notes"] == []
    for here in document.header["maps"]:
        assert [x["type"] for x in here["grids"]] == ["f2"]
        dense = seen[0].weights()[0, here["head"]].numpy()
        assert np.abs(grid(document, here, "exact") - dense).max() <= 2**-11
    assert len(document.deflated) <= 75_000


def test_large_maps_are_written_in_pieces_without_gaps(monkeypatch):
    monkeypatch.setattr("regard.viewing.reading.AT_ONCE", 9)
    w = torch.rand(2, 31, 7)
    for limit, kind in ((LIMIT, "f4"), (1300, "f2")):
        document = made(w, limit=limit)
        for here in document.header["maps"]:
            assert here["grids"][0]["type"] == kind
            assert np.abs(grid(document, here, "exact") - w[here["head"]].numpy()).max() < 2**-11


@pytest.mark.parametrize(("n", "limit"), [(512, 200_000), (300, 60_000), (131, 20_000)])
def test_then_pooled_with_the_largest_weights_beside(n, limit):
    seen = captured(n, 2, mask=Causal())
    document = made(seen, limit=limit)
    (note,) = document.header["notes"]
    for here in document.header["maps"]:
        cells = here["grids"][0]["rows"]
        assert cells < n
        for reduce in ("mass", "max"):
            call = seen[0]
            wanted = overview(
                call.q, call.k, cells=cells, reduce=reduce, score=Dot(), mask=Causal()
            )
            wanted = wanted[0, here["head"]].numpy()
            found = grid(document, here, reduce)
            assert found.shape == wanted.shape
            assert np.abs(found - wanted).max() <= wanted.max() / 255 * 0.51
            assert here["grids"][0]["every"] == 1
        top, count = here["top"], here["top"]["count"]
        keys = numbers(document, top["keys"], n * count).reshape(n, count)
        weights = numbers(document, top["weights"], n * count).reshape(n, count)
        exact = seen[0].top(count)
        assert np.abs(weights - exact.weights[0, here["head"]].numpy()).max() <= 2**-11
        dense = seen[0].weights()[0, here["head"]].numpy()
        assert np.abs(np.take_along_axis(dense, keys.astype(int), 1) - weights).max() <= 2**-11
        assert top["keys"]["type"] == "u2"
        assert f"the {count} largest weights" in note["en"] or count == 1
        a_cell = -(-n // cells)
        assert f"{a_cell} x {a_cell}" in note["en"]
        assert f"{a_cell} x {a_cell}" in note["zh"]
        assert "regard view" in note["en"]
        assert "regard view" in note["zh"]
    assert 4 * -(-len(document.deflated) // 3) <= limit


def test_keys_beyond_65536_are_written_with_four_bytes():
    w = torch.rand(20, 70_000)
    w[torch.arange(20), 65_530 + torch.arange(20)] = 2.0
    document = made(w, limit=100_000)
    (here,) = document.header["maps"]
    count = here["top"]["count"]
    assert here["top"]["keys"]["type"] == "u4"
    keys = numbers(document, here["top"]["keys"], 20 * count).reshape(20, count)
    assert keys[:, 0].tolist() == list(range(65_530, 65_550))


def test_cells_hold_as_many_tokens_each():
    # else the mass in them makes stripes where everybody looks everywhere alike
    assert even(300, 256) == 150
    document = made(torch.full((300, 300), 1 / 300), limit=2_000)
    found = grid(document, document.header["maps"][0], "mass")
    assert found.std() < 1e-6


def test_512_tokens_and_144_heads_fit_and_are_made_in_a_few_seconds():
    seen = captured(512, 12, layers=12, d=32)
    start = time.process_time()
    document = made(seen)
    assert time.process_time() - start < 15  # 4 on one core
    assert 4 * -(-len(document.deflated) // 3) <= LIMIT
    maps = document.header["maps"]
    assert len(maps) == 144
    assert {x["top"]["count"] for x in maps} <= {4, 5, 6, 7, 8}
    assert maps[0]["grids"][0]["rows"] >= 64
    here = maps[77]
    found = numbers(document, here["top"]["weights"], 512 * here["top"]["count"])
    exact = seen[here["layer"]].weights()[0, here["head"]].amax(-1)
    assert np.abs(found.reshape(512, -1)[:, 0] - exact.numpy()).max() <= 2**-11


def test_maps_that_need_no_pooling_stay_exact_beside_those_that_do():
    big, small = torch.rand(400, 400), torch.rand(10, 12)
    drawn = [
        Drawn(head, model=name) for name, w in (("a", big), ("b", small)) for head in heads_of(w)
    ]
    document = attention(drawn, limit=20_000)
    assert [[x["reduce"] for x in here["grids"]] for here in document.header["maps"]] == [
        ["mass", "max"], ["exact"]
    ]  # fmt: skip
    found = grid(document, document.header["maps"][1], "exact")
    assert np.abs(found - small.numpy()).max() <= 2**-11


def test_the_same_heads_give_the_same_bytes():
    first, second = (made(captured(100, 3), limit=30_000) for _ in range(2))
    assert first.deflated == second.deflated
    assert as_json(first) == as_json(second)


def test_the_header_is_json_that_parses_back_equal():
    document = made(captured(20, 2), title="a <b> & \u2028 „c“")
    text = as_json(document)
    assert json.loads(text) == document.header
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.dumps(document.header, allow_nan=False)


def test_numbers_that_are_none_do_not_break_it():
    w = torch.rand(3, 40, 40)
    w[0, 3], w[1] = float("nan"), 0.0
    w[2, 0, 0] = 1e30
    for limit in (LIMIT, 3_000):
        document = made(w, limit=limit)
        text = as_json(document)
        assert json.loads(text) == document.header
    assert "entropy" not in document.header["maps"][0]["stats"]
    assert grid(document, document.header["maps"][1], "mass").max() == 0


def test_a_limit_that_nothing_fits_in_is_refused():
    with pytest.raises(ValueRangeError, match="limit must leave room for 3 heads, got 100 bytes"):
        made(torch.rand(3, 400, 400), limit=100)


def test_a_live_document_is_small_and_says_where_to_ask():
    document = made(captured(300, 2), live=True)
    assert document.header["live"] == {"tile": "tile", "line": "line"}
    assert [x["rows"] for x in document.header["maps"][0]["grids"]] == [300]  # quick to make
    document = made(captured(1200, 2), live=True)
    assert [x["rows"] for x in document.header["maps"][0]["grids"]] == [64, 64]
    assert document.header["maps"][0]["top"] is None
    assert made(captured(10, 2)).header["live"] is None


def test_long_maps_are_sampled_and_say_so(monkeypatch):
    monkeypatch.setattr("regard.viewing.ladder.GLANCE", 1)
    document = made(captured(3000, 1, d=8192 // 16), live=True)
    every = document.header["maps"][0]["grids"][0]["every"]
    assert every > 1
    # what is looked at closely is read whole, and the page says so of each picture
    assert document.header["notes"] == [notes.of_thumbnails(every)]
    monkeypatch.setattr("regard.viewing.ladder.BUDGET", 1)
    monkeypatch.setattr("regard.viewing.ladder.WHOLE", 1)
    document = made(captured(3000, 1, d=8192 // 16), limit=500_000)
    every = document.header["maps"][0]["grids"][0]["every"]
    assert every > 1
    assert document.header["notes"][-1] == notes.sampled(every)


def test_of_maps_of_several_lengths_only_the_long_ones_are_estimates(monkeypatch):
    monkeypatch.setattr("regard.viewing.ladder.WHOLE", 1)
    monkeypatch.setattr("regard.viewing.ladder.BUDGET", 1 << 20)
    drawn = [Drawn(head) for n in (40, 900) for head in heads_of(captured(n, 1))]
    document = attention(drawn, limit=20_000)
    every = [here["grids"][0]["every"] for here in document.header["maps"]]
    assert every[0] == 1 < every[1]
    assert document.header["notes"][-1] == notes.sampled(every[1], everywhere=False)


def test_room_is_not_kept_for_weights_that_are_not_written(monkeypatch):
    # of a sample no query's largest weights are told: with room for them cells were coarser
    monkeypatch.setattr("regard.viewing.ladder.GLANCE", 1 << 25)
    document = made(captured(3000, 1), live=True, limit=30_000)
    assert [x["rows"] for x in document.header["maps"][0]["grids"]] == [64, 64]


def test_many_long_heads_have_coarser_cells_before_they_take_long(monkeypatch):
    monkeypatch.setattr("regard.viewing.ladder.GLANCE", 4 * 3000 * (64 + 16) * 20)
    document = made(captured(3000, 4), live=True)
    assert {x["grids"][0]["rows"] for x in document.header["maps"]} == {32}


def test_all_that_is_told_of_a_head_is_told_of_the_same_queries(monkeypatch):
    monkeypatch.setattr("regard.viewing.ladder.GLANCE", 1 << 25)
    seen = captured(2000, 1)
    document = made(seen, live=True)
    (here,) = document.header["maps"]
    every = here["grids"][0]["every"]
    assert every == here["grids"][1]["every"] > 1
    read = seen[0].weights()[0, 0][every // 2 :: every]
    assert here["stats"]["first"] == pytest.approx(read[:, 0].mean().item(), rel=1e-4)
    wanted = read.sum(0) * 2000 / len(read)
    got = torch.from_numpy(numbers(document, here["received"]).astype("f4"))
    torch.testing.assert_close(got, wanted, rtol=2e-3, atol=1e-3)


def test_profiles_of_long_maps_are_means():
    head = DenseHead(torch.full((5000, 3000), 1 / 3000))
    reading = Reading(head, 8)
    assert len(reading.entropy) == len(reading.received) == 1024
    assert np.allclose(reading.received, 5 / 3)
    assert np.allclose(reading.entropy, np.log(3000))


def test_a_layer_called_twice_is_two_layers():
    heads = [DenseHead(torch.eye(2), "x", i) for i in (0, 1, 0, 1)]
    layers, places = layers_of([Drawn(head) for head in heads])
    assert [x["name"] for x in layers] == ["x", "x #2"]
    assert places == [0, 0, 1, 1]

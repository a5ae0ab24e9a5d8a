"""Heads: every tile, line and number against the softmax written out."""

import resource
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from regard import Dot, KindError, Lengths, ShapeError, ValueRangeError, rectangle
from regard.masks import Causal, Dense, NotSelf, Window
from regard.scores import Score
from regard.testing import qkv
from regard.viewing.captured import Captured, Captures
from regard.viewing.heads import heads_of
from tests.cases import MASKS, SCORES

B, HEADS, N, M, D = 2, 3, 50, 70, 6
Q, K, _ = qkv(B, HEADS, n=N, m=M, d=D, v=1)


@dataclass(frozen=True, eq=False)
class Alone(Score):
    """A score that no kernel knows, with a number for each head."""

    scale: torch.Tensor

    def pairwise(self, q, k):
        return -(torch.cdist(q, k) * self.scale[:, None, None])


def in_float(score):
    """Its parameters in float32, like q."""
    return score.frozen()


def written_out(q, k, score, mask):
    s = score.pairwise(q.double(), k.double())
    if mask is not None:
        s = s.masked_fill(~mask.dense(q.shape[-2], k.shape[-2], batch=q.shape[:-2]), -torch.inf)
    return torch.nan_to_num(torch.softmax(s, -1))


def pooled(w, cells, reduce):
    """Cell by cell, by the rule."""
    rows, cols = (
        torch.arange(size) if size <= cells else torch.arange(size) * cells // size
        for size in w.shape
    )
    grid = torch.zeros(int(rows[-1]) + 1, int(cols[-1]) + 1, dtype=w.dtype)
    for r in range(grid.shape[0]):
        for c in range(grid.shape[1]):
            cell = w[rows == r][:, cols == c]
            grid[r, c] = cell.sum(1).mean() if reduce == "mass" else cell.max()
    return grid


PARTS = [(slice(0, N), slice(0, M)), (slice(13, 47), slice(5, 66)), (slice(20, 23), slice(0, M))]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("score", ["dot", "slope", "additive-heads", "own", "alone"])
def test_tiles_are_pooled_from_the_softmax(score, mask):
    made = Alone(torch.tensor([0.5, 1.0, 2.0])) if score == "alone" else SCORES[score](D, HEADS)
    rule = MASKS[mask](B, N, M)
    whole = written_out(Q, K, made, rule)
    call = Captured("a", Q, K, made, rule)
    for entry, number in ((0, 1), (1, 0)):
        head, w = heads_of(call, entry)[number], whole[entry, number]
        assert (head.layer, head.number, head.n, head.m) == ("a", number, N, M)
        for rows, cols in PARTS:
            for reduce in ("mass", "max"):
                got = head.tile(rows, cols, cells=7, reduce=reduce)
                assert got.every == 1
                assert got.values.dtype == torch.float32
                wanted = pooled(w[rows, cols], 7, reduce).float()
                torch.testing.assert_close(got.values, wanted, rtol=1e-4, atol=1e-6)
            exact = head.tile(rows, cols, cells=70)
            torch.testing.assert_close(exact.values, w[rows, cols].float(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("mask", [None, Causal(20), Window(4, 2), NotSelf(), Lengths([3, 70])])
def test_unpooled_tiles_are_the_rectangle(mask):
    rows, cols = slice(11, 40), slice(3, 60)
    wanted = rectangle(Q, K, rows, cols, mask=mask)
    for entry in range(B):
        for number, head in enumerate(heads_of(Captured("", Q, K, Dot(), mask), entry)):
            got = head.tile(rows, cols)
            torch.testing.assert_close(got.values, wanted[entry, number], rtol=0, atol=1e-7)
    one = heads_of(Captured("", Q[0, 0], K[0, 0], Dot(), None))[0].tile(rows, cols)
    assert torch.equal(one.values, rectangle(Q[0, 0], K[0, 0], rows, cols))


@pytest.mark.parametrize("mask", [None, Causal(20), Window(4, 2), NotSelf()])
@pytest.mark.parametrize("score", ["dot", "gaussian", "slope"])
def test_a_budget_reads_every_so_many_queries_at_their_own_places(score, mask):
    made = SCORES[score](D, HEADS)
    w = written_out(Q, K, made, mask)[1, 2]
    head = heads_of(Captured("", Q, K, made, mask), 1)[2]
    budget = N * M * head.work // 4  # every 4th would do
    tile = head.tile(slice(0, N), slice(0, M), cells=10, budget=budget)
    assert tile.every == 4
    kept = torch.arange(2, N, 4)  # from the middle of the first four
    cell = kept * 10 // N
    assert cell.unique().tolist() == list(range(10))
    narrow = w[kept].unflatten(-1, (10, 7)).sum(-1)
    wanted = torch.stack([narrow[cell == c].mean(0) for c in range(10)]).float()
    torch.testing.assert_close(tile.values, wanted, rtol=1e-4, atol=1e-6)
    # every cell keeps a query, whatever the budget
    assert head.tile(slice(0, N), slice(0, M), cells=10, budget=1).every == 5
    assert head.tile(slice(3, 46), slice(0, M), cells=10, budget=1).every == 4
    assert head.tile(slice(0, N), slice(0, M), cells=50, budget=1).every == 1
    assert head.tile(slice(0, N), slice(0, M), cells=10, budget=N * M * head.work).every == 1


def test_no_cell_stays_empty_at_any_size():
    x = torch.zeros(97, 1)
    for n in (7, 29, 64, 97):
        (head,) = heads_of(Captured("", x[:n], x, Dot(), None))
        for cells in (1, 2, 3, 5, 7):
            got = head.tile(slice(0, n), slice(0, 97), cells=cells, budget=1)
            assert got.every == max(n // cells, 1)
            torch.testing.assert_close(got.values.sum(1), torch.ones(min(n, cells)))


def test_lines():
    mask = Causal(20)
    w = written_out(Q, K, Dot(), mask)[0, 1].float()
    head = heads_of(Captured("", Q, K, Dot(), mask))[1]
    torch.testing.assert_close(head.line("row", 17).values, w[17:18])
    torch.testing.assert_close(head.line("col", 9).values, w[:, 9:10])
    torch.testing.assert_close(
        head.line("row", 17, cells=10).values, w[17].unflatten(0, (10, 7)).amax(-1)[None]
    )
    torch.testing.assert_close(
        head.line("col", 9, cells=10).values, w[:, 9].unflatten(0, (10, 5)).amax(-1)[:, None]
    )
    sampled = head.line("col", 9, cells=10, budget=1)
    assert sampled.every == 5
    torch.testing.assert_close(sampled.values, w[2::5, 9:10])


def test_top_entropy_and_received():
    w = written_out(Q, K, Dot(), NotSelf())[1, 0].float()
    head = heads_of(Captured("", Q, K, Dot(), NotSelf()), 1)[0]
    best = head.top(3, slice(10, 20))
    torch.testing.assert_close(best.weights, w[10:20].topk(3).values)
    torch.testing.assert_close(w[10:20].gather(-1, best.keys), best.weights)
    assert head.top(2).keys.shape == (N, 2)
    torch.testing.assert_close(head.entropy(), torch.special.entr(w).sum(-1))
    torch.testing.assert_close(head.received(), w.sum(0))
    budget = N * M * head.work // 5
    torch.testing.assert_close(head.received(budget), w[2::5].mean(0) * N)
    torch.testing.assert_close(
        head.entropy(budget), torch.special.entr(w[2::5]).sum(-1).repeat_interleave(5)
    )
    short = heads_of(Captured("", Q[0, 0, :46], K[0, 0], Dot(), None))[0]
    assert short.entropy(46 * M * short.work // 5).shape == (46,)


def test_stats():
    x = torch.zeros(4, 1)
    (head,) = heads_of(Captured("", x, x, Dot(), Causal()))
    assert head.stats() == pytest.approx({
        "entropy": np.log([1, 2, 3, 4]).mean(),
        "distance": (0 + 1 / 2 + 3 / 3 + 6 / 4) / 4,
        "diagonality": (1 + 1 + 2 / 3 + 2 / 4) / 4,
        "first": (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4,
    }, rel=1e-5)  # fmt: skip
    eye = heads_of(torch.eye(5).repeat_interleave(2, 1)[:, :9])[0]  # [5, 9]: keys 2i and 2i + 1
    assert eye.shape == "cross"
    got = eye.stats()
    assert got["distance"] == pytest.approx(4 / 5)  # one of two keys is one away, four times
    assert got["diagonality"] == pytest.approx(9 / 5)
    tail = heads_of(Captured("", x[:2], x, Dot(), Causal(2)))[0]
    assert tail.stats()["distance"] == pytest.approx((3 / 3 + 6 / 4) / 2)
    sampled = heads_of(Captured("", Q, K, Dot(), None))[0]
    w = written_out(Q, K, Dot(), None)[0, 0]
    away = (torch.arange(M) - torch.arange(N)[:, None] * (M - 1) / (N - 1)).abs()
    assert sampled.stats()["distance"] == pytest.approx((w * away).sum(1).mean().item(), rel=1e-4)
    less = sampled.stats(budget=N * M * sampled.work // 5)
    assert less["distance"] == pytest.approx((w * away)[2::5].sum(1).mean().item(), rel=1e-4)
    assert less["first"] == pytest.approx(w[2::5, 0].mean().item(), rel=1e-4)


@pytest.mark.parametrize(
    ("n", "m", "mask", "shape"),
    [
        (5, 5, None, "self"),
        (5, 5, Causal(), "causal"),
        (5, 5, Causal(1), "self"),
        (5, 5, Window(2, 0), "causal"),
        (5, 5, NotSelf(), "self"),
        (5, 5, Causal() & NotSelf(), "causal"),
        (5, 5, Dense(torch.ones(5, 5).tril().bool()), "causal"),
        (5, 5, Dense(torch.ones(5, 5).triu().bool()), "self"),
        (3, 7, None, "cross"),
        (3, 7, Dense(torch.tensor([[True, True, False, False, False, False, False]])), "cross"),
        (3, 7, Causal(4), "causal"),
        (1, 7, None, "cross"),
    ],
)
def test_shape(n, m, mask, shape):
    q, k, _ = qkv(n=n, m=m, d=2, v=1)
    assert heads_of(Captured("", q, k, Dot(), mask))[0].shape == shape
    w = written_out(q, k, Dot(), mask)
    if not isinstance(mask, Dense) or n == m:
        assert heads_of(w)[0].shape == shape


@pytest.mark.parametrize("kind", ["tensor", "array", "half"])
def test_weights_that_are_there(kind):
    w = written_out(Q, K, Dot(), None).float()
    given = {"tensor": w, "array": w.numpy(), "half": w.half()}[kind]
    heads = heads_of(given)
    assert [(h.layer, h.number) for h in heads] == [(a, b) for a in "01" for b in range(3)]
    head, here = heads[4], torch.as_tensor(given)[1, 1].float()
    assert torch.equal(head.tile(slice(3, 9), slice(0, M)).values, here[3:9])
    for reduce in ("mass", "max"):
        got = head.tile(slice(3, 43), slice(0, 69), cells=9, reduce=reduce)
        torch.testing.assert_close(got.values, pooled(here[3:43, :69], 9, reduce))
    torch.testing.assert_close(head.entropy(), torch.special.entr(here).sum(-1))
    torch.testing.assert_close(head.received(), here.sum(0))
    assert [h.layer for h in heads_of(given[0])] == ["", "", ""]
    assert len(heads_of(given[0, 0])) == 1


def test_weights_that_come_in_other_ways():
    w = torch.rand(2, 4, 5)
    frozen = w.numpy().copy()
    frozen.setflags(write=False)
    assert torch.equal(heads_of(frozen)[1].tile(slice(0, 4), slice(0, 5)).values, w[1])
    small = heads_of(w.to(torch.float8_e4m3fn))[0]
    assert (small.tile(slice(0, 4), slice(0, 5)).values - w[0]).abs().max() < 0.1
    assert small.shape == "cross"
    turned = heads_of(w.permute(2, 1, 0).requires_grad_())
    assert torch.equal(turned[3].tile(slice(0, 4), slice(0, 2)).values, w[:, :, 3].T)
    for given in (torch.eye(4).to_sparse(), torch.empty(4, 4, device="meta")):
        with pytest.raises(KindError, match="must be there one by one"):
            heads_of(given)


def test_captures_and_chosen_heads_keep_their_names():
    seen = Captures()
    seen.add(Captured("a", Q[:, [2, 0]], K[:, [2, 0]], Dot(), None, heads=(2, 0)))
    seen.add(Captured("b", Q[:, 0], K[:, 0], Dot(), None))  # [b, n, d]: one head
    heads = heads_of(seen, 1)
    assert [(h.layer, h.number) for h in heads] == [("a", 2), ("a", 0), ("b", 0)]
    everything = (slice(0, 5), slice(0, 5))
    w = written_out(Q, K, Dot(), None).float()
    torch.testing.assert_close(heads[0].tile(*everything).values, w[1, 2, :5, :5])
    torch.testing.assert_close(heads[2].tile(*everything).values, w[1, 0, :5, :5])


def test_a_hundred_thousand_keys_in_little_memory():
    x, _, _ = qkv(n=100_000, m=1, d=4, v=1)
    (head,) = heads_of(Captured("", x, x, Dot(), Causal()))
    head.tile(slice(0, 100), slice(0, 100_000), cells=16)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    budget = 64 * 100_000 * head.work
    tile = head.tile(slice(0, 100_000), slice(0, 100_000), cells=64, budget=budget)
    assert tile.every == 100_000 // 64
    torch.testing.assert_close(tile.values.sum(1), torch.ones(64))
    assert head.line("col", 5, cells=64, budget=budget).values.shape == (64, 1)
    assert head.received(budget).sum() == pytest.approx(100_000, rel=1e-4)
    assert head.entropy(budget).shape == (100_000,)
    assert 0 < head.stats(budget)["distance"] < 100_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150 * 1024


def test_half_precision_is_worked_out_in_float32():
    q, k = Q.bfloat16(), K.bfloat16()
    head = heads_of(Captured("", q, k, Dot(), None))[0]
    wide = heads_of(Captured("", q.float(), k.float(), Dot(), None))[0]
    for of in (head, wide):
        assert of.tile(slice(0, 9), slice(0, 9)).values.dtype == torch.float32
    everything = (slice(0, N), slice(0, M))
    assert torch.equal(head.tile(*everything, 5).values, wide.tile(*everything, 5).values)
    assert torch.equal(head.tile(*everything).values, wide.tile(*everything).values)


def test_empty():
    (head,) = heads_of(torch.zeros(0, 4))
    assert head.tile(slice(0, 0), slice(0, 4)).values.shape == (0, 4)
    assert head.received().tolist() == [0.0] * 4
    assert head.stats()["entropy"] == 0
    (head,) = heads_of(Captured("", Q[0, 0], K[0, 0, :0], Dot(), None))
    assert head.tile(slice(0, N), slice(0, 0), cells=3).values.shape == (3, 0)


HEAD = heads_of(Captured("", Q, K, Dot(), None))[0]
ALL = (slice(None), slice(None))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: HEAD.tile(*ALL, cells=0), ValueRangeError,
         "cells must be an integer of at least 1, got 0"),
        (lambda: HEAD.tile(*ALL, reduce="mean"), ValueRangeError,
         "reduce must be 'mass' or 'max', got 'mean'"),
        (lambda: HEAD.tile(slice(0, 9, 2), slice(None)), ValueRangeError,
         "rows must be a slice with step 1, got step 2"),
        (lambda: HEAD.line("row", 50), ValueRangeError,
         "at must be the number of one of the 50 queries, from 0 on, got 50"),
        (lambda: HEAD.line("col", -1), ValueRangeError,
         "at must be the number of one of the 70 keys, from 0 on, got -1"),
        (lambda: HEAD.line("diagonal", 0), ValueRangeError,
         "axis must be 'row' or 'col', got 'diagonal'"),
        (lambda: HEAD.top(71), ValueRangeError,
         "count must be an integer from 1 to m=70, the keys, got 71"),
        (lambda: heads_of(Captured("", Q, K, Dot(), None), 2), ValueRangeError,
         "entry must be one of the 2 entries of the batch, from 0 on, got 2"),
        (lambda: heads_of("x"), KindError,
         "what is looked at is a capture, or weights [..., n, m], got str"),
        (lambda: heads_of(torch.ones(3)), ShapeError,
         "weights must be floating point numbers [..., n, m], got torch.float32 [3]"),
    ],
)  # fmt: skip
def test_message(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message

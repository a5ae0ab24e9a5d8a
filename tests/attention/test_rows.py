"""Rows of weights: any entry, any rows, never more at a time than was said."""

from dataclasses import dataclass

import pytest
import torch

from regard import Additive, Cauchy, Dot, Gaussian, Laplacian, Slope, Window, weights
from regard.attention import reference, rows
from regard.attention.rows import Rows
from regard.scores import Biased, Distances, Score
from regard.testing import qkv
from tests.cases import MASKS, SCORES

Q, K, _ = qkv(2, 3, n=20, m=30, d=4, v=1, dtype=torch.float64)
CLOSE = {"rtol": 1e-9, "atol": 1e-12}
TWICE = Biased(Dot() + Distances(torch.ones(3, 5).double()), Distances(torch.randn(3, 7).double()))


@pytest.fixture(params=[1 << 21, 200], ids=["whole", "in pieces"], autouse=True)
def pieces(request, monkeypatch):
    monkeypatch.setattr(rows, "AT_A_TIME", request.param)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(
    "score", ["dot", "additive-heads", "gaussian-feature", "slope", "distances", "two biases"]
)
def test_entries_and_steps(score, mask):
    made = TWICE if score == "two biases" else SCORES[score](4, 3)
    assert (made.form(Q, K) is None) == (score == "two biases")
    rule = MASKS[mask](2, 20, 30)
    w = weights(Q, K, score=made, mask=rule).reshape(6, 20, 30)
    whole = Rows(Q, K, made, rule)
    seen = torch.ones(6, 20, 30).bool()
    if rule is not None:
        seen = rule.dense(20, 30, batch=(2, 3)).reshape(6, 20, 30)
    ends = (seen * torch.arange(1, 31)).amax(-1)
    assert torch.equal(whole.ends(), ends)
    for b in (0, 2, 3):
        one = whole.entry(b)
        assert one.entries == 1
        torch.testing.assert_close(one(3, 17, 4), w[b : b + 1, 3:17:4], **CLOSE)
        found = list(one.blocks(1, 20, 3))
        assert found[0][0] == 0
        torch.testing.assert_close(torch.cat([x for _, x in found], 1), w[b : b + 1, 1::3], **CLOSE)
        got = one.rectangle(2, 9, 5, 30)
        torch.testing.assert_close(got, w[b : b + 1, 2:9, 5:30], **CLOSE)
        assert torch.equal(one.ends(), ends[b : b + 1])


def test_keys_that_no_query_of_a_block_sees_are_not_worked_out(monkeypatch):
    asked = []
    real = rows.Call.scores
    monkeypatch.setattr(rows.Call, "scores", lambda self, *a: asked.append(a) or real(self, *a))
    Rows(Q, K, Dot(), Window(3, 2))(10, 12)
    assert asked == [(10, 12, 1, 7, 14)]


@pytest.mark.parametrize("mask", MASKS)
def test_a_score_that_no_kernel_knows_and_all_heads_share(mask):
    @dataclass(frozen=True, eq=False)
    class Away(Score):
        power: float

        def pairwise(self, q, k):
            return -(torch.cdist(q, k) ** self.power)

    rule = MASKS[mask](2, 20, 30)
    w = weights(Q, K, score=Away(1.5), mask=rule).reshape(6, 20, 30)
    whole = Rows(Q, K, Away(1.5), rule)
    for b in (0, 2, 3):
        one = whole.entry(b)
        assert one.q.shape == (1, 20, 4)
        assert one.made(20) == 4
        torch.testing.assert_close(one(3, 17, 4), w[b : b + 1, 3:17:4], **CLOSE)
        assert torch.equal(one.ends(), whole.ends()[b : b + 1])


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("score", ["additive-heads", "gaussian-feature", "biased"])
def test_a_sample_of_queries_by_compiled_kernels(score, mask, monkeypatch):
    pytest.importorskip("numba")
    made = Gaussian(2.0) + Slope(torch.tensor([0.5, 1.0, 2.0]).double())
    made = made if score == "biased" else SCORES[score](4, 3)
    rule = MASKS[mask](2, 20, 30)
    wanted = [Rows(Q, K, made, rule).entry(b)(3, 19, 5) for b in (0, 5)]
    monkeypatch.setattr(rows, "MATERIALISE_UP_TO", 0)
    monkeypatch.setattr(rows, "_defined", None)  # not by the definition
    for b, w in zip((0, 5), wanted, strict=True):
        torch.testing.assert_close(Rows(Q, K, made, rule).entry(b)(3, 19, 5), w, **CLOSE)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_softmax_is_the_reference_s_to_the_last_bit(dtype):
    s = 30 * torch.randn(2, 7, 33, dtype=dtype)
    s[0, 0, :5], s[0, 1, 3], s[0, 2], s[1, 0, 2] = torch.inf, -torch.inf, -torch.inf, torch.nan
    s[1, 1] = torch.finfo(dtype).max
    for allowed in (None, torch.rand(2, 7, 33) < 0.5, torch.zeros(2, 7, 33).bool()):
        got = rows._softmax(s.clone(), allowed)
        wanted = reference.softmax(s, allowed)
        assert torch.equal(got.isnan(), wanted.isnan())
        assert torch.equal(got.nan_to_num(-1), wanted.nan_to_num(-1))


def test_what_a_score_gives_stays_as_it_is():
    given = torch.randn(30).double()

    @dataclass(frozen=True, eq=False)
    class Kept(Score):
        def pairwise(self, q, k):
            return given.expand(*q.shape[:-1], 30)

    before = given.clone()
    wanted = before.softmax(-1).expand(2, 3, 20, 30)
    torch.testing.assert_close(weights(Q, K, score=Kept()), wanted)
    assert torch.equal(given, before)


def test_what_a_weight_takes(monkeypatch):
    def work(score):
        return Rows(Q, K, score, None).entry(1).work

    w = torch.ones(4).double()
    assert work(Dot()) == rows.SOFTMAX + 4
    assert work(Gaussian(2.0)) == work(Laplacian(2.0)) == rows.SOFTMAX + 4 * rows.SIMPLE
    assert work(Additive(w)) == work(Cauchy(1.0)) == rows.SOFTMAX + 4 * rows.COMPILED
    assert work(TWICE) > 6 * work(Dot())  # all heads are worked out to have one
    monkeypatch.setattr(rows, "has", lambda name: False)
    assert work(Gaussian(2.0)) == rows.SOFTMAX + 4 * rows.UNCOMPILED


def test_long_rows_come_few_at_a_time():
    q, k, _ = qkv(2, 3, n=200, m=30_000, d=2, v=1)
    sizes = [w.shape[1] for _, w in Rows(q, k, Dot(), None).entry(0).blocks()]
    assert sizes[0] == rows.CACHED // 30_000 or rows.AT_A_TIME < rows.CACHED


def test_how_much_is_made_for_a_weight(monkeypatch):
    assert Rows(Q, K, Dot(), None).made(20) == 1
    assert Rows(Q, K, Gaussian(), None).made(20) == 4
    assert Rows(Q, K, TWICE, None).entry(0).made(20) == 6 * 4

"""Rows of weights: any entry, any rows, never more at a time than was said."""

from dataclasses import dataclass

import pytest
import torch

from regard import Dot, Gaussian, Window, weights
from regard.attention import rows
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


def test_how_much_is_made_for_a_weight(monkeypatch):
    assert Rows(Q, K, Dot(), None).made(20) == 1
    assert Rows(Q, K, Gaussian(), None).made(20) == 4
    assert Rows(Q, K, TWICE, None).entry(0).made(20) == 6 * 4

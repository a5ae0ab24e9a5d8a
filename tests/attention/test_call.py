import pytest
import torch

from regard import Additive, Causal, Dense, Distances, Documents, Dot, Gaussian, Lengths, Window
from regard.attention.call import make_call, pattern_of
from regard.testing import qkv
from tests.cases import MASKS, SCORES


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("score", SCORES)
def test_a_call_means_what_score_and_mask_mean(score, mask):
    q, k, v = qkv(3, 2, n=7, m=9, d=4, v=5, dtype=torch.float64)
    the_score, the_mask = SCORES[score](4, 2), MASKS[mask](3, 7, 9)
    call = make_call(q, k, v, the_score.form(q, k), the_mask)
    wanted = the_score.pairwise(q, k).reshape(6, 7, 9)
    torch.testing.assert_close(call.scores(), wanted, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(call.scores(2, 5), wanted[:, 2:5], rtol=1e-12, atol=1e-12)
    if the_mask is not None:
        seen = the_mask.dense(7, 9, batch=(3, 2)).reshape(6, 7, 9)
        assert torch.equal(call.allowed(), seen)
        assert torch.equal(call.allowed(2, 5), seen[:, 2:5])


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("score", SCORES)
def test_parts_of_a_call(score, mask):
    q, k, v = qkv(3, 2, n=7, m=9, d=4, v=5, dtype=torch.float64)
    the_mask = MASKS[mask](3, 7, 9)
    call = make_call(q, k, v, SCORES[score](4, 2).form(q, k), the_mask)
    some = (1, 6, 2, 3, 8)  # every second query from 1 to 6, the keys from 3 to 8
    wanted = call.scores()
    torch.testing.assert_close(call.scores(*some), wanted[:, 1:6:2, 3:8], rtol=1e-12, atol=1e-12)
    seen = call.allowed()
    assert torch.equal(call.allowed(*some), seen[:, 1:6:2, 3:8])
    for b in range(6):
        one = call.entry(b)
        torch.testing.assert_close(one.scores(), wanted[b : b + 1], rtol=1e-12, atol=1e-12)
        assert torch.equal(one.allowed(), seen[b : b + 1])


def test_what_is_shared_is_kept_once():
    q, k, v = qkv(3, 2, n=7, m=7, d=4, v=5)

    def made(score, mask=None):
        return make_call(q, k, v, score.form(q, k), mask)

    assert made(Gaussian(2.0)).p0.shape == (1, 4)
    assert made(Additive(torch.randn(2, 4))).p0.shape == (2, 4)
    assert made(Dot() + Distances(torch.randn(2, 3))).table.shape == (2, 13)
    assert made(Dot(), Causal()).lo.shape == (1, 7)
    assert made(Dot(), Lengths([1, 2, 3])).hi.shape == (3, 7)
    assert made(Dot(), Documents(torch.zeros(3, 7, dtype=torch.int64))).lo.shape == (3, 7)
    assert made(Dot(), Dense(torch.ones(7, 7, dtype=torch.bool))).dense.shape == (1, 7, 7)
    assert made(Dot(), Dense(torch.ones(1, 2, 7, 7, dtype=torch.bool))).dense.shape == (6, 7, 7)


def test_what_a_mask_s_type_tells():
    assert pattern_of(None) == "full"
    assert pattern_of(Causal()) == "causal"
    assert pattern_of(Causal(1)) == "spans"
    assert pattern_of(Lengths([1])) == "lengths"
    assert pattern_of(Lengths([[1]])) == "spans"
    assert pattern_of(Lengths([1]) & Causal()) == "spans"
    assert pattern_of(Window(1, 1)) == "spans"

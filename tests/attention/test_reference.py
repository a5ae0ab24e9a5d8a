"""The definition against itself written out with loops, and the contract it keeps."""

import math

import pytest
import torch

from regard import (
    Additive,
    Causal,
    Cosine,
    Dense,
    Dot,
    Epanechnikov,
    Gaussian,
    Lengths,
    NotSelf,
    Window,
)
from regard.attention import reference
from regard.masks import Mask
from regard.scores import Score
from regard.testing import qkv
from tests.cases import MASKS, SCORES


def written_out(q, k, v, score: Score, mask: Mask | None):
    """Score, mask, softmax, average: one query, one key, one feature at a time."""
    n, m = q.shape[-2], k.shape[-2]
    s = score.pairwise(q, k).tolist()
    seen = [[True] * m] * n if mask is None else mask.dense(n, m).tolist()
    out = []
    for i in range(n):
        e = [math.exp(s[i][j]) if seen[i][j] else 0.0 for j in range(m)]
        total = sum(e)
        out.append(
            [
                sum(e[j] * float(v[j, f]) for j in range(m)) / total if total else 0.0
                for f in range(v.shape[-1])
            ]
        )
    return torch.tensor(out, dtype=torch.float64).view(n, v.shape[-1])


@pytest.mark.parametrize("mask", [None, Causal(-2), Window(1, 1), NotSelf()], ids=repr)
@pytest.mark.parametrize("score", [Dot(), Gaussian(1.0), Epanechnikov(1.5), Cosine(0.2)], ids=repr)
def test_is_the_definition(score, mask):
    q, k, v = qkv(n=6, m=7, d=3, v=2, dtype=torch.float64)
    got = reference.attend(q, k, v, score, mask)
    torch.testing.assert_close(got, written_out(q, k, v, score, mask), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision_is_rounded_once(dtype):
    q, k, v = (x.to(dtype) for x in qkv(2, n=20, m=3000, d=8, v=4))
    got = reference.attend(q, k, v, Dot())
    exact = reference.attend(q.double(), k.double(), v.double(), Dot())
    assert got.dtype == dtype
    assert (got.double() - exact).abs().max() <= torch.finfo(dtype).eps * exact.abs().max()


@pytest.mark.parametrize("size", [0, 1, 5])
@pytest.mark.parametrize("name", SCORES)
def test_no_keys_no_queries_no_batch(name, size):
    score = SCORES[name](4, 2)
    for batch, n, m in ((0, 3, 4), (2, 0, 4), (2, 3, 0)):
        q, k, v = qkv(batch, 2, n=n, m=m, d=4, v=size, dtype=torch.float64)
        out = reference.attend(q, k, v, score)
        assert out.shape == (batch, 2, n, size)
        assert not out.any()


def test_a_query_that_sees_nothing_gets_zeros_and_sends_none():
    q, k, v = (x.requires_grad_() for x in qkv(2, n=3, m=4, d=5, v=6))
    out = reference.attend(q, k, v, Dot(), Lengths([0, 2]))
    assert not out[0].any()
    out.sum().backward()
    assert not q.grad[0].any()
    assert not k.grad[0].any()
    assert all(x.grad.isfinite().all() for x in (q, k, v))


def test_a_query_with_no_neighbour_gets_zeros_and_sends_none():
    q = torch.tensor([[0.0], [100.0]], requires_grad=True)
    k = torch.tensor([[0.1], [0.2]])
    out = reference.attend(q, k, torch.ones(2, 1), Epanechnikov(1.0))
    assert out.flatten().tolist() == pytest.approx([1.0, 0.0])
    assert not out[1].any()
    (1e30 * out).sum().backward()
    assert q.grad.isfinite().all()


@pytest.mark.parametrize("garbage", [math.nan, math.inf, -math.inf, 3e38, 1e4])
@pytest.mark.parametrize("mask", [m for m in MASKS if m != "none"])
def test_a_masked_key_is_absent(mask, garbage):
    rule = MASKS[mask](2, 5, 8)
    score = Additive(torch.randn(3))
    results = []
    for fill in (0.0, garbage):
        q, k, v = qkv(2, n=5, m=8, d=3, v=2)
        gone = ~rule.dense(5, 8, batch=(2,)).any(1).unsqueeze(-1)
        q, k, v = (
            x.requires_grad_() for x in (q, k.masked_fill(gone, fill), v.masked_fill(gone, fill))
        )
        out = reference.attend(q, k, v, score, rule)
        out.sin().sum().backward()
        results.append((out, q.grad, k.grad, v.grad))
    for clean, spoiled in zip(*results, strict=True):
        assert torch.equal(clean, spoiled)


def test_a_nan_that_is_seen_reaches_only_who_sees_it():
    q, k, v = qkv(1, n=4, m=4, d=3, v=2)
    k[0, 2, 1] = math.nan
    out = reference.attend(q, k, v, Dot(), Causal())
    assert out[0].isnan().any(-1).tolist() == [False, False, True, True]
    assert torch.equal(out[0, :2], reference.attend(q, k.nan_to_num(), v, Dot(), Causal())[0, :2])


def test_scores_beyond_float32_still_compare():
    q = torch.tensor([[1e30, -1e30]])
    k = torch.tensor([[1e30, 1e30], [1e30, 0.0], [-1e30, 1e30]])
    out = reference.attend(q, k, torch.tensor([[1.0], [2.0], [3.0]]), Dot())
    assert out.tolist() == [[2.0]]


def test_long_sums_keep_their_digits():
    k = torch.zeros(40_000, 1)
    out = reference.attend(torch.zeros(1, 1), k, torch.ones(40_000, 1), Dot())
    assert abs(float(out) - 1) < 1e-6


def test_a_dense_mask_is_taken_as_it_is():
    q, k, v = qkv(n=3, m=4, d=2, v=1, dtype=torch.float64)
    seen = torch.tensor([[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 0]], dtype=torch.bool)
    out = reference.attend(q, k, v, Dot(), Dense(seen))
    assert out[0, 0] == v[0, 0]
    assert out[1, 0] == 0

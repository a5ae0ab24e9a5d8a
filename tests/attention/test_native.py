"""torch's kernel, where it means the same: it must then mean the same."""

import math

import pytest
import torch

from regard import Causal, Dot, Lengths, attend, explain
from regard.attention import native
from regard.testing import qkv
from tests.cases import Case

MASKS = {
    "none": lambda b, m: None,
    "causal": lambda b, m: Causal(),
    "lengths": lambda b, m: Lengths(torch.arange(b) * m // max(b - 1, 1)),
}


# Its output keeps our budget. Its gradients do not always (its normalisers are float32), which is
# why a call that wants gradients is given to it only by name.
TORCH = 10.0


@pytest.mark.parametrize("size", [(1, 1), (1, 129), (31, 1), (70, 40), (40, 70)], ids=str)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_agrees(mask, size, dtype):
    n, m = size
    if mask == "causal":
        n = m  # torch aligns it in its own way otherwise, and is refused
    q, k, v = qkv(3, 2, n=n, m=m, d=8, v=8, dtype=torch.float64)
    for score in (Dot(), Dot(2.5)):
        Case(q, k, v, score, MASKS[mask](3, m)).agree("native", dtype, gradients=TORCH)


@pytest.mark.parametrize("garbage", [math.nan, math.inf, -math.inf, 3e38])
def test_a_masked_key_is_absent(garbage):
    results, mask = [], Lengths([9, 40])
    for fill in (0.0, garbage):
        q, k, v = qkv(2, n=20, m=40, d=8, v=8)
        gone = ~mask.dense(20, 40, batch=(2,)).any(1).unsqueeze(-1)
        q, k, v = (
            x.requires_grad_() for x in (q, k.masked_fill(gone, fill), v.masked_fill(gone, fill))
        )
        out = attend(q, k, v, mask=mask, impl="native")
        out.sin().sum().backward()
        results.append((out, q.grad, k.grad, v.grad))
    clean, spoiled = results
    assert all(torch.equal(a, b) for a, b in zip(clean, spoiled, strict=True))
    assert not spoiled[2].masked_select(gone).any()
    assert not spoiled[3].masked_select(gone).any()


def test_a_nan_that_is_seen_reaches_only_who_sees_it():
    q, k, v = qkv(1, n=90, m=90, d=8, v=8)
    k[0, 60] = math.nan
    out = attend(q, k, v, mask=Causal(), impl="native")
    assert out[0].isnan().any(-1).tolist() == [i >= 60 for i in range(90)]
    out = attend(q, k, v, impl="native")
    assert out.isnan().all()


@pytest.mark.parametrize("garbage", [math.nan, math.inf, 3e38])
def test_one_query_a_sequence_is_done_for_the_whole_batch(garbage, monkeypatch):
    q, k, v = qkv(3, 4, n=1, m=40, d=8, v=8, dtype=torch.float64)
    lengths = torch.tensor([40, 0, 17])
    wanted = attend(q, k, v, mask=Lengths(lengths), impl="reference")
    hidden = (torch.arange(40) >= lengths[:, None])[:, None, :, None]
    spoiled = [x.masked_fill(hidden, garbage) for x in (k, v)]
    monkeypatch.setattr(native, "_forward", None)  # it is not asked
    found = attend(q, k, v, mask=Lengths(lengths), impl="native")
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
    assert not found[1].any()
    assert torch.equal(attend(q, *spoiled, mask=Lengths(lengths), impl="native"), found)


def test_one_query_with_scores_beyond_float32():
    q, k, v = qkv(2, n=1, m=3, d=8, v=8)
    found = attend(3e38 * q.sign(), k, v, impl="native")
    wanted = attend(3e38 * q.sign().double(), k.double(), v.double(), impl="reference")
    torch.testing.assert_close(found, wanted.float())


def test_a_sequence_of_no_keys():
    q, k, v = (x.requires_grad_() for x in qkv(2, n=5, m=6, d=8, v=8))
    out = attend(q, k, v, mask=Lengths([0, 6]), impl="native")
    out.sum().backward()
    assert not out[0].any()
    assert not any(x.grad[0].any() for x in (q, k, v))


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0)], ids=str)
def test_empty_calls_give_zeros(shape):
    batch, n, m = shape
    q, k, v = qkv(batch, n=n, m=m, d=8, v=8)
    assert not attend(q, k, v, impl="native").any()
    assert not attend(q, k, v, mask=Lengths([0] * batch), impl="native").any()


def test_it_is_not_chosen_where_its_sums_lose_digits():
    q, k, v = torch.zeros(64, 4), torch.zeros(40_000, 4), torch.full((40_000, 4), 0.1)
    assert explain(q, k, v).refused[0] == (
        "native",
        "its float32 sums over m=40000 keys would lose digits",
    )
    assert (attend(q, k, v) - 0.1).abs().max() <= 1e-7
    assert (attend(q, k, v, impl="native") - 0.1).abs().max() > 1e-7  # or the limit can go


@pytest.mark.parametrize("size", [(1000, 1000, 32), (64, 3000, 64), (300, 300, 64)], ids=str)
@pytest.mark.parametrize("mask", MASKS)
def test_agrees_on_large_calls(mask, size):
    n, m, d = size
    n = m if mask == "causal" else n
    q, k, v = qkv(2, n=n, m=m, d=d, v=d, dtype=torch.float64)
    Case(q, k, v, Dot(), MASKS[mask](2, m)).agree("native", torch.float32, gradients=TORCH)


def test_the_same_bits_every_time():
    def run():
        q, k, v = (x.requires_grad_() for x in qkv(2, 3, n=150, m=310, d=24, v=24))
        out = attend(q, k, v, impl="native")
        return [out, *torch.autograd.grad(out.sin().sum(), (q, k, v))]

    first = run()
    for _ in range(20):
        assert all(torch.equal(a, b) for a, b in zip(first, run(), strict=True))

"""A Gaussian as a product: that it means the same, and what it does not depend on."""

import pytest
import torch

from regard import Causal, Cosine, Dot, Elementwise, Gaussian, Laplacian, Lengths, NotSelf, Slope
from regard.attention.call import make_call
from regard.attention.centred import _pieces, _short, applies, centred
from regard.scores import Biased
from regard.testing import qkv
from tests.cases import MASKS, in_dtype


def a_call(score, mask=None, *, d=16, away=0.0, dtype=torch.float64):
    q, k, v = qkv(3, 2, n=7, m=9, d=d, v=5, dtype=dtype)
    q, k = q + away, k + away
    return make_call(q, k, v, score.form(q, k), mask, precision="tf32")


def widths(*shape):
    return torch.linspace(0.5, 3, torch.Size(shape).numel(), dtype=torch.float64).view(shape)


@pytest.mark.parametrize("away", [0.0, 1000.0])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("width", [1.5, widths(16), widths(2, 1), widths(3, 2, 16)], ids=str)
def test_scores_are_those_of_the_gaussian_but_for_what_is_the_query_s_own(width, mask, away):
    given = a_call(Gaussian(width), MASKS[mask](3, 7, 9), away=away)
    call = centred(given)
    assert (call.phi, call.p0, call.q.shape[-1]) == ("q * k", None, 19)
    # where a pair is not seen its score means nothing
    seen = given.allowed()
    apart = torch.where(seen, call.scores() - given.scores(), 0)
    mean = apart.sum(-1, keepdim=True) / seen.sum(-1, keepdim=True).clamp_min(1)
    # the square is held to 33 bits
    torch.testing.assert_close(apart, torch.where(seen, mean, 0), rtol=0, atol=1e-6)


def test_a_bias_by_distance_stays_beside_it():
    call = centred(a_call(Gaussian(2.0) + Slope(torch.ones(2))))
    assert call.table.shape == (2, 15)


def test_the_square_is_in_pieces_that_tf32_holds():
    x = -(torch.linspace(-30, 30, 999, dtype=torch.float64).exp())
    first, second, third = _pieces(x)
    for piece in (first, second):
        assert not (piece.view(torch.int32) & 0x1FFF).any()
    # the last as a GPU may cut it
    third = (third.view(torch.int32) & -0x2000).view(torch.float32)
    found = first.double() + second.double() + third.double()
    assert ((found - x) / x).abs().max() < 2.0**-31
    assert ((first.double() - x) / x).abs().max() > 2.0**-12.1


def test_rounded_to_the_nearest():
    given = torch.tensor([1 + 3 * 2.0**-12, 1 + 2.0**-12, -1 - 3 * 2.0**-12, 0.0])
    assert _short(given).tolist() == [1 + 2.0**-10, 1.0, -1 - 2.0**-10, 0.0]


def test_the_pieces_have_the_gradient_of_their_sum():
    x = torch.tensor([3.3, -7.7], dtype=torch.float64, requires_grad=True)
    weight = torch.tensor([2.0, 5.0])  # the same for each, as ones in the queries give it
    loss = sum((weight * piece).sum() for piece in _pieces(x))
    assert torch.autograd.grad(loss, x)[0].tolist() == [2.0, 5.0]


def test_factors_are_small_far_from_the_origin():
    for mask in (None, Lengths([9, 5, 0]), Causal(), NotSelf()):
        call = centred(a_call(Gaussian(), mask, away=1e4, dtype=torch.float32))
        assert call.q[..., :16].abs().max() < 10
        assert call.k.abs().max() < 100


@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), 1e4, 3e38])
@pytest.mark.parametrize("mask", [Lengths([9, 5, 0]), Causal(), Lengths([9, 5, 0]) & NotSelf()])
def test_what_is_not_seen_is_not_there(mask, garbage):
    factors = []
    for fill in (0.0, garbage):
        q, k, v = qkv(3, n=7, m=9, d=16, v=5)
        seen = mask.dense(7, 9, batch=(3,))
        k = k.masked_fill(~seen.any(1).unsqueeze(-1), fill)
        q = q.masked_fill(~seen.any(2).unsqueeze(-1), fill)
        width = torch.ones(16, requires_grad=True)
        q, k = q.requires_grad_(), k.requires_grad_()
        call = centred(make_call(q, k, v, Gaussian(width).form(q, k), mask))
        grads = torch.autograd.grad(call.q.sum() + call.k.sin().sum(), (q, k, width))
        factors.append((call.q.detach(), call.k.detach(), *grads))
    assert all(torch.equal(a, b) for a, b in zip(*factors, strict=True))
    assert all(x.isfinite().all() for x in factors[1])


@pytest.mark.parametrize("mask", [Causal(), NotSelf()])
def test_a_key_that_some_do_not_see_changes_no_other(mask):
    # its score is hidden from them, so the centre must not tell
    q, k, v = qkv(1, n=9, m=9, d=16, v=5)
    calls = []
    for fill in (0.0, 7.0, float("nan")):
        k[:, 5] = fill
        calls.append(centred(make_call(q, k, v, Gaussian().form(q, k), mask)))
    others = torch.arange(9) != 5
    for call in calls[1:]:
        assert torch.equal(call.q, calls[0].q)
        assert torch.equal(call.k[:, others], calls[0].k[:, others])
    assert calls[2].k[:, 5].isnan().all()


@pytest.mark.parametrize(("n", "m", "batch"), [(0, 4, 2), (3, 0, 2), (3, 4, 0)])
def test_nothing_to_be_centred(n, m, batch):
    q, k, v = qkv(batch, n=n, m=m, d=16, v=5)
    for mask in (None, Causal(), Lengths([m] * batch)):
        call = centred(make_call(q, k, v, Gaussian().form(q, k), mask))
        assert call.q.shape == (batch, n, 19)
        assert call.k.shape == (batch, m, 19)
        assert call.q.isfinite().all()


def test_the_gradient_of_widths_is_one_a_width():
    score, learned = in_dtype(Gaussian(widths(2, 16)), torch.float32)
    call = centred(a_call(score, dtype=torch.float32))
    (found,) = torch.autograd.grad(call.q.sum(), list(learned.values()))
    assert found.shape == (2, 16)


def test_which_calls_are_products():
    def taken(score, impl="triton", features=16, precision="tf32"):
        return applies(impl, score, features, precision)

    assert taken(Gaussian())
    assert taken(Biased(Gaussian(widths(16)), Slope(torch.ones(1))))
    assert taken(Gaussian(), features=509)
    assert not taken(Gaussian(), features=15)
    assert not taken(Gaussian(), features=510)  # with its three columns it would not fit a tile
    assert not taken(Gaussian(), precision="exact")
    assert not any(taken(Gaussian(), impl=impl) for impl in ("cpu", "reference"))
    own = Elementwise(lambda q, k, a: a * ((q - k) * (q - k)), p0=1.0)
    assert not any(taken(score) for score in (Dot(), Cosine(), Laplacian(), own))

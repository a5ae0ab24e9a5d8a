"""The kernels against the definition: every score, mask and awkward size, output and gradients."""

import pytest
import torch

from regard import (
    Additive,
    Causal,
    Dense,
    Dot,
    Elementwise,
    Gaussian,
    Laplacian,
    Lengths,
    NotSelf,
    Uniform,
    Window,
    attend,
)
from regard.scores.expression import log
from regard.testing import qkv
from tests.cases import MASKS, SCORES, Case

# around the tiles of 32 rows and 128 keys
SIZES = [(1, 1), (1, 129), (31, 1), (33, 128), (70, 40), (40, 40), (65, 260)]
SHIFTED = {"gaussian", "gaussian-feature", "laplacian", "cauchy", "additive", "epanechnikov", "own"}


def case(score, mask, n, m, d=5, v=3, away=0.0, **options):
    q, k, x = qkv(2, 2, n=n, m=m, d=d, v=v, dtype=torch.float64)
    return Case(q + away, k + away, x, SCORES[score](d, 2), MASKS[mask](2, n, m), **options)


@pytest.mark.parametrize("size", SIZES, ids="n{0[0]}-m{0[1]}".format)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("score", SCORES)
def test_agrees(score, mask, size):
    case(score, mask, *size).agree("cpu", torch.float32)


@pytest.mark.parametrize("score", sorted(SHIFTED))
def test_agrees_far_from_the_origin(score):
    # |q|^2 - 2 q k + |k|^2 would cancel here, and exp(2 q) overflow
    for away in (100.0, -100.0):
        case(score, "window", 40, 60, away=away).agree("cpu", torch.float32)
    q, k, v = qkv(2, 2, n=40, m=60, d=5, v=3, dtype=torch.float64)
    Case(q + 100, k - 100, v, SCORES[score](5, 2)).agree("cpu", torch.float32)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("score", SCORES)
def test_agrees_in_every_dtype(score, dtype):
    case(score, "lengths-2d", 33, 129).agree("cpu", dtype)


@pytest.mark.parametrize("score", ["dot", "gaussian", "additive", "distances", "own"])
@pytest.mark.parametrize(
    "size", [(70, 300, 130, 17), (140, 257, 31, 66), (300, 520, 16, 1)], ids=str
)
def test_agrees_beyond_what_is_computed_in_float64(score, size):
    n, m, d, v = size
    case(score, "both", n, m, d, v).agree("cpu", torch.float32)


@pytest.mark.parametrize("reach", [0.3, 3.0, 15.0, 60.0, 400.0])
def test_additive_agrees_whatever_the_size_of_its_inputs(reach):
    # tanh sums, exponentials, exponentials off centre, and tanh itself
    q, k, v = qkv(2, n=150, m=300, d=32, v=24, dtype=torch.float64)
    q, k = (reach * x / x.abs().max() for x in (q, k))
    score = Additive(3 * torch.randn(32, generator=torch.Generator().manual_seed(1)).double())
    Case(q, k, v, score).agree("cpu", torch.float32)
    Case(q + 30, k - 30, v, score).agree("cpu", torch.float32)


@pytest.mark.parametrize("d", [1, 3, 31, 72, 96, 257, 512])
def test_any_width(d):
    for v in (1, 15, 16, 130):
        case("dot", "causal", 20, 30, d=d, v=v).agree("cpu", torch.float32)
    case("additive", "causal", 20, 30, d=d, v=d).agree("cpu", torch.float32)


@pytest.mark.parametrize("dropout", [0.1, 0.9])
@pytest.mark.parametrize("score", ["dot", "additive", "boxcar"])
def test_dropout_is_the_reference_s(score, dropout):
    case(score, "lengths", 70, 140, dropout=dropout, seed=11).agree("cpu", torch.float32)


def test_strides_do_not_matter():
    q, k, v = qkv(2, 3, n=40, m=150, d=6, v=20)
    wanted = attend(q, k, v, score=Gaussian(), impl="cpu")
    views = [
        (x.transpose(-1, -2).contiguous().transpose(-1, -2), x.repeat_interleave(2, -1)[..., ::2])
        for x in (q, k, v)
    ]
    for which in range(2):
        got = attend(*(x[which] for x in views), score=Gaussian(), impl="cpu")
        assert torch.equal(got, wanted)
    # queries that share memory
    got = attend(q[:, :1].expand(2, 3, 40, 6), k, v, score=Gaussian(), impl="cpu")
    assert torch.equal(got[:, 0], wanted[:, 0])


def test_gradients_arrive_through_an_expanded_gradient():
    q, k, v = (x.requires_grad_() for x in qkv(2, n=40, m=150, d=6, v=20))
    attend(q, k, v, score=Gaussian(), impl="cpu").sum().backward()  # a stride-0 gradient
    assert q.grad.isfinite().all()
    assert v.grad.sum() == pytest.approx(2 * 40 * 20, rel=1e-5)


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0)], ids=str)
def test_empty_calls_give_zeros(shape):
    batch, n, m = shape
    w = torch.randn(5, requires_grad=True)
    q, k, v = (x.requires_grad_() for x in qkv(batch, n=n, m=m, d=5, v=6))
    out = attend(q, k, v, score=Additive(w), impl="cpu")
    assert out.shape == (batch, n, 6)
    assert not out.any()
    out.sum().backward()
    assert not w.grad.any()
    assert all(not x.grad.any() for x in (q, k, v))


@pytest.mark.parametrize("m", [40_000, 1_000_000])
def test_long_sums_keep_their_digits(m):
    v = torch.full((m, 17), 0.1)
    out = attend(torch.zeros(40, 2), torch.zeros(m, 2), v, score=Laplacian(), impl="cpu")
    assert (out - 0.1).abs().max() <= 1e-7
    out = attend(torch.zeros(1, 1), torch.zeros(m, 1), v[:, :1], score=Uniform(), impl="cpu")
    assert (out - 0.1).abs().max() <= 1e-7


def test_dead_rows_change_nothing_for_the_others():
    q, k, v = qkv(1, n=90, m=300, d=40, v=30)
    lengths = torch.full((1, 90), 300)
    lengths[0, 10:50] = 0
    results = []
    for fill in (0.0, float("nan"), 1e30):
        x, y, z = (
            t.clone().requires_grad_()
            for t in (q.masked_fill((lengths == 0).unsqueeze(-1), fill), k, v)
        )
        out = attend(x, y, z, score=Additive(torch.ones(40)), mask=Lengths(lengths), impl="cpu")
        out.cos().sum().backward()
        assert not out[0, 10:50].any()
        assert not x.grad[0, 10:50].any()
        results.append((out, x.grad, y.grad, z.grad))
    for others in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], others, strict=True))


def test_a_nan_that_is_seen_reaches_only_who_sees_it():
    q, k, v = qkv(1, n=90, m=300, d=40, v=30)
    wanted = attend(q, k, v, score=Gaussian(), mask=Window(5, 5), impl="cpu")
    v[0, 60, 3] = float("nan")
    got = attend(q, k, v, score=Gaussian(), mask=Window(5, 5), impl="cpu")
    sees = torch.arange(90).sub(60).abs() <= 5
    assert torch.equal(got[0].isnan().any(-1), sees)
    assert torch.equal(got[0, ~sees], wanted[0, ~sees])


@pytest.mark.parametrize("where", ["q", "k", "v", "width", "formula"])
def test_nan_is_never_swallowed(where):
    x = dict(zip("qkv", qkv(2, n=90, m=300, d=4, v=3), strict=True))
    score = Gaussian(torch.tensor(1.0))
    if where in x:
        x[where][1, 7, 2] = float("nan")
    elif where == "width":
        score = Gaussian(torch.tensor(float("nan")))
    else:
        score = Elementwise(lambda q, k: log(q - k + 1.0))  # of a negative number, mostly
    got = attend(**x, score=score, impl="cpu").isnan()
    assert torch.equal(
        got, attend(**x, score=score, impl="reference").isnan().any(-1, keepdim=True).expand_as(got)
    )
    assert got.any()


@pytest.mark.parametrize("mask", [None, Causal(), Window(7, 3), NotSelf()], ids=repr)
def test_the_same_bits_every_time(mask):
    def run():
        q, k, v = (x.requires_grad_() for x in qkv(2, n=150, m=310, d=24, v=18))
        w = torch.linspace(-1, 1, 24).requires_grad_()
        out = attend(q, k, v, score=Additive(w), mask=mask, impl="cpu")
        return [out, *torch.autograd.grad(out.sin().sum(), (q, k, v, w))]

    first = run()
    for _ in range(20):
        assert all(torch.equal(a, b) for a, b in zip(first, run(), strict=True))


def test_a_batch_entry_alone_is_what_it_is_in_the_batch():
    q, k, v = qkv(3, n=70, m=300, d=40, v=20)
    together = attend(q, k, v, score=Gaussian(2.0), impl="cpu")
    for b in range(3):
        assert torch.equal(attend(q[b], k[b], v[b], score=Gaussian(2.0), impl="cpu"), together[b])


def test_as_many_threads_as_torch_and_the_same_output():
    q, k, v = qkv(2, n=150, m=310, d=24, v=18)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = attend(q, k, v, score=Gaussian(), impl="cpu")
        torch.set_num_threads(3)
        three = attend(q, k, v, score=Gaussian(), impl="cpu")
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(one, three)


def test_finite_numbers_give_finite_results():
    for size in (1e19, 1e30, 3e38):
        q, k, v = (x / x.abs().max() * size for x in qkv(2, n=40, m=150, d=40, v=20))
        for score in (Dot(), Gaussian(), Laplacian(1e-3), Additive(torch.ones(40))):
            assert attend(q, k, v, score=score, impl="cpu").isfinite().all()


def test_memory_is_linear_in_the_number_of_keys():
    # 20,000 x 20,000 weights would take 1.6 GB; a mask written out, 400 MB
    import resource

    q, k, v = qkv(n=20_000, m=20_000, d=4, v=4)
    attend(q[:600], k[:600], v[:600], score=Gaussian(), mask=Causal(), impl="cpu")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    attend(q, k, v, score=Gaussian(), mask=Window(500, 500), impl="cpu")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024


def test_a_dense_mask_may_be_one_for_all_or_one_a_sequence_or_one_a_head():
    q, k, v = qkv(2, 3, n=40, m=150, d=5, v=4, dtype=torch.float64)
    g = torch.Generator().manual_seed(0)
    for shape in ((40, 150), (2, 1, 40, 150), (1, 3, 40, 150), (2, 3, 40, 150), (2, 1, 1, 150)):
        seen = torch.rand(shape, generator=g) < 0.3
        Case(q, k, v, Gaussian(), Dense(seen)).agree("cpu", torch.float32)
        Case(q, k, v, Dot(), Dense(seen) & Causal(3)).agree("cpu", torch.float32)

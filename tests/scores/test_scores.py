"""Each score against its formula, written out pair by pair."""

import math

import pytest
import torch

from regard.scores import (
    Additive,
    Bilinear,
    Biweight,
    Boxcar,
    Cauchy,
    Cosine,
    CosineKernel,
    Distances,
    Dot,
    Elementwise,
    Epanechnikov,
    Gaussian,
    Laplacian,
    Slope,
    Triangular,
    Tricube,
    Uniform,
)
from regard.testing import qkv
from tests.cases import SCORES, in_dtype

Q, K, _ = qkv(n=4, m=5, d=3, v=1, dtype=torch.float64)
W = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
M = torch.arange(9, dtype=torch.float64).view(3, 3)


def product(kernel):
    return lambda q, k: sum(
        math.log(x) if (x := kernel((a - b) / 2.5)) > 0 else -math.inf
        for a, b in zip(q, k, strict=True)
    )


def inside(kernel):
    return product(lambda u: kernel(u) if abs(u) < 1 else 0.0)


def dot(q, k):
    return sum(a * b for a, b in zip(q, k, strict=True))


WRITTEN_OUT = {
    Uniform(): lambda q, k: 0.0,
    Dot(): lambda q, k: dot(q, k) / math.sqrt(3),
    Dot(0.25): lambda q, k: dot(q, k) * 0.25,
    Dot(torch.tensor(0.5)): lambda q, k: dot(q, k) * 0.5,
    Bilinear(M): lambda q, k: sum(q[i] * float(M[i, j]) * k[j] for i in range(3) for j in range(3)),
    Cosine(0.5): lambda q, k: dot(q, k) / math.sqrt(dot(q, q) * dot(k, k)) / 0.5,
    Additive(W): lambda q, k: sum(
        w * math.tanh(a + b) for w, a, b in zip(W.tolist(), q, k, strict=True)
    ),
    Gaussian(2.5): product(lambda u: math.exp(-u * u / 2)),
    Laplacian(2.5): product(lambda u: math.exp(-abs(u))),
    Cauchy(2.5): product(lambda u: 1 / (1 + u * u)),
    Boxcar(2.5): product(lambda u: 1.0 if abs(u) <= 1 else 0.0),
    Triangular(2.5): inside(lambda u: 1 - abs(u)),
    Epanechnikov(2.5): inside(lambda u: 1 - u * u),
    Biweight(2.5): inside(lambda u: (1 - u * u) ** 2),
    Tricube(2.5): inside(lambda u: (1 - abs(u) ** 3) ** 3),
    CosineKernel(2.5): inside(lambda u: math.cos(math.pi / 2 * u)),
    Elementwise(lambda q, k, a: a * q / (1 + k * k), p0=W): lambda q, k: sum(
        w * a / (1 + b * b) for w, a, b in zip(W.tolist(), q, k, strict=True)
    ),
}


@pytest.mark.parametrize("score", WRITTEN_OUT, ids=lambda s: type(s).__name__)
def test_pairwise_is_the_formula(score):
    wanted = torch.tensor(
        [[WRITTEN_OUT[score](q, k) for k in K.tolist()] for q in Q.tolist()], dtype=torch.float64
    )
    assert not torch.isinf(wanted).all()
    torch.testing.assert_close(score.pairwise(Q, K), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_the_form_for_kernels_is_the_definition(name):
    score, _ = in_dtype(SCORES[name](3, 2), torch.float64)
    q, k, _ = qkv(5, 2, n=4, m=6, d=3, v=1, dtype=torch.float64)
    form = score.form(q, k)
    got = form.pairwise()
    if form.bias is not None:
        got = got + form.bias.between(torch.arange(4), torch.arange(6))
    torch.testing.assert_close(got, score.pairwise(q, k), rtol=1e-12, atol=1e-12)


def test_widths_are_one_a_feature_or_one_a_head():
    q, k, _ = qkv(2, n=3, m=4, d=3, v=1, dtype=torch.float64)
    widths = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    by_feature = Gaussian(widths).pairwise(q, k)
    torch.testing.assert_close(by_feature, Gaussian(1.0).pairwise(q / widths, k / widths))
    by_head = Gaussian(torch.tensor([[1.0], [3.0]], dtype=torch.float64)).pairwise(q, k)
    torch.testing.assert_close(by_head[1], Gaussian(3.0).pairwise(q[1], k[1]))


def test_slope_takes_more_the_further_a_key_is():
    bias = Slope(torch.tensor([1.0, 0.5]), offset=1).between(torch.arange(2), torch.arange(3))
    assert bias.tolist() == [
        [[-1.0, 0.0, -1.0], [-2.0, -1.0, 0.0]],
        [[-0.5, 0.0, -0.5], [-1.0, -0.5, 0.0]],
    ]


def test_distances_beyond_the_table_count_as_its_end():
    bias = Distances(torch.tensor([10.0, 20.0, 30.0])).between(torch.arange(3), torch.arange(3))
    assert bias.tolist() == [[20.0, 30.0, 30.0], [10.0, 20.0, 30.0], [10.0, 10.0, 20.0]]


@pytest.mark.parametrize("bias", [Slope(torch.ones(2)), Distances(torch.randn(2, 5))], ids=repr)
def test_the_table_of_a_bias_holds_every_pair(bias):
    table = bias.table(4, 6, torch.device("cpu"))
    i, j = torch.arange(4)[:, None], torch.arange(6)
    assert torch.equal(table[:, j - i + 3], bias.between(torch.arange(4), torch.arange(6)))


def test_a_score_keeps_its_tensors_and_nothing_else():
    w = torch.zeros(3)
    assert Additive(w).tensors == (w,)
    assert Gaussian(1.0).tensors == ()
    slope = torch.ones(2)
    assert (Additive(w) + Slope(slope)).tensors == (w, slope)


def test_a_zero_vector_has_no_direction_and_a_finite_gradient():
    q = torch.zeros(1, 3, requires_grad=True)
    Cosine().pairwise(q, K.float()).sum().backward()
    assert Cosine().pairwise(q, K.float()).eq(0).all()
    assert q.grad.isfinite().all()

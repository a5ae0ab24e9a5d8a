import math

import torch

from regard import Cosine
from tests.scores.written_out import K, assert_is, dot


def test_is_the_cosine_of_the_angle():
    assert_is(Cosine(0.5), lambda q, k: dot(q, k) / math.sqrt(dot(q, q) * dot(k, k)) / 0.5)
    assert_is(
        Cosine(torch.tensor(2.0)), lambda q, k: dot(q, k) / math.sqrt(dot(q, q) * dot(k, k)) / 2
    )


def test_a_zero_vector_has_no_direction_and_a_finite_gradient():
    q = torch.zeros(1, 3, requires_grad=True)
    Cosine().pairwise(q, K.float()).sum().backward()
    assert Cosine().pairwise(q, K.float()).eq(0).all()
    assert q.grad.isfinite().all()

import torch

from regard import Elementwise
from tests.scores.written_out import assert_is

W = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)


def test_a_formula_of_one_s_own_with_no_one_and_two_parameters():
    assert_is(Elementwise(lambda q, k: q - 2 * k), lambda q, k: sum(q) - 2 * sum(k))
    assert_is(
        Elementwise(lambda q, k, a: a * q / (1 + k * k), p0=W),
        lambda q, k: sum(w * a / (1 + b * b) for w, a, b in zip(W.tolist(), q, k, strict=True)),
    )
    assert_is(
        Elementwise(lambda q, k, a, b: a * q + b * k, p0=2.0, p1=W),
        lambda q, k: sum(2 * a + w * b for w, a, b in zip(W.tolist(), q, k, strict=True)),
    )

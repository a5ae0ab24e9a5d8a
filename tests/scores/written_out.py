"""Scores written out pair by pair, in plain Python: what each file's score is held against."""

import math
from collections.abc import Callable

import torch

from regard.scores import Score
from regard.testing import qkv

Q, K, _ = qkv(n=4, m=5, d=3, v=1, dtype=torch.float64)
WIDTH = 2.5


def dot(q, k):
    return sum(a * b for a, b in zip(q, k, strict=True))


def product(kernel):
    """log of the product kernel, -inf where a factor is 0."""
    return lambda q, k: sum(
        math.log(x) if (x := kernel((a - b) / WIDTH)) > 0 else -math.inf
        for a, b in zip(q, k, strict=True)
    )


def inside(kernel):
    """The same for a kernel that ends at one width."""
    return product(lambda u: kernel(u) if abs(u) < 1 else 0.0)


def assert_is(score: Score, formula: Callable[[list[float], list[float]], float]) -> None:
    """Every pair scores what the formula says."""
    wanted = torch.tensor(
        [[formula(q, k) for k in K.tolist()] for q in Q.tolist()], dtype=torch.float64
    )
    assert not torch.isinf(wanted).all()
    torch.testing.assert_close(score.pairwise(Q, K), wanted, rtol=1e-12, atol=1e-12)

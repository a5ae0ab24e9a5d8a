import math

import torch

from regard import Additive
from tests.scores.written_out import assert_is

W = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)


def test_is_bahdanau_s():
    assert_is(
        Additive(W),
        lambda q, k: sum(w * math.tanh(a + b) for w, a, b in zip(W.tolist(), q, k, strict=True)),
    )

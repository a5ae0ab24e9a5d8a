import torch

from regard import Bilinear
from tests.scores.written_out import assert_is

W = torch.arange(9, dtype=torch.float64).view(3, 3)


def test_goes_through_the_matrix():
    w = W.tolist()
    assert_is(
        Bilinear(W), lambda q, k: sum(q[i] * w[i][j] * k[j] for i in range(3) for j in range(3))
    )

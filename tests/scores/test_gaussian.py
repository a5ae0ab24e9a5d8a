import math

import torch

from regard import Gaussian
from regard.testing import qkv
from tests.scores.written_out import WIDTH, assert_is, product


def test_is_the_logarithm_of_the_kernel():
    assert_is(Gaussian(WIDTH), product(lambda u: math.exp(-u * u / 2)))


def test_widths_are_one_a_feature_or_one_a_head():
    q, k, _ = qkv(2, n=3, m=4, d=3, v=1, dtype=torch.float64)
    widths = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    by_feature = Gaussian(widths).pairwise(q, k)
    torch.testing.assert_close(by_feature, Gaussian(1.0).pairwise(q / widths, k / widths))
    by_head = Gaussian(torch.tensor([[1.0], [3.0]], dtype=torch.float64)).pairwise(q, k)
    torch.testing.assert_close(by_head[1], Gaussian(3.0).pairwise(q[1], k[1]))

import math

import pytest
import torch

from regard import Biweight, Boxcar, CosineKernel, Epanechnikov, Triangular, Tricube
from tests.scores.written_out import WIDTH, assert_is, inside, product

KERNELS = {
    Boxcar: product(lambda u: 1.0 if abs(u) <= 1 else 0.0),
    Triangular: inside(lambda u: 1 - abs(u)),
    Epanechnikov: inside(lambda u: 1 - u * u),
    Biweight: inside(lambda u: (1 - u * u) ** 2),
    Tricube: inside(lambda u: (1 - abs(u) ** 3) ** 3),
    CosineKernel: inside(lambda u: math.cos(math.pi / 2 * u)),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_is_the_logarithm_of_the_kernel(kernel):
    assert_is(kernel(WIDTH), KERNELS[kernel])


@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if kernel is not Boxcar])  # flat
def test_what_lies_outside_has_no_slope(kernel):
    q = torch.tensor([[0.0], [9.0]], requires_grad=True)
    s = kernel(1.0).pairwise(q, torch.tensor([[0.25]]))
    assert s[1].item() == -math.inf
    s.exp().sum().backward()
    assert q.grad[1].item() == 0.0
    assert q.grad.isfinite().all()

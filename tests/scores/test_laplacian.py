import math

from regard import Laplacian
from tests.scores.written_out import WIDTH, assert_is, product


def test_is_the_logarithm_of_the_kernel():
    assert_is(Laplacian(WIDTH), product(lambda u: math.exp(-abs(u))))

from regard import Cauchy
from tests.scores.written_out import WIDTH, assert_is, product


def test_is_the_logarithm_of_the_kernel():
    assert_is(Cauchy(WIDTH), product(lambda u: 1 / (1 + u * u)))

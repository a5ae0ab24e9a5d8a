from regard import Uniform
from tests.scores.written_out import assert_is


def test_every_pair_scores_nothing():
    assert_is(Uniform(), lambda q, k: 0.0)

import math

import torch

from regard import Dot
from tests.scores.written_out import assert_is, dot


def test_the_default_scale_is_one_over_the_root_of_the_width():
    assert_is(Dot(), lambda q, k: dot(q, k) / math.sqrt(3))


def test_a_scale_that_is_given_or_learned():
    assert_is(Dot(0.25), lambda q, k: dot(q, k) * 0.25)
    assert_is(Dot(torch.tensor(0.5)), lambda q, k: dot(q, k) * 0.5)

import torch

from regard import Dense
from tests.masks.written_out import assert_is


def test_sees_what_is_written():
    i, j = torch.arange(8)[:, None], torch.arange(8)
    assert_is(Dense((i * j) % 3 == 1), lambda i, j: (i * j) % 3 == 1)
    assert_is(Dense(j[None] % 2 == 0), lambda i, j: j % 2 == 0)

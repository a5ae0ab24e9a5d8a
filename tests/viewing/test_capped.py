"""A capped dot product: by hand, and in the weights."""

import pytest
import torch

from regard import StateError, weights
from regard.masks import Causal
from regard.testing import qkv
from regard.viewing.capped import Capped
from regard.viewing.foreign import dot_product
from regard.viewing.visible import Added, added


def test_weights():
    q, k, _ = qkv(2, 3, n=5, m=7, d=4, v=1)
    s = 0.3 * torch.tanh(q @ k.mT * 0.7 / 0.3)
    s = s.masked_fill(~Causal(2).dense(5, 7), -torch.inf)
    torch.testing.assert_close(
        weights(q, k, score=Capped(0.7, 0.3), mask=Causal(2)), torch.softmax(s, -1)
    )


def test_what_distance_adds_comes_after_the_cap_and_what_keys_add_is_refused():
    q, k, _ = qkv(2, 3, n=5, m=7, d=4, v=1)
    bias = -(torch.arange(7) - torch.arange(5)[:, None]).abs() / 10
    q, k, score, mask = dot_product(q, k, 0.7, added(bias, 5, 7), cap=0.3)
    wanted = torch.softmax(0.3 * torch.tanh(q @ k.mT * 0.7 / 0.3) + bias, -1)
    torch.testing.assert_close(weights(q, k, score=score, mask=mask), wanted)
    with pytest.raises(StateError, match="caps its scores and adds to those of each key"):
        dot_product(q, k, 0.7, Added(None, None, torch.ones(7)), cap=0.3)

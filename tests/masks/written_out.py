"""Masks written out pair by pair: what each file's mask is held against."""

from collections.abc import Callable

import torch

from regard.masks import Mask


def assert_is(mask: Mask, rule: Callable[[int, int], bool], n: int = 8, m: int = 8) -> None:
    """Query i sees key j where the rule says so."""
    wanted = torch.tensor([[rule(i, j) for j in range(m)] for i in range(n)])
    assert torch.equal(mask.dense(n, m), wanted)

"""The weights a translator begins with."""

import pytest
import torch
from torch import nn

from regard.models.initial import initialise


def test_vectors_of_unit_length_small_matrices_and_no_bias():
    torch.manual_seed(0)
    net = nn.ModuleList([nn.Embedding(500, 64), nn.Linear(64, 32), nn.Linear(8, 8, bias=False)])
    initialise(net)
    assert net[0].weight.norm(dim=1).mean().item() == pytest.approx(1, rel=0.05)
    assert net[1].weight.abs().max().item() <= (6 / 96) ** 0.5
    assert net[1].weight.std().item() == pytest.approx((2 / 96) ** 0.5, rel=0.1)
    assert not net[1].bias.any()

import pytest
import torch

from regard.layers.unrolled import gradients, unroll
from regard.layers.unrolled.definition import run
from tests.layers.unrolled.calls import SIZES, arguments, loss


@pytest.mark.parametrize("dropped", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_they_are_those_of_the_definition(sizes, masked, dropped, monkeypatch):
    monkeypatch.setattr(gradients, "CHUNK", 40)  # several pieces
    given = arguments(sizes, torch.float64, masked=masked, dropped=dropped)
    got = torch.autograd.grad(loss(unroll(given)), given.tensors)
    clean = given
    if masked:
        there = given.allowed.unsqueeze(-1)
        clean = given._replace(
            keys=torch.where(there, given.keys, 0), values=torch.where(there, given.values, 0)
        )
    wanted = torch.autograd.grad(loss(run(clean).unrolled()), given.tensors)
    for mine, definition in zip(got, wanted, strict=True):
        torch.testing.assert_close(mine, definition, rtol=1e-10, atol=1e-10)

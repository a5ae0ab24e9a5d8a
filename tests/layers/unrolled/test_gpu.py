"""The GPU kernels, in Triton's interpreter where there is no GPU."""

import pytest
import torch

from regard.layers.unrolled import operation, unroll
from regard.layers.unrolled.definition import run
from tests.layers.unrolled.calls import SIZES, arguments, loss

pytest.importorskip("triton")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    monkeypatch.setattr(operation, "on_gpu", lambda given: True)


@pytest.mark.parametrize("dropped", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_kernels_are_the_definition(sizes, masked, dropped):
    given = arguments(sizes, torch.float32, masked=masked, dropped=dropped)
    drops = {
        name: None if x is None else x.double()
        for name, x in (("keep_weights", given.keep_weights), ("keep_states", given.keep_states))
    }
    exact = given._replace(**drops).with_tensors(tuple(x.detach().double() for x in given.tensors))
    for x in exact.tensors:
        x.requires_grad_()
    given = given._replace(
        **{
            name: None if x is None else x.detach().to(DEVICE)
            for name, x in zip(given._fields[7:], given[7:], strict=True)
        }
    )
    given = given.with_tensors(tuple(x.detach().to(DEVICE).requires_grad_() for x in given.tensors))
    got = unroll(given)
    grads = torch.autograd.grad(loss(got), given.tensors)

    clean = exact
    if masked:
        there = exact.allowed.unsqueeze(-1)
        clean = exact._replace(
            keys=torch.where(there, exact.keys, 0), values=torch.where(there, exact.values, 0)
        )
    definition = run(clean).unrolled()
    wanted = torch.autograd.grad(loss(definition), exact.tensors)
    for mine, right in zip((*got, *grads), (*definition, *wanted), strict=True):
        scale = right.abs().max().item() if right.numel() else 0
        atol = 4e-6 * scale + 1e-6
        torch.testing.assert_close(mine.cpu().double(), right, rtol=0, atol=atol)

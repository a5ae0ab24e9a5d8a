"""Runs of the recurrent decoder with random numbers, chosen to reach every branch."""

from __future__ import annotations

from typing import NamedTuple

import torch

from regard.layers.unrolled import Arguments, Cell, unroll
from regard.layers.unrolled.definition import run

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Sizes(NamedTuple):
    """Steps, sequences, source tokens, hidden units, units of the score, of a value, layers."""

    T: int
    b: int
    m: int
    h: int
    a: int
    v: int
    layers: int


# on both sides of a tile's edge, and the smallest there is
SIZES = [Sizes(5, 3, 4, 6, 6, 7, 3), Sizes(2, 2, 19, 10, 33, 5, 1), Sizes(3, 1, 1, 1, 1, 1, 2)]


def arguments(sizes, dtype, *, masked=False, dropped=False, seed=0):
    make = torch.Generator().manual_seed(seed)
    T, b, m, h, a, v, layers = sizes

    def random(*shape):
        size = shape[-1] ** -0.5 if len(shape) == 2 else 1.0
        return (size * torch.randn(*shape, dtype=dtype, generator=make)).requires_grad_()

    def kept(*shape):
        return 2 * torch.randint(2, shape, generator=make).to(dtype)

    first = Cell(random(3 * h, v), random(3 * h, h), random(3 * h))
    above = (
        Cell(random(3 * h, h), random(3 * h, h), random(3 * h), random(3 * h))
        for _ in range(layers - 1)
    )
    lens = torch.tensor([m, m // 2, 0])[:b, None]
    return Arguments(
        random(T, b, 3 * h),
        random(layers, b, h),
        random(b, m, a),
        random(b, m, v),
        random(a, h),
        random(a),
        (first, *above),
        torch.arange(m) < lens if masked else None,
        kept(T, b, m) if dropped else None,
        kept(T, layers - 1, b, h) if dropped and layers > 1 else None,
    )


def loss(got):
    """Something both outputs and last states have a part in."""
    outputs, states = got[:2]
    ramp = torch.arange(outputs.shape[-1], dtype=outputs.dtype, device=outputs.device)
    return (outputs.sin() * (1 + ramp)).sum() + states.square().sum()


def on_device(given):
    """The same numbers on a GPU, if there is one."""
    rest = {
        name: None if x is None else x.detach().to(DEVICE)
        for name, x in zip(given._fields[7:], given[7:], strict=True)
    }
    tensors = tuple(x.detach().to(DEVICE).requires_grad_() for x in given.tensors)
    return given._replace(**rest).with_tensors(tensors)


def agree(sizes, *, masked, dropped):
    """Hold ``unroll`` in float32, with all its gradients, to the definition in float64.

    It may be as wrong as the sizes of the numbers allow, or twice as wrong as the definition in
    float32, where digits cancel.
    """
    given = arguments(sizes, torch.float32, masked=masked, dropped=dropped)
    mine = on_device(given)
    got = unroll(mine)
    grads = torch.autograd.grad(loss(got), mine.tensors)
    same, exact = (_defined(given, dtype) for dtype in (torch.float32, torch.float64))
    for x, y, right in zip((*got, *grads), same, exact, strict=True):
        scale = right.abs().max().item() if right.numel() else 0
        error = (y - right).abs().max().item() if right.numel() else 0
        atol = max(4e-6 * scale + 1e-6, 2 * error)
        torch.testing.assert_close(x.cpu().double(), right, rtol=0, atol=atol)


def _defined(given, dtype):
    """Results and gradients by the definition, in this dtype."""
    drops = {
        name: None if x is None else x.to(dtype)
        for name, x in (("keep_weights", given.keep_weights), ("keep_states", given.keep_states))
    }
    leaves = tuple(x.detach().to(dtype).requires_grad_() for x in given.tensors)
    clean = given = given._replace(**drops).with_tensors(leaves)
    if given.allowed is not None:
        there = given.allowed.unsqueeze(-1)
        keys, values = (torch.where(there, x, 0) for x in (given.keys, given.values))
        clean = given._replace(keys=keys, values=values)
    got = run(clean).unrolled()
    return (*got, *torch.autograd.grad(loss(got), leaves))

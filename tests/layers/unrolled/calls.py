"""Runs of the recurrent decoder with random numbers, chosen to reach every branch."""

from __future__ import annotations

from typing import NamedTuple

import torch

from regard.layers.unrolled import Arguments, Cell


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

"""Calls that the tests of the GPU's kernels share."""

from __future__ import annotations

import torch

from regard import (
    Causal,
    Cosine,
    Dense,
    Distances,
    Documents,
    Dot,
    Elementwise,
    Gaussian,
    Laplacian,
    Lengths,
    NotSelf,
    Slope,
    Window,
)
from regard.testing import qkv
from tests import cases
from tests.cases import Case

GARBAGE = (float("nan"), float("inf"), 1e4, "max")
DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def learned(*shape, seed=7):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def number(x):
    return torch.tensor(x, dtype=torch.float64)


MATRIX = {
    "uniform": cases.SCORES["uniform"],
    "dot": cases.SCORES["dot"],
    "dot-0": lambda d, heads: Dot(0),
    "dot-negative": lambda d, heads: Dot(-0.6),
    "dot-3": lambda d, heads: Dot(3.0),
    "dot-learned": lambda d, heads: Dot(number(-0.4)),
    "bilinear": cases.SCORES["bilinear"],
    "cosine": lambda d, heads: Cosine(number(0.3)),
    "slope": cases.SCORES["slope"],
    "slope-shared": lambda d, heads: Dot(-0.6) + Slope(number(0.3), offset=2),
    "distances": lambda d, heads: Dot() + Distances(learned(heads, 9)),
}
FEATURES = {
    **{
        name: cases.SCORES[name]
        for name in (
            *("additive", "additive-heads", "gaussian", "gaussian-feature", "cauchy", "own"),
            *("epanechnikov", "boxcar", "triangular", "tricube", "biweight", "cosine-kernel"),
        )
    },
    "gaussian-heads": lambda d, heads: Gaussian(learned(heads, 1).exp() + 1),
    "laplacian": lambda d, heads: Laplacian(number(2.0)),
    "distances": lambda d, heads: Gaussian(number(2.0)) + Distances(learned(heads, 9)),
    "slope": lambda d, heads: Laplacian(number(2.0)) + Slope(learned(heads).abs()),
    "own-few": lambda d, heads: Elementwise(
        lambda q, k, a, b: a * (q - k) / (1.0 + b * (q - k) ** 2), p0=learned(d), p1=learned(d) ** 2
    ),
}
MASKS = {
    **{name: cases.MASKS[name] for name in cases.MASKS},
    "documents": lambda b, n, m: Documents(torch.arange(n) // 9) if n == m else Window(3, 3),
    "lengths-not-self": lambda b, n, m: Lengths(torch.arange(b) * m // b + m // b) & NotSelf(),
    "dense-causal": lambda b, n, m: Dense(learned(b, n, m) > -1) & Causal(offset=max(m - n, 0)),
    "window-not-self": lambda b, n, m: Window(left=20, right=20) & NotSelf(),
}


def a_case(score, mask, n, m, d=5, v=3, batch=2, *, size=1.0, away=0.0, **options):
    """A case of so many entries, each a sequence and a head; score and mask by name or made."""
    q, k, x = qkv(batch, n=n, m=m, d=d, v=v, dtype=torch.float64)
    table = MATRIX | FEATURES
    score = table[score](d, batch) if isinstance(score, str) else score
    mask = MASKS[mask](batch, n, m) if isinstance(mask, str) else mask
    return Case(q * size + away, k * size + away, x, score, mask, **options)


def as_far_as(reach, n, m, entries=1, device="cpu"):
    """q and k whose features go from -reach to reach; of two tokens of each, all as far."""
    q, k, v = (x.to(device) for x in qkv(entries, n=n, m=m, d=64, v=3))
    q, k = (reach * x / x.abs().amax((1, 2), keepdim=True) for x in (q, k))
    for x in (q, k):
        x[:, 0], x[:, 1] = reach, -reach
    return q, k, v


def filled(garbage, dtype):
    return torch.finfo(dtype).max if garbage == "max" else garbage

"""What the tests of attention share: scores and masks to try, and results to compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from regard import (
    Additive,
    Bilinear,
    Biweight,
    Boxcar,
    Cauchy,
    Causal,
    Cosine,
    CosineKernel,
    Dense,
    Distances,
    Documents,
    Dot,
    Elementwise,
    Epanechnikov,
    Gaussian,
    Laplacian,
    Lengths,
    NotSelf,
    Slope,
    Triangular,
    Tricube,
    Uniform,
    Window,
    attend,
)
from regard.masks import And, Mask
from regard.scores import Biased, Score
from regard.testing import assert_within_budget, budget_used


def _learned(*shape: int, seed: int = 7) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# Each makes a score for inputs with d features and `heads` heads, from float64 parameters.
SCORES = {
    "uniform": lambda d, heads: Uniform(),
    "dot": lambda d, heads: Dot(),
    "dot-scale": lambda d, heads: Dot(torch.tensor(0.7, dtype=torch.float64)),
    "bilinear": lambda d, heads: Bilinear(_learned(d, d) / d),
    "cosine": lambda d, heads: Cosine(0.3),
    "additive": lambda d, heads: Additive(_learned(d)),
    "additive-heads": lambda d, heads: Additive(_learned(heads, d)),
    "gaussian": lambda d, heads: Gaussian(torch.tensor(1.5, dtype=torch.float64)),
    "gaussian-feature": lambda d, heads: Gaussian(_learned(d).exp() + 1),
    "laplacian": lambda d, heads: Laplacian(2.0),
    "cauchy": lambda d, heads: Cauchy(torch.tensor(2.0, dtype=torch.float64)),
    "epanechnikov": lambda d, heads: Epanechnikov(torch.tensor(9.0, dtype=torch.float64)),
    "boxcar": lambda d, heads: Boxcar(3.0),
    "triangular": lambda d, heads: Triangular(9.0),
    "tricube": lambda d, heads: Tricube(9.0),
    "biweight": lambda d, heads: Biweight(9.0),
    "cosine-kernel": lambda d, heads: CosineKernel(9.0),
    "own": lambda d, heads: Elementwise(
        lambda q, k, a, b: a * (q - k) / (1.0 + b * (q - k) ** 2), p0=_learned(d), p1=2.0
    ),
    "slope": lambda d, heads: Dot() + Slope(_learned(heads).abs()),
    "distances": lambda d, heads: Gaussian(2.0) + Distances(_learned(heads, 9)),
}

MASKS = {
    "none": lambda b, n, m: None,
    "lengths": lambda b, n, m: Lengths(torch.arange(b) * m // max(b - 1, 1)),
    "lengths-2d": lambda b, n, m: Lengths(
        (torch.arange(b)[:, None] * 7 + torch.arange(n) * 3) % (m + 1)
    ),
    "causal": lambda b, n, m: Causal(),
    "causal-end": lambda b, n, m: Causal(offset=m - n),
    "window": lambda b, n, m: Window(left=5, right=2),
    "not-self": lambda b, n, m: NotSelf(),
    "documents": lambda b, n, m: Documents(torch.arange(n) // 9) if n == m else Window(3, 3),
    "dense": lambda b, n, m: Dense((torch.arange(n)[:, None] * 5 + torch.arange(m)) % 3 == 0),
    "both": lambda b, n, m: Lengths(torch.full((b,), m - m // 3)) & Window(9, 4) & NotSelf(),
}


class Result(NamedTuple):
    """The output and the gradient of everything that has one."""

    out: Tensor
    grads: dict[str, Tensor]


def in_dtype(
    score: Score, dtype: torch.dtype, device: str = "cpu"
) -> tuple[Score, dict[str, Tensor]]:
    """The score with its tensors in a dtype and wanting gradients, and those tensors by name."""
    if isinstance(score, Biased):
        inner, found = in_dtype(score.score, dtype, device)
        bias, more = in_dtype(score.bias, dtype, device)  # type: ignore[arg-type]
        return Biased(inner, bias), found | more  # type: ignore[arg-type]
    changed = {
        name: x.float().to(device, dtype).detach().requires_grad_()
        for name, x in vars(score).items()
        if isinstance(x, Tensor)
    }
    kept = {name: x for name, x in vars(score).items() if name != "text"}
    return type(score)(**(kept | changed)), changed


def on_device(mask: Mask | None, device: str) -> Mask | None:
    """The mask where the queries are; but for Dense, masks move by themselves."""
    if isinstance(mask, And):
        return And(*(on_device(part, device) for part in (mask.first, mask.second)))
    return Dense(mask.seen.to(device)) if isinstance(mask, Dense) else mask


@dataclass(frozen=True)
class Case:
    """One call, to be run by several implementations."""

    q: Tensor
    k: Tensor
    v: Tensor
    score: Score
    mask: Mask | None = None
    dropout: float = 0.0
    seed: int = 0
    device: str = "cpu"
    precision: str = "exact"

    def run(self, impl: str, dtype: torch.dtype, given: torch.dtype) -> Result:
        """Forward and backward in a dtype, on numbers that exist in the dtype ``given``."""
        q, k, v = (
            x.to(self.device, given).to(dtype).detach().requires_grad_()
            for x in (self.q, self.k, self.v)
        )
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        score, learned = in_dtype(self.score, wide, self.device)
        mask = on_device(self.mask, self.device)
        out = attend(
            q, k, v, score=score, mask=mask, dropout=self.dropout, seed=self.seed, impl=impl,
            precision=self.precision,
        )  # fmt: skip
        # every output counts, each differently
        loss = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).sin().to(given)
        loss = loss.to(self.device, dtype)
        wanted = {"q": q, "k": k, "v": v} | learned
        found = torch.autograd.grad(
            out, list(wanted.values()), loss.view(out.shape), allow_unused=True
        )
        grads = {
            name: torch.zeros_like(x) if g is None else g
            for (name, x), g in zip(wanted.items(), found, strict=True)
        }
        return Result(out.detach(), grads)

    def agree(self, impl: str, dtype: torch.dtype, gradients: float = 1.0) -> None:
        """The implementation stays within budget, in its output and in every gradient.

        ``gradients``: how many times the budget a gradient may take, for what is not ours.
        """
        exact = self.run("reference", torch.float64, dtype)
        same = self.run("reference", dtype, dtype)
        got = self.run(impl, dtype, dtype)
        if dtype == torch.float64:  # nothing to be nearer to: two ways to the same numbers
            torch.testing.assert_close(got.out, exact.out, rtol=1e-11, atol=1e-13)
            for name, g in got.grads.items():
                torch.testing.assert_close(g, exact.grads[name], rtol=1e-10, atol=1e-12)
            return
        assert_within_budget(got.out, same.out, exact.out, "out")
        for name, g in got.grads.items():
            if gradients != 1.0:
                used = budget_used(g, same.grads[name], exact.grads[name])
                assert used <= gradients, f"gradient of {name}: {used:.2f} times the budget"
                continue
            assert_within_budget(g, same.grads[name], exact.grads[name], f"gradient of {name}")

    def used(self, impl: str, dtype: torch.dtype) -> dict[str, float]:
        """How much of its budget each result uses."""
        exact = self.run("reference", torch.float64, dtype)
        same = self.run("reference", dtype, dtype)
        got = self.run(impl, dtype, dtype)
        used = {"out": budget_used(got.out, same.out, exact.out)}
        for name, g in got.grads.items():
            used[name] = budget_used(g, same.grads[name], exact.grads[name])
        return used

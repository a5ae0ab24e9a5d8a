"""Who computes a case: ours, the form of the notes, that form compiled, torch's own, and KeOps.

A provider that cannot run a case says why. What it needs before the call, a compiler or a mask
written out as n x m, is done in ``prepare`` and not counted: that is generous to the peers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.cases import Case
from benchmarks.inputs import Inputs
from regard import attend, overview

__all__ = ["PROVIDERS", "Provider", "textbook"]

Forward = Callable[[], Tensor]


@dataclass(frozen=True)
class Provider:
    """``refuses`` gives a reason or nothing; ``prepare`` gives what is timed."""

    name: str
    refuses: Callable[[Case], str]
    prepare: Callable[[Case, Inputs], Forward]
    ours: bool = False  # held to the contract's accuracy
    masked: bool = True  # False: leaves the mask away, so its answer is another one


def textbook(
    score: str, q: Tensor, k: Tensor, v: Tensor, *, w: Tensor | None, seen: Tensor | None
) -> Tensor:
    """Attention as the notes write it: everything broadcast, everything in memory."""
    if score == "additive":
        scores = torch.tanh(q.unsqueeze(-2) + k.unsqueeze(-3)) @ w
    elif score == "gaussian":
        scores = -((q.unsqueeze(-2) - k.unsqueeze(-3)) ** 2).sum(-1) / 2
    else:
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if seen is not None:
        scores = scores.masked_fill(~seen, -1e6)
    return functional.softmax(scores, dim=-1) @ v


def _written_out(x: Inputs) -> Tensor | None:
    if x.mask is None:
        return None
    batch, n, m = x.q.shape[:-2], x.q.shape[-2], x.k.shape[-2]
    return x.mask.allows(batch, n, m, x.q.device).expand(*batch, n, m)


def _nothing(case: Case) -> str:  # noqa: ARG001 - a refusal looks at the case
    return ""


def _only_attends(case: Case) -> str:
    return "gives the output, not the weights" if case.operation == "overview" else ""


def _makes_the_matrix(case: Case) -> str:
    size = 4 * case.shape.n * case.shape.m / 2**30
    whole = f"would make all the scores, {size:.2g} GiB, and their softmax, as much again"
    return whole if case.operation == "overview" else ""


def _ours(case: Case, x: Inputs) -> Forward:
    if case.operation == "overview":
        return lambda: overview(x.q, x.k, score=x.score, mask=x.mask)
    return lambda: attend(x.q, x.k, x.v, score=x.score, mask=x.mask)


def _unmasked(case: Case, x: Inputs) -> Forward:  # noqa: ARG001 - as every prepare
    return lambda: attend(x.q, x.k, x.v, score=x.score)


def _eager(case: Case, x: Inputs) -> Forward:
    seen = _written_out(x)
    return lambda: textbook(case.score, x.q, x.k, x.v, w=x.w, seen=seen)


def _compiled(case: Case, x: Inputs) -> Forward:
    torch._dynamo.reset()  # noqa: SLF001 - past 8 sizes it would run eagerly and not say so
    compiled = torch.compile(textbook, dynamic=False, fullgraph=True)
    seen = _written_out(x)
    return lambda: compiled(case.score, x.q, x.k, x.v, w=x.w, seen=seen)


def _refused_by_sdpa(case: Case) -> str:
    return _only_attends(case) or ("" if case.score == "dot" else "has the dot product only")


def _sdpa(case: Case, x: Inputs) -> Forward:
    seen = _written_out(x)
    if case.shape.heads > 1:
        return lambda: functional.scaled_dot_product_attention(x.q, x.k, x.v, seen)
    # three axes would fall to its slow path: give it the head it wants
    q, k, v, seen = (y if y is None else y.unsqueeze(1) for y in (x.q, x.k, x.v, seen))
    return lambda: functional.scaled_dot_product_attention(q, k, v, seen).squeeze(1)


def _refused_by_keops(case: Case) -> str:
    if case.mask is not None:
        return "has no masks but block-sparse ranges, which are no padding and no window"
    if find_spec("pykeops") is None:
        return "not installed: pip install pykeops"
    return _only_attends(case)


def _keops(case: Case, x: Inputs) -> Forward:
    import pykeops  # noqa: PLC0415 - looks for compilers when imported
    from pykeops.torch import LazyTensor  # noqa: PLC0415

    pykeops.set_verbose(False)

    def forward() -> Tensor:
        q = LazyTensor(x.q.unsqueeze(-2))
        k, v = (LazyTensor(y.unsqueeze(-3)) for y in (x.k, x.v))
        if case.score == "additive":
            w = LazyTensor(x.w.view(*(1,) * x.q.ndim, -1))
            tanh = 1 - 2 / (1 + (2 * (q + k)).exp())  # it has no tanh
            scores = (w * tanh).sum(-1)
        elif case.score == "gaussian":
            scores = -((q - k) ** 2).sum(-1) / 2
        else:
            scores = (q * k).sum(-1) / x.q.shape[-1] ** 0.5
        return scores.sumsoftmaxweight(v, dim=x.q.ndim - 1)

    return forward


PROVIDERS = {
    provider.name: provider
    for provider in (
        Provider("ours", _nothing, _ours, ours=True),
        Provider("unmasked", _only_attends, _unmasked, ours=True, masked=False),
        Provider("eager", _makes_the_matrix, _eager),
        Provider("compiled", _makes_the_matrix, _compiled),
        Provider("sdpa", _refused_by_sdpa, _sdpa),
        Provider("keops", _refused_by_keops, _keops),
    )
}

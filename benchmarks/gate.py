"""The gate: nobody is timed whose answer is wrong.

At a small size of the case the answer is held against the definition in float64. Ours may be at
most twice as wrong as the definition in float32, gradients too; a peer's accuracy is its own
business up to the point where it computes something else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from benchmarks.cases import Case
from benchmarks.inputs import Inputs, make_inputs
from benchmarks.providers import Provider
from regard import explain
from regard.attention import reference
from regard.testing import assert_within_budget

__all__ = ["Answer", "WrongAnswerError", "agree", "check", "implementation", "once"]

Answer = dict[str, Tensor]  # the output and, if asked for, every gradient
TOLERANCE = 1e-3


class WrongAnswerError(RuntimeError):
    """A peer computes something else than the case."""


def once(case: Case, x: Inputs, forward: Callable[[], Tensor]) -> Answer:
    """One call in the direction of the case: what is checked is what is timed."""
    if case.direction == "forward":
        with torch.no_grad():
            return {"out": forward()}
    out = forward()
    grads = torch.autograd.grad(out, tuple(x.learns.values()), x.dout)
    return {"out": out.detach(), **dict(zip(x.learns, grads, strict=True))}


def agree(got: Answer, wanted: Answer, what: str) -> None:
    """Raise if the two are further apart than rounding in float32 explains."""
    for name, exact in wanted.items():
        if got[name].shape != exact.shape:
            msg = f"{what}, {name}: shape {list(got[name].shape)}, not {list(exact.shape)}"
            raise WrongAnswerError(msg)
        off = ((got[name].double() - exact.double()).abs().max() / exact.abs().max()).item()
        if not off <= TOLERANCE:  # NaN is no agreement
            msg = f"{what}, {name}: wrong by {off:.1e} of the largest value; not timed"
            raise WrongAnswerError(msg)


def check(case: Case, provider: Provider) -> None:
    """Raise unless the provider's answer at a small size is right."""
    small = case.small()
    x = make_inputs(small)
    got = once(small, x, provider.prepare(small, x))
    exact = _defined(small, provider, torch.float64)
    what = f"{case.name}, {provider.name}"
    if not provider.ours:
        agree(got, exact, what)
        return
    same = _defined(small, provider, torch.float32)
    for name in exact:
        assert_within_budget(got[name], same[name], exact[name], f"{what}, {name}")
    small_impl, impl = implementation(small, provider, x), implementation(case, provider)
    assert small_impl == impl, f"{what}: {small_impl} was checked, {impl} would be timed"


def implementation(case: Case, provider: Provider, x: Inputs | None = None) -> str:
    """What attend would choose; nothing for who does not choose."""
    if not provider.ours or case.operation == "overview":
        return ""
    x = x or make_inputs(case)
    mask = x.mask if provider.masked else None
    return explain(x.q, x.k, x.v, score=x.score, mask=mask).impl


def _defined(case: Case, provider: Provider, dtype: torch.dtype) -> Answer:
    x = make_inputs(case, dtype)
    if case.operation == "overview":
        return {"out": _pooled(reference.softmax(x.score.pairwise(x.q, x.k), None), 512)}
    if not provider.masked:
        x = replace(x, mask=None)
    return once(case, x, lambda: reference.attend(x.q, x.k, x.v, x.score, x.mask))


def _pooled(weights: Tensor, cells: int) -> Tensor:
    """The mean over each run of rows of the sum over each run of columns."""
    n, m = weights.shape[-2:]
    rows, cols = torch.arange(n) * cells // n, torch.arange(m) * cells // m
    into = torch.nn.functional.one_hot(rows).to(weights.dtype)
    into_cols = torch.nn.functional.one_hot(cols).to(weights.dtype)
    return (into / into.sum(0)).T @ weights @ into_cols

"""``unroll``: all steps of the decoder as one differentiable operation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

import torch
from torch import Tensor

from regard.layers.unrolled import gradients
from regard.layers.unrolled.definition import Arguments, Trace, Unrolled, run
from regard.layers.unrolled.products import allows_tf32, products
from regard.optional import has

__all__ = ["free_launches", "unroll", "way"]

Way = Literal["kernel", "steps", "loop"]

# Weights the kernels read in a step, of all sequences: beyond, products over the batch are faster,
# launches and all. A step of the kernels reads 8 TB/s on an H200, one of torch costs 0.3 ms.
READ = 900_000_000
FEW = 32  # sequences that the kernels take even where launches cost nothing

_free = ContextVar("free", default=False)


@contextmanager
def free_launches() -> Iterator[None]:
    """Say that what runs here is recorded once and replayed, as in a CUDA graph.

    Then a step of torch's operations costs no more than its work, and products over the batch are
    faster than kernels that read all weights for each sequence.
    """
    before = _free.set(True)
    try:
        yield
    finally:
        _free.reset(before)


def unroll(given: Arguments) -> Unrolled:
    """Run all steps. See ``Arguments`` for what is given, ``run`` for what it means."""
    if given.allowed is not None:  # hidden tokens may hold anything; 0 * NaN must not come to be
        there = given.allowed.unsqueeze(-1)
        keys, values = (torch.where(there, x, 0) for x in (given.keys, given.values))
        given = given._replace(keys=keys, values=values)
    tensors, tf32 = given.tensors, allows_tf32(given.inputs.device)
    if torch.is_grad_enabled() and any(x.requires_grad for x in tensors):
        return Unrolled(*_Unroll.apply(given, tf32, *tensors))  # type: ignore[no-untyped-call]
    with products(given.inputs.device, tf32=tf32):
        return _forward(given, way(given)).unrolled()


def way(given: Arguments) -> Way:
    """Which code takes it.

    "kernel": one launch for all steps, in float32, where there is no more to read than pays.
    "steps": products over the batch and kernels between them, where launches cost nothing.
    "loop": the definition, and the gradient written by hand.
    """
    x = given.inputs
    if x.device.type != "cuda" or x.dtype != torch.float32 or not has("triton"):
        return "loop"
    if not x.numel() or not given.keys.numel() or not given.values.numel():
        return "loop"
    if _free.get() and x.shape[1] > FEW:
        return "steps"
    read = sum(w.numel() for cell in given.cells for w in (cell.W_ih, cell.W_hh)) * x.shape[1]
    return "kernel" if read <= READ else "loop"


def _forward(given: Arguments, by: Way) -> Trace:
    if by == "loop":
        return run(given)
    from regard.layers.unrolled import gpu, stepwise  # noqa: PLC0415 - triton, when first needed

    return gpu.run(given) if by == "kernel" else stepwise.run(given)


def _grads(
    given: Arguments, trace: Trace, d_outputs: Tensor, d_states: Tensor, by: Way
) -> Sequence[Tensor]:
    if by == "loop":
        back = gradients.steps_back(given, trace, d_outputs, d_states)
        return gradients.sums(given, trace, back)
    from regard.layers.unrolled import gpu, stepwise  # noqa: PLC0415 - triton, when first needed

    steps_back = gpu.steps_back if by == "kernel" else stepwise.steps_back
    back = steps_back(given, trace, d_outputs, d_states)
    return gradients.sums(given, trace, back, stepwise.keys_and_w)


class _Unroll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, given, tf32, *tensors):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN002, ANN205
        ctx.by, ctx.tf32 = way(given), tf32  # decided here: the way back runs in another thread
        with products(given.inputs.device, tf32=tf32):
            trace = _forward(given, ctx.by)
        ctx.given = given._replace(**_EMPTY)
        ctx.save_for_backward(*tensors, *trace)
        # copies: views of what is kept for the backward pass would keep all of it for ever
        got = tuple(x.clone() for x in trace.unrolled())
        ctx.mark_non_differentiable(got[2])
        return got

    @staticmethod
    def backward(ctx, d_outputs, d_states, _):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN205
        saved = ctx.saved_tensors
        tensors, trace = saved[: -len(Trace._fields)], Trace(*saved[-len(Trace._fields) :])
        given = ctx.given.with_tensors(tensors)
        with products(given.inputs.device, tf32=ctx.tf32):
            if torch.is_grad_enabled():  # a second derivative is wanted: through the definition
                return None, None, *_through_the_definition(given, d_outputs, d_states)
            return None, None, *_grads(given, trace, d_outputs, d_states, ctx.by)


# what autograd keeps for us, and must not be kept twice
_EMPTY = dict.fromkeys(("inputs", "states", "keys", "values", "W_q", "w_v", "cells"))


def _through_the_definition(
    given: Arguments, d_outputs: Tensor, d_states: Tensor
) -> Sequence[Tensor | None]:
    got = run(given).unrolled()
    wanted = [x for x in given.tensors if x.requires_grad]
    d = (d_outputs, d_states)
    found = iter(torch.autograd.grad(got[:2], wanted, d, create_graph=True, allow_unused=True))
    return [next(found) if x.requires_grad else None for x in given.tensors]

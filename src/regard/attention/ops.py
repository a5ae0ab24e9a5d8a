"""The operators torch sees: one forward, one backward, with fake tensors and derivatives.

``torch.compile`` keeps each as one node of its graph. Which kernel runs is an argument, and its
module is imported when the operator runs, not before. The backward operator is not differentiated
itself: when a second derivative is wanted, the first is taken through the definition. Where nobody
watches what torch is told, kernels are called as they are: a dispatcher's way costs more than they.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from regard.attention.absent import clean_rows
from regard.attention.call import Call
from regard.attention.modes import is_watched
from regard.attention.reference import average

__all__ = ["fused"]

_ARGUMENTS = (
    "Tensor q, Tensor k, Tensor v, Tensor? p0, Tensor? p1, Tensor? table, Tensor? lo, Tensor? hi, "
    "Tensor? dense, Tensor? seed, str phi, float scale, str pattern, bool not_self, "
    "float dropout, str precision, str impl"
)


def _call(args: tuple[Any, ...]) -> tuple[Call, str]:
    q, k, v, p0, p1, table, lo, hi, dense, seed, phi, scale, pattern, not_self, *rest = args
    dropout, precision, impl = rest
    mask = (pattern, lo, hi, not_self, dense)
    call = Call(q, k, v, phi, p0, p1, scale, table, *mask, dropout, seed, precision)
    return call, impl


@torch.library.custom_op(
    "regard::attend", mutates_args=(), schema=f"({_ARGUMENTS}) -> (Tensor, Tensor)"
)
def _attend(*args: Any) -> tuple[Tensor, ...]:  # noqa: ANN401 - the schema above types them
    return _forward(args)


def _forward(args: tuple[Any, ...]) -> tuple[Tensor, Tensor]:
    call, impl = _call(args)
    out, lse = _module(impl).forward(call)
    return out, lse.double()


def _module(impl: str) -> Any:  # noqa: ANN401 - each imports a library of its own
    return import_module(f"regard.attention.{impl}")


@_attend.register_fake
def _(*args: Any) -> tuple[Tensor, ...]:  # noqa: ANN401
    q, v = args[0], args[2]
    out = q.new_empty(q.shape[0], q.shape[1], v.shape[2])
    return out, q.new_empty(q.shape[0], q.shape[1], dtype=torch.float64)


_GRADIENTS = ", ".join(["Tensor"] * 6)


@torch.library.custom_op(
    "regard::attend_backward",
    mutates_args=(),
    schema=f"(Tensor dout, Tensor out, Tensor lse, {_ARGUMENTS}) -> ({_GRADIENTS})",
)
def _attend_backward(*args: Any) -> tuple[Tensor, ...]:  # noqa: ANN401
    return tuple(_or_nothing(g, args[3]) for g in _backward(*args))


def _backward(dout: Tensor, out: Tensor, lse: Tensor, *args: Any) -> tuple[Tensor | None, ...]:  # noqa: ANN401
    call, impl = _call(args)
    found: tuple[Tensor | None, ...]
    found = _module(impl).backward(call, out, lse, dout)
    return found


@_attend_backward.register_fake
def _(*args: Any) -> tuple[Tensor, ...]:  # noqa: ANN401
    inputs = args[3:9]  # q, k, v, p0, p1, table
    q = inputs[0]
    return tuple(q.new_empty(0) if x is None else x.new_empty(x.shape) for x in inputs)


def _or_nothing(x: Tensor | None, like: Tensor) -> Tensor:
    """An operator returns tensors only: an empty one stands for no gradient."""
    return like.new_zeros(0) if x is None else x


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:  # noqa: ANN401
    ctx.save_for_backward(*inputs[:10], *output)
    ctx.settings = inputs[10:]


def _differentiate(ctx: Any, dout: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
    *inputs, out, lse = ctx.saved_tensors
    args = (*inputs, *ctx.settings)
    if torch.is_grad_enabled():  # create_graph=True: somebody will differentiate again
        grads = _through_the_definition(ctx.needs_input_grad, args, dout)
    else:
        backward = _attend_backward if is_watched(dout, out, *inputs) else _backward
        found = backward(dout.contiguous(), out, lse, *args)
        wanted = zip(found, inputs[:6], ctx.needs_input_grad, strict=False)
        grads = tuple(g if x is not None and need else None for g, x, need in wanted)
    return (*grads, *(None,) * (len(args) - 6))


def _through_the_definition(
    needs: tuple[bool, ...], args: tuple[Any, ...], dout: Tensor
) -> tuple[Tensor | None, ...]:
    call, _ = _call(args)
    allowed = call.allowed()
    fine = clean_rows(call.q, call.k, call.v, allowed)
    s = replace(call, q=fine.q, k=fine.k).scores()
    out = average(s, fine.v, allowed, call.dropout, call.seed)
    wanted = [x for x, need in zip(args[:6], needs, strict=False) if need]
    found = iter(
        torch.autograd.grad(out, wanted, dout, create_graph=True, allow_unused=True)
        if wanted
        else ()
    )
    return tuple(next(found) if need else None for need in needs[:6])


_attend.register_autograd(_differentiate, setup_context=_remember)


class _Unwatched(torch.autograd.Function):
    """The operator's derivative without its dispatcher."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Tensor:  # noqa: ANN401
        found = _forward(args)
        _remember(ctx, args, found)
        return found[0]

    backward = staticmethod(_differentiate)


def fused(call: Call, impl: str) -> Tensor:
    """Run a call on a fused implementation, as one operator."""
    tensors = (call.q, call.k, call.v, call.p0, call.p1, call.table)
    beside = (call.lo, call.hi, call.dense, call.seed)
    numbers = (call.phi, call.scale, call.pattern, call.not_self, call.dropout, call.precision)
    args = (*tensors, *beside, *numbers, impl)
    if is_watched(*tensors):
        out: Tensor = _attend(*args)[0]
    elif torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors):
        out = _Unwatched.apply(*args)  # type: ignore[no-untyped-call]
    else:
        with torch.no_grad():
            out, _ = _module(impl).forward(call)
    return out

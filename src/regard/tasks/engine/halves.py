"""Weights in half precision, all of them at once.

Autocast copies each weight where it is used, and its gradient back: in a translator's step on a GPU
three hundred launches with little to do. The numbers here are the same.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from regard.layers import FeedForward, MultiHeadAttention

__all__ = ["Halves"]


class Halves:
    """A module called with copies in bfloat16 of what its blocks multiply with.

    Args:
        module: whose attention and feed-forward networks are meant; other layers keep float32.

    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        names = Counter(id(x) for _, x in module.named_parameters(remove_duplicate=False))
        self.weights = {
            f"{outer}.{name}.{kind}": x
            for outer, block in module.named_modules()
            if isinstance(block, (MultiHeadAttention, FeedForward))
            for name, linear in block.named_children()
            if type(linear) is nn.Linear
            for kind, x in linear.named_parameters()
            if x.requires_grad and names[id(x)] == 1  # what is shared has no copy to itself
        }

    def __call__(self, *args: Any) -> Any:  # noqa: ANN401 - whatever the module takes and gives
        """Call the module; gradients reach the weights themselves, in float32."""
        if not self.weights:
            return self.module(*args)
        halves = _Halved.apply(*self.weights.values())  # type: ignore[no-untyped-call]
        return functional_call(self.module, dict(zip(self.weights, halves, strict=True)), args)


class _Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *weights: Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        ctx.weights = weights
        return tuple(_copied(weights, torch.bfloat16))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        found = _copied(gradients, torch.float32)
        sums = [x.grad for x in ctx.weights if x.grad is not None]
        if len(sums) < len(found):
            return tuple(found)
        torch._foreach_add_(sums, found)  # all of them in one launch; torch would add one by one
        return (None,) * len(found)


def _copied(tensors: tuple[Tensor, ...], dtype: torch.dtype) -> list[Tensor]:
    found = [torch.empty_like(x, dtype=dtype) for x in tensors]
    torch._foreach_copy_(found, list(tensors))
    return found

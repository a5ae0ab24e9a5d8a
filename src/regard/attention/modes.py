"""What torch is doing while we are called: running, compiling, or transforming."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import forward_ad

__all__ = ["is_plain", "is_transformed"]


def is_transformed(*tensors: Tensor) -> bool:
    """Whether torch.func or forward-mode differentiation is at work on any of the tensors."""
    if torch.compiler.is_compiling():
        return False
    if any(torch._C._functorch.is_functorch_wrapped_tensor(x) for x in tensors):
        return True
    if forward_ad._current_level < 0:
        return False
    return any(
        forward_ad.unpack_dual(x).tangent is not None  # type: ignore[no-untyped-call]
        for x in tensors
    )


def is_plain(*tensors: Tensor) -> bool:
    """Whether the tensors hold numbers that Python may look at now."""
    return not torch.compiler.is_compiling() and not is_transformed(*tensors)

"""What torch is doing while we are called: running, compiling, watching, or transforming."""

from __future__ import annotations

import torch
from torch import Tensor
from torch._ops import _len_torch_dispatch_stack_pre_dispatch as _modes_before_dispatch
from torch.autograd import forward_ad
from torch.nn import Parameter
from torch.utils._python_dispatch import _get_current_dispatch_mode

__all__ = ["is_plain", "is_transformed", "is_watched"]


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


def is_watched(*tensors: Tensor | None) -> bool:
    """Whether torch compiles, traces, fakes or transforms: then it must see a call."""
    if torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None:
        return True
    if _get_current_dispatch_mode() or _modes_before_dispatch():  # type: ignore[no-untyped-call]
        return True
    if torch._C._are_functorch_transforms_active():
        return True
    return any(x is not None and not _is_ordinary(x) for x in tensors)


def _is_ordinary(x: Tensor) -> bool:
    # batched: what autograd makes of gradients under is_grads_batched, and calls a Tensor
    return type(x) in (Tensor, Parameter) and not torch._C._functorch.is_legacy_batchedtensor(x)

"""Memory: whether a model fits into it at all, and whether an error says that it ran short."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import torch
from torch import nn

from regard.errors import ValueRangeError

__all__ = ["is_of_memory", "refuse_too_large", "total_memory"]

WORDS = re.compile(
    r"out of memory|not enough memory|can(no|')t allocate memory|bad.?alloc|ALLOC_FAILED",
    re.IGNORECASE,
)
EACH = 16  # bytes of a weight, its gradient and the optimiser's two moments
GIB = 1 << 30


def is_of_memory(error: BaseException) -> bool:
    """Whether memory was short: python, torch and a GPU's libraries say it in different ways.

    >>> is_of_memory(RuntimeError("DefaultCPUAllocator: not enough memory: you tried to ..."))
    True
    >>> is_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    False
    """
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and bool(WORDS.search(str(error)))


def total_memory(device: torch.device) -> int | None:
    """How many bytes there are; None if the system does not say."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def refuse_too_large(make: Callable[[], nn.Module], device: torch.device, parts: int = 1) -> None:
    """Refuse a model that cannot be trained here, whatever the batch.

    A system that promises more memory than it has would otherwise kill the process, or another.

    Args:
        make: makes the model; where it lies here, it has sizes and takes no memory.
        device: where it is to be trained.
        parts: among how many processes its weights are divided.

    """
    with torch.device("meta"):
        try:
            model = make()
        except RuntimeError:  # it wants to see numbers
            return
    count = sum(x.numel() for x in model.parameters())
    needed, there = EACH * count // parts, total_memory(device)
    if there is not None and needed > there:
        msg = (
            f"the model has {count:,} weights, and needs at least {needed / GIB:,.0f} GiB to be "
            f"trained; {device} has {there / GIB:,.0f} GiB: choose a smaller one"
        )
        raise ValueRangeError(msg)

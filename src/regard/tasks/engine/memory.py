"""Whether an error says that there is not enough memory, whoever says it."""

from __future__ import annotations

import re

__all__ = ["is_of_memory"]

WORDS = re.compile(
    r"out of memory|not enough memory|can(no|')t allocate memory|bad.?alloc|ALLOC_FAILED",
    re.IGNORECASE,
)


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

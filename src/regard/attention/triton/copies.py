"""Copies from global to shared memory that go on by themselves: Gluon's, and their stand-in.

In Triton's interpreter a copy's room holds NaN until it is waited for: a kernel that does not wait,
or that copies to where a product still reads, gets wrong numbers.
"""

from __future__ import annotations

import os

import triton.language as tl

__all__ = ["commit", "copy", "wait"]

if os.environ.get("TRITON_INTERPRET") == "1":
    from regard.attention.triton.interpreted import Shared

    _open: list[tuple[Shared, tl.tensor]] = []
    _groups: list[list[tuple[Shared, tl.tensor]]] = []

    def copy(where: Shared, at: tl.tensor) -> None:
        """Begin to copy."""
        found = tl.load(at)
        where.store(found.to(tl.float32) * float("nan"))
        _open.append((where, found))

    def commit() -> None:
        """What has begun since the last time is a group."""
        _groups.append(_open.copy())
        _open.clear()

    def wait(most: int) -> None:
        """Until so many groups are on their way at most."""
        while len(_groups) > int(most):
            for where, found in _groups.pop(0):
                where.store(found)

else:
    from triton.experimental.gluon.language.nvidia.ampere import async_copy

    # its name until Triton 3.8, and since
    copy = getattr(async_copy, "async_load", None) or async_copy.async_copy_global_to_shared
    commit, wait = async_copy.commit_group, async_copy.wait_group

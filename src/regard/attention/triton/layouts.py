"""Gluon, Triton's language in which a kernel says how its tiles lie: what is needed of it."""

from __future__ import annotations

import os

if os.environ.get("TRITON_INTERPRET") == "1":
    from regard.attention.triton.interpreted import (
        BlockedLayout,
        DotOperandLayout,
        NVMMADistributedLayout,
        NVMMASharedLayout,
        SliceLayout,
        SwizzledSharedLayout,
        allocate_shared_memory,
        arange,
        commit,
        convert_layout,
        copy,
        fence_async_shared,
        full,
        jit,
        wait,
        warpgroup_mma,
        warpgroup_mma_wait,
    )
else:
    from triton.experimental.gluon import jit
    from triton.experimental.gluon.language import (
        BlockedLayout,
        DotOperandLayout,
        NVMMADistributedLayout,
        NVMMASharedLayout,
        SliceLayout,
        SwizzledSharedLayout,
        allocate_shared_memory,
        arange,
        convert_layout,
        full,
    )
    from triton.experimental.gluon.language.nvidia.ampere import async_copy
    from triton.experimental.gluon.language.nvidia.hopper import (
        fence_async_shared,
        warpgroup_mma,
        warpgroup_mma_wait,
    )

    # its name until Triton 3.8, and since
    copy = getattr(async_copy, "async_load", None) or async_copy.async_copy_global_to_shared
    commit, wait = async_copy.commit_group, async_copy.wait_group

__all__ = [
    "BlockedLayout",
    "DotOperandLayout",
    "NVMMADistributedLayout",
    "NVMMASharedLayout",
    "SliceLayout",
    "SwizzledSharedLayout",
    "allocate_shared_memory",
    "arange",
    "commit",
    "convert_layout",
    "copy",
    "fence_async_shared",
    "full",
    "jit",
    "wait",
    "warpgroup_mma",
    "warpgroup_mma_wait",
]

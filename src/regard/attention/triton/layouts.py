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
        convert_layout,
        fence_async_shared,
        full,
        jit,
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
    from triton.experimental.gluon.language.nvidia.hopper import (
        fence_async_shared,
        warpgroup_mma,
        warpgroup_mma_wait,
    )

__all__ = [
    "BlockedLayout",
    "DotOperandLayout",
    "NVMMADistributedLayout",
    "NVMMASharedLayout",
    "SliceLayout",
    "SwizzledSharedLayout",
    "allocate_shared_memory",
    "arange",
    "convert_layout",
    "fence_async_shared",
    "full",
    "jit",
    "warpgroup_mma",
    "warpgroup_mma_wait",
]

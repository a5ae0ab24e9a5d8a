"""Gluon, Triton's language in which a kernel says how its tiles lie: what ``fours`` needs of it.

Triton's interpreter does not run Gluon. There layouts are nothing and shared memory is a variable,
so a kernel is the same lines in both. A product is made as late as may be, when it is waited for,
of what its memory holds by then: a kernel that overwrites a factor too early gets wrong numbers.
"""

from __future__ import annotations

import os
from typing import Any

import triton
import triton.language as tl

__all__ = [
    "AVAILABLE",
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

if os.environ.get("TRITON_INTERPRET") == "1":
    AVAILABLE = True
    jit = triton.jit

    def _nothing(*args: Any, **kwargs: Any) -> None:
        """No layout; no fence."""

    BlockedLayout = DotOperandLayout = SliceLayout = fence_async_shared = _nothing
    NVMMADistributedLayout = NVMMASharedLayout = SwizzledSharedLayout = _nothing

    class _Shared:
        """Memory of a block of threads, a tile for each index."""

        def __init__(self, dtype: tl.dtype, turned: _Shared | None = None) -> None:
            self.dtype, self.turned = dtype, turned
            self.tiles: dict[int, _Shared] = {}
            self.value: tl.tensor | None = None

        def index(self, i: Any) -> _Shared:
            return self.tiles.setdefault(int(i), _Shared(self.dtype))

        def store(self, value: tl.tensor) -> None:
            self.value = value

        def load(self, layout: None) -> tl.tensor:
            return tl.trans(self.turned.load(None)) if self.turned else self.value

        def permute(self, order: tuple[int, int]) -> _Shared:
            return _Shared(self.dtype, turned=self)

    class _Coming:
        """A sum of products on its way."""

        def __init__(self, start: tl.tensor | None, factors: list[tuple[tl.tensor, _Shared]]):
            self.start, self.factors = start, factors

        def arrived(self) -> tl.tensor:
            total = self.start
            for a, b in self.factors:
                found = tl.dot(a, b.load(None), input_precision="ieee")
                total = found if total is None else total + found
            return total

    def allocate_shared_memory(dtype: tl.dtype, shape: list[int], layout: None) -> _Shared:
        return _Shared(dtype)

    def arange(start: int, stop: int, layout: None) -> tl.tensor:
        return tl.arange(start, stop)

    def full(shape: list[int], value: float, dtype: tl.dtype, layout: None) -> tl.tensor:
        return tl.full(shape, value, dtype)

    def convert_layout(x: tl.tensor, layout: None) -> tl.tensor:
        return x

    def warpgroup_mma(
        a: tl.tensor, b: _Shared, acc: Any, *, use_acc: bool = True, is_async: bool = False
    ) -> _Coming:
        before = acc if isinstance(acc, _Coming) else _Coming(acc, [])
        start, factors = (before.start, before.factors) if use_acc else (None, [])
        return _Coming(start, [*factors, (a, b)])

    def warpgroup_mma_wait(outstanding: int, deps: tuple[Any, ...]) -> tuple[tl.tensor, ...]:
        return tuple(x.arrived() if isinstance(x, _Coming) else x for x in deps)

else:
    try:
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

        # what ``fours`` needs is as it is now since Triton 3.6, and was measured with that
        AVAILABLE = tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 6)
    except ImportError:
        AVAILABLE = False

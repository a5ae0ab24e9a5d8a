"""What stands for Gluon in Triton's interpreter, which does not run it: see ``layouts``.

Layouts are nothing and shared memory is a variable, so a kernel is the same lines in both. A
product is made as late as may be, when it is waited for, of what its memory holds by then: a kernel
that overwrites a factor too early gets wrong numbers here, too, and one that takes a product which
may still be under way is stopped. Where a copy goes to is NaN until it is waited for. What this
does not see: a fence or a barrier that is missing, and another group of warps that is behind.
"""

from __future__ import annotations

from dataclasses import dataclass

import triton
import triton.language as tl

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

jit = triton.jit


def _nothing(*_: object) -> None:
    """No layout; no fence."""


BlockedLayout = DotOperandLayout = SliceLayout = fence_async_shared = _nothing
NVMMADistributedLayout = NVMMASharedLayout = SwizzledSharedLayout = _nothing


class Shared:
    """Memory of a block of threads, a tile for each index."""

    def __init__(self, dtype: tl.dtype) -> None:
        self.dtype = dtype
        self.value: tl.tensor | None = None
        self._tiles: dict[int, Shared] = {}

    def index(self, i: int | tl.tensor) -> Shared:
        """One tile of several."""
        number = int(i.handle.data.item()) if isinstance(i, tl.tensor) else int(i)
        return self._tiles.setdefault(number, Shared(self.dtype))

    def store(self, value: tl.tensor) -> None:
        """What later loads, and products waited for later, find."""
        self.value = value

    def load(self, _: None) -> tl.tensor:
        """What was stored last."""
        return self.value

    def permute(self, _: tuple[int, int]) -> Turned:
        """The same memory, its rows taken for columns."""
        return Turned(self)


@dataclass(frozen=True)
class Turned:
    """A tile of shared memory with its axes exchanged."""

    memory: Shared

    def load(self, _: None) -> tl.tensor:
        """What was stored last, turned."""
        return tl.trans(self.memory.load(None))


_issued = [0]  # how many products, of this thread: the interpreter has one


@dataclass(frozen=True)
class Coming:
    """A sum of products on its way, the last of them issued as the number-th of all."""

    start: tl.tensor | None
    factors: list[tuple[tl.tensor | Shared, Shared | Turned]]
    number: int

    def arrived(self) -> tl.tensor:
        """The sum, of what its factors are by now."""
        total = self.start
        for a, b in self.factors:
            left, right = a.load(None) if isinstance(a, Shared) else a, b.load(None)
            # the interpreter would multiply the bits of a bfloat16
            found = tl.dot(left.to(tl.float32), right.to(tl.float32), input_precision="ieee")
            total = found if total is None else total + found
        return total


def allocate_shared_memory(dtype: tl.dtype, *_: object) -> Shared:
    """Memory that nobody has written to."""
    return Shared(dtype)


def arange(start: int, stop: int, _: None) -> tl.tensor:
    """Whole numbers in a line."""
    return tl.arange(start, stop)


def full(shape: list[int], value: float, dtype: tl.dtype, _: None) -> tl.tensor:
    """One number everywhere."""
    return tl.full(shape, value, dtype)


def convert_layout(x: tl.tensor, _: None) -> tl.tensor:
    """The same."""
    return x


def warpgroup_mma(
    a: tl.tensor | Shared,
    b: Shared | Turned,
    acc: tl.tensor | Coming,
    *,
    use_acc: bool = True,
    is_async: bool = False,  # noqa: ARG001 - all are as late as that
) -> Coming:
    """A product on its way, added to ``acc``."""
    _issued[0] += 1
    number = _issued[0]
    if not use_acc:
        return Coming(None, [(a, b)], number)
    start, factors = (acc.start, acc.factors) if isinstance(acc, Coming) else (acc, [])
    return Coming(start, [*factors, (a, b)], number)


def warpgroup_mma_wait(
    most: int, deps: tuple[tl.tensor | Coming, ...]
) -> tuple[tl.tensor, ...] | tl.tensor:
    """What was on its way, when so many products at most still are: the ones issued last."""
    done = _issued[0] - int(most)
    for x in deps:
        assert not isinstance(x, Coming) or x.number <= done, "a product may still be under way"
    found = tuple(x.arrived() if isinstance(x, Coming) else x for x in deps)
    return found[0] if len(found) == 1 else found  # as Gluon's


_open: list[tuple[Shared, tl.tensor]] = []
_groups: list[list[tuple[Shared, tl.tensor]]] = []


def copy(where: Shared, at: tl.tensor) -> None:
    """Begin to copy from global memory."""
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

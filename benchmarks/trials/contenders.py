"""What might take another's place, and how it is put there for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

from torch import Tensor

from regard.attention.call import Call

__all__ = ["CONTENDERS", "Contender"]


@dataclass(frozen=True)
class Contender:
    """A name, the benchmark's case that it is for, and what puts it in its place."""

    name: str
    case: str
    installed: Callable[[], AbstractContextManager[Any]]


@contextmanager
def smaller_blocks() -> Iterator[None]:
    """The additive score's kernel with half the queries and half the threads in a block."""
    from regard.attention import triton  # noqa: PLC0415 - absent where there is no GPU
    from regard.attention.generated import loaded  # noqa: PLC0415
    from regard.attention.triton import fours  # noqa: PLC0415

    text = Path(fours.__file__).read_text(encoding="utf-8")
    sizes = "WARPS, ROWS, KEYS = tl.constexpr(8), tl.constexpr(128), tl.constexpr(64)"
    assert sizes in text
    text = text.replace(sizes, sizes.replace("8)", "4)", 1).replace("128", "64"))
    with mock.patch.object(triton, "fours", loaded(text, "trial")):
        yield


class Changed:
    """In a kernel's place: launched with other constants."""

    def __init__(self, kernel: Any, changes: dict[str, int]) -> None:  # noqa: ANN401
        self.kernel, self.changes = kernel, changes

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., Any]:
        return lambda *args, **options: self.kernel[grid](*args, **(options | self.changes))


@contextmanager
def changed(module: str, name: str, **changes: int) -> Iterator[None]:
    """A kernel with other constants."""
    found = import_module(f"regard.attention.triton.{module}")  # absent where there is no GPU
    with mock.patch.object(found, name, Changed(getattr(found, name), changes)):
        yield


@contextmanager
def by_matrix() -> Iterator[None]:
    """The dot product without Gluon."""
    from regard.attention.triton import hopper  # noqa: PLC0415 - absent where there is no GPU

    with mock.patch.object(hopper, "takes", return_value=False):
        yield


@contextmanager
def by_cudnn_forward() -> Iterator[None]:
    """A plain dot product of half precision: forward by cuDNN, its gradients by ours."""
    from regard.attention import cudnn  # noqa: PLC0415 - absent where there is no GPU
    from regard.attention.triton import dot  # noqa: PLC0415

    def forward(call: Call, *, values: bool) -> tuple[Tensor, Tensor]:
        assert values
        out, lse = cudnn.forward(call)
        return out, lse.double()

    with mock.patch.object(dot, "forward", forward):
        yield


@contextmanager
def units(count: int) -> Iterator[None]:
    """The overview's pass in so many blocks of threads."""
    from regard.attention.triton import inspection  # noqa: PLC0415 - absent where there is no GPU

    with mock.patch.object(inspection, "UNITS", count):
        yield


def _of(case: str, **contenders: Callable[[], AbstractContextManager[Any]]) -> list[Contender]:
    """Of one case: what is in use first."""
    named = {"in use": nullcontext, **contenders}
    return [Contender(name, case, installed) for name, installed in named.items()]


CONTENDERS = (
    *_of(
        "overview",
        **{f"{x} blocks": partial(units, x) for x in (4096, 16384)},
        **{f"{x} stages": partial(changed, "looking", "skim", num_stages=x) for x in (2, 4)},
    ),
    *_of("additive", **{"blocks of 64 queries": smaller_blocks}),
    *_of("growth-additive", **{"blocks of 64 queries": smaller_blocks}),
    *_of("dot", **{"by matrix": by_matrix, "forward by cuDNN": by_cudnn_forward}),
    *_of("dot-causal", **{"by matrix": by_matrix}),
    *_of("dot-lengths", **{"by matrix": by_matrix}),
    *_of("dot-window", **{"by matrix": by_matrix}),
)

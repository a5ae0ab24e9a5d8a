"""What is measured, beside whom, and what has to be reached."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from benchmarks.bars import Bar, Faster, Linear, Memory, Seconds

__all__ = ["CASES", "REASONS", "Case", "Shape"]

PEERS = ("ours", "eager", "compiled", "sdpa", "keops")


@dataclass(frozen=True)
class Shape:
    """Sizes of q [batch, (heads,) n, d], k [.., m, d] and v [.., m, dv]."""

    batch: int
    heads: int
    n: int
    m: int
    d: int
    dv: int

    @property
    def lead(self) -> tuple[int, ...]:
        """The axes in front; a single head has none of its own."""
        return (self.batch,) if self.heads == 1 else (self.batch, self.heads)


@dataclass(frozen=True)
class Case:
    """One thing to measure; a provider that cannot run it is listed with its reason."""

    name: str
    title: str
    shape: Shape
    score: Literal["additive", "gaussian", "dot"]
    mask: Literal["lengths", "window"] | None = None
    direction: Literal["forward", "forward+backward"] = "forward"
    operation: Literal["attend", "overview"] = "attend"
    providers: tuple[str, ...] = PEERS
    bars: tuple[Bar, ...] = ()

    def resized(self, n: int, m: int) -> Case:
        """The same at another length."""
        return replace(self, shape=replace(self.shape, n=n, m=m))

    def small(self) -> Case:
        """For the gate: not square, no powers of two, and beyond what attend materialises."""
        n, m = (700, 600) if self.operation == "overview" else (193, 161)
        if self.shape.m > 4096:  # where another implementation is chosen
            m = 4211
        return replace(self, shape=replace(self.shape, n=n, m=m, heads=min(self.shape.heads, 2)))

    def quick(self) -> Case:
        """For a smoke run."""
        return self.resized(max(self.shape.n // 8, 256), max(self.shape.m // 8, 256))


_ADDITIVE = Shape(1, 1, 1024, 1024, 128, 64)
_GAUSSIAN = Shape(1, 1, 8192, 8192, 8, 8)
_WINDOW = Shape(1, 1, 16_384, 16_384, 64, 64)
_BOTH: Literal["forward+backward"] = "forward+backward"

CASES = (
    Case(
        "additive",
        "additive, n = m = 1,024, h = 128",
        _ADDITIVE,
        "additive",
        bars=(Faster("eager", 15), Faster("compiled", 5)),
    ),
    Case(
        "additive-grad",
        "additive, n = m = 1,024, h = 128",
        _ADDITIVE,
        "additive",
        direction=_BOTH,
        bars=(Faster("eager", 10), Faster("compiled", 4), Memory(64)),
    ),
    Case(
        "gaussian-grad",
        "Gaussian, n = m = 8,192, d = 8",
        _GAUSSIAN,
        "gaussian",
        direction=_BOTH,
        bars=(Faster("eager", 4), Memory(32)),  # one n x m matrix is 256 MiB
    ),
    Case(
        "gaussian-grad-16384",
        "Gaussian, n = m = 16,384, d = 8",
        replace(_GAUSSIAN, n=16_384, m=16_384),
        "gaussian",
        direction=_BOTH,
        providers=("ours",),
        bars=(Linear("peak_mib", "gaussian-grad"),),
    ),
    Case(
        "dot",
        "dot, 8 heads, n = m = 2,048, d = 64",
        Shape(1, 8, 2048, 2048, 64, 64),
        "dot",
        bars=(Faster("sdpa", 1 / 1.1),),
    ),
    Case(
        "dot-lengths",
        "dot, batch 8, 8 heads, n = m = 1,024, d = 64, random lengths",
        Shape(8, 8, 1024, 1024, 64, 64),
        "dot",
        "lengths",
        providers=("ours", "unmasked", "sdpa", "eager", "keops"),
        bars=(Faster("unmasked", 3),),
    ),
    Case(
        "additive-lengths",
        "additive, batch 8, n = m = 512, h = 128, random lengths",
        Shape(8, 1, 512, 512, 128, 64),
        "additive",
        "lengths",
        providers=("ours", "unmasked", "sdpa", "eager", "keops"),
        bars=(Faster("unmasked", 3),),
    ),
    Case(
        "window-8192",
        "dot, window of 128, n = m = 8,192, d = 64",
        replace(_WINDOW, n=8192, m=8192),
        "dot",
        "window",
        providers=("ours",),
    ),
    Case(
        "window",
        "dot, window of 128, n = m = 16,384, d = 64",
        _WINDOW,
        "dot",
        "window",
        providers=("ours", "unmasked", "sdpa", "keops"),
        bars=(Faster("unmasked", 30), Linear("ms", "window-8192")),
    ),
    Case(
        "window-32768",
        "dot, window of 128, n = m = 32,768, d = 64",
        replace(_WINDOW, n=32_768, m=32_768),
        "dot",
        "window",
        providers=("ours",),
        bars=(Linear("ms", "window-8192"),),
    ),
    Case(
        "overview",
        "overview of 32,768 x 32,768, d = 64",
        replace(_WINDOW, n=32_768, m=32_768),
        "dot",
        operation="overview",
        bars=(Seconds(30), Memory(500)),
    ),
)

# Why a bar is missed, by case: the report puts it beside the verdict.
REASONS: dict[str, str] = {
    "additive-lengths": "the exponentials of every token are taken before the kernel starts, "
    "padding included, on one thread: about 10 ms of either time.",
}

"""CNN, RNN and self-attention compared by measuring real layers.

Time is taken from a clock, operations from torch's counter, sequential steps from autograd's graph
and path lengths from gradients. How each grows is then fitted. Nothing is taken from a formula: the
theory stands beside the measured exponent, for the reader to compare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import torch
from torch import Tensor

from regard.attention.choice import Impl
from regard.errors import ValueRangeError
from regard.layers.compared import ARCHITECTURES, Architecture, Axis, Quantity
from regard.layers.measures import longest_path, operations, seconds, sequential_steps

__all__ = ["Comparison", "Curve", "Settings", "check_device", "measure"]

CLEAR = 4.0  # a time tells of growth when it is this many times that of a call of size 1
KERNELS = (3, 255)  # a kernel of 1 joins no positions

# Small enough to be quick, large enough that what is constant does not matter. Counts are exact, so
# they need no long sequences; attention is counted by its definition, which holds n x n in memory.
COUNTED_LENGTHS = (32, 64, 128, 256, 512)
COUNTED_WIDTHS = (16, 32, 64, 128)
COUNTED_KERNELS = (3, 5, 9, 17)
DEEP_LENGTHS = (64, 128, 256, 512)
FAR_LENGTHS = (16, 32, 64, 128)  # in halves of the kernel: a layer reaches one further
FAR_KERNELS = (17, 33, 65)  # (k - 1) / 2 positions a layer: near k / 2 only for wide kernels
FAR_LENGTH = 513
TIMED_AT = 512  # positions, where the width is what grows


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Every setting of a comparison, with its default; times are of these, counts of small sizes.

    >>> Settings(lengths=(64, 128), kernel=4)
    Traceback (most recent call last):
    regard.errors.ValueRangeError: kernel must be odd, from 3 to 255, got 4
    """

    lengths: tuple[int, ...] = (256, 512, 1024, 2048, 4096, 8192)  # n that are timed
    width: int = 128  # d while n grows
    widths: tuple[int, ...] = (64, 128, 256, 512, 1024, 2048)  # d that are timed
    kernel: int = 5  # k
    device: str = "cpu"  # where times are taken; counts are the same everywhere
    seed: int = 0  # of the weights and the inputs
    repeats: int = 5  # rounds; the quickest counts
    threads: int = 1  # of the CPU: with more, how well work is shared would be measured too

    def __post_init__(self) -> None:
        for name, sizes in (("lengths", self.lengths), ("widths", self.widths)):
            rising = all(a < b for a, b in pairwise(sizes))
            if len(sizes) < 2 or sizes[0] < 1 or not rising:  # noqa: PLR2004 - a line needs two
                msg = f"{name} must be two or more, from 1 and rising, got {list(sizes)}"
                raise ValueRangeError(msg)
        for name in ("width", "repeats", "threads"):
            if getattr(self, name) < 1:
                msg = f"{name} must be at least 1, got {getattr(self, name)}"
                raise ValueRangeError(msg)
        least, most = KERNELS
        if not least <= self.kernel <= most or self.kernel % 2 == 0:
            # an even one has no middle, and makes the sequence longer or shorter
            msg = f"kernel must be odd, from {least} to {most}, got {self.kernel}"
            raise ValueRangeError(msg)
        if self.kernel > self.lengths[0]:
            msg = f"kernel {self.kernel} is wider than the shortest of lengths, {self.lengths[0]}"
            raise ValueRangeError(msg)


@dataclass(frozen=True)
class Curve:
    """One quantity of one layer over one size, and how it grows.

    >>> Curve("RNN", "steps", "n", (8, 16, 32), (24.0, 48.0, 96.0), theory=1).exponent
    1.0
    """

    layer: str
    quantity: Quantity
    axis: Axis
    sizes: tuple[int, ...]
    values: tuple[float, ...]
    theory: float
    floor: float = 0.0  # of times: what a call of size 1 takes

    @property
    def used(self) -> tuple[bool, ...]:
        """Which points are fitted: the larger half, as far as they stand out from the floor.

        The exponent is a statement about large sizes. A call that takes little longer than one of
        size 1 measures how torch is called, not how the layer grows.
        """
        last = len(self.values) // 2
        return tuple(
            i >= min(last, len(self.values) - 2) and value >= CLEAR * self.floor
            for i, value in enumerate(self.values)
        )

    @property
    def exponent(self) -> float | None:
        """Slope of the least squares line through the used points, both axes logarithmic."""
        points = [
            (math.log(size), math.log(value))
            for size, value, used in zip(self.sizes, self.values, self.used, strict=True)
            if used
        ]
        if len(points) < 2:  # noqa: PLR2004 - a line needs two
            return None
        xs, ys = zip(*points, strict=True)
        x, y = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
        rise = math.fsum((a - x) * (b - y) for a, b in points)
        return round(rise / math.fsum((a - x) ** 2 for a in xs), 6) + 0.0  # no -0.0


@dataclass(frozen=True)
class Comparison:
    """Everything that was measured, and where."""

    settings: Settings
    machine: str
    curves: tuple[Curve, ...] = field(repr=False)

    def curve(self, layer: str, quantity: Quantity, axis: Axis) -> Curve | None:
        """The one asked for; None where the layer has no such size, as the RNN has no k."""
        wanted = (layer, quantity, axis)
        return next((c for c in self.curves if (c.layer, c.quantity, c.axis) == wanted), None)


def check_device(name: str) -> torch.device:
    """The device of that name; raises unless numbers can be computed there.

    >>> check_device("cpu")
    device(type='cpu')
    """
    try:
        device = torch.device(name)
        works = torch.ones(1, device=device).sum().item() == 1  # "meta" has no numbers
    except (RuntimeError, AssertionError, NotImplementedError):  # torch has no one error for it
        works = False
    if not works:
        here = ["cpu"]
        if torch.accelerator.is_available():
            kind = torch.accelerator.current_accelerator()
            here += [f"{kind}:{i}" for i in range(torch.accelerator.device_count())]
        msg = f"device must be one torch can compute on here ({', '.join(here)}), got {name!r}"
        raise ValueRangeError(msg)
    return device


def _times(settings: Settings, architecture: Architecture, axis: Axis) -> Curve:
    device = torch.device(settings.device)
    # By name where there is a choice: "auto" changes kernels with n, and two curves are no line.
    impl: Impl = "native" if device.type == "cpu" else "auto"

    def prepared(size: int) -> Callable[[], Tensor]:
        n, d = (size, settings.width) if axis == "n" else (TIMED_AT, size)
        layer = architecture.build(d, settings.kernel, impl).to(device)
        x = torch.randn(1, n, d).to(device)
        return lambda: layer(x)

    sizes = settings.lengths if axis == "n" else settings.widths
    try:
        with torch.no_grad():
            calls = [prepared(size) for size in (1, *sizes)]
            floor, *values = seconds(calls, settings.repeats, device)
    except (MemoryError, RuntimeError) as error:  # too little memory, or beyond what cuDNN takes
        why = (str(error).splitlines() or [type(error).__name__])[0]
        msg = (
            f"{architecture.name} with {axis} up to {sizes[-1]} cannot run on {device}: {why}; "
            f"give smaller {'lengths' if axis == 'n' else 'widths'}"
        )
        raise ValueRangeError(msg) from error
    theory = architecture.theory["time", axis]
    return Curve(architecture.name, "time", axis, sizes, tuple(values), theory, floor)


def _counts(
    settings: Settings, architecture: Architecture, quantity: Quantity, axis: Axis
) -> Curve:
    reach = (settings.kernel - 1) // 2
    sizes = {
        ("operations", "n"): COUNTED_LENGTHS,
        ("operations", "d"): COUNTED_WIDTHS,
        ("operations", "k"): COUNTED_KERNELS,
        ("steps", "n"): DEEP_LENGTHS,
        ("path", "n"): tuple(reach * n for n in FAR_LENGTHS),
        ("path", "k"): FAR_KERNELS,
    }[quantity, axis]

    def one(size: int) -> int:
        k = size if axis == "k" else settings.kernel
        d = size if axis == "d" else 2
        if quantity == "operations" and axis == "n":
            d = settings.width  # what is drawn beside the times
        n = size if axis == "n" else FAR_LENGTH if quantity == "path" else 8
        layer = architecture.build(d, k, "reference").double()
        if quantity == "path":
            return longest_path(layer, n, d)
        x = torch.randn(1, n, d, dtype=torch.float64)
        return (operations if quantity == "operations" else sequential_steps)(layer, x)

    values = tuple(float(one(size)) for size in sizes)
    theory = architecture.theory[quantity, axis]
    return Curve(architecture.name, quantity, axis, sizes, values, theory)


def _curves(settings: Settings, tell: Callable[[str, float], None]) -> Iterator[Curve]:
    plan = [(a, quantity, axis) for a in ARCHITECTURES for quantity, axis in a.theory]
    for i, (architecture, quantity, axis) in enumerate(plan):
        tell(f"{architecture.name}: {quantity} over {axis}", i / len(plan))
        if quantity == "time":
            yield _times(settings, architecture, axis)
        else:
            yield _counts(settings, architecture, quantity, axis)


def measure(
    settings: Settings, tell: Callable[[str, float], None] = lambda _what, _part: None
) -> Comparison:
    """Measure all three layers.

    Args:
        settings: what, and where.
        tell: called before each curve with what it is and which part of all is done.

    Returns:
        The curves, with their exponents.

    Raises:
        ValueRangeError: the device cannot be used, or not for sizes as large.

    >>> quick = Settings(lengths=(8, 16), widths=(4, 8), repeats=1)
    >>> measure(quick).curve("RNN", "path", "n").exponent
    1.0

    """
    device = check_device(settings.device)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(settings.threads)
        with torch.random.fork_rng(devices=[]):  # the caller's random numbers stay as they are
            torch.default_generator.manual_seed(settings.seed)
            curves = tuple(_curves(settings, tell))
    finally:
        torch.set_num_threads(before)
    name = f"{device}, {settings.threads} thread{'s' if settings.threads > 1 else ''}"
    if device.type != "cpu":
        name = f"{torch.get_device_module(device).get_device_name(device)} ({device})"
    return Comparison(settings, f"{name}, torch {torch.__version__}", curves)

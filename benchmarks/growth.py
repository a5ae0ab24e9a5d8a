"""How time grows with n, from 256 to 32,768: forward, one head, as far as is reasonable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

from benchmarks.cases import Case, Shape
from benchmarks.gate import check, implementation, once
from benchmarks.inputs import make_inputs
from benchmarks.measure import Pace, Times, race
from benchmarks.providers import PROVIDERS
from benchmarks.records import Row

__all__ = ["SERIES", "SIZES", "Series", "grow"]

SIZES = tuple(2**i for i in range(8, 16))
LONGEST = 20.0  # seconds a call may be expected to take
LARGEST = 4 * 2**30  # bytes that may be expected to be in memory


@dataclass(frozen=True)
class Series:
    """One line of the plot."""

    name: str
    case: Case
    provider: str
    up_to: int = SIZES[-1]
    power: float = 2.0  # of n in the expected time


def _case(name: str, d: int, dv: int, score: Any, mask: Any = None) -> Case:  # noqa: ANN401 - literals
    return Case(name, name, Shape(1, 1, SIZES[0], SIZES[0], d, dv), score, mask)


_ADDITIVE = _case("additive", 128, 64, "additive")

SERIES = (
    Series("additive, eager", _ADDITIVE, "eager"),
    Series("additive, compiled", _ADDITIVE, "compiled", up_to=2048),  # a compilation for each size
    Series("additive, ours", _ADDITIVE, "ours"),
    Series("Gaussian, ours", _case("gaussian", 8, 8, "gaussian"), "ours"),
    Series("dot, ours (torch's own)", _case("dot", 64, 64, "dot"), "ours"),
    Series("dot, window of 128, ours", _case("window", 64, 64, "dot", "window"), "ours", power=1.0),
)


def _too_much(series: Series, case: Case, last: float) -> str:
    """Why a point is left out; ``last`` is what half the size took, in seconds."""
    shape = case.shape
    if shape.n > series.up_to:
        return f"measured up to {series.up_to:,} only"
    if series.provider == "eager" and 2 * 4 * shape.n * shape.m * shape.d > LARGEST:
        return "the sum and its tanh, both n x m x h, would take more than 4 GiB"
    expected = last * 2**series.power
    return f"would take about {expected:.0f} s" if expected > LONGEST else ""


def _point(case: Case, provider: str, *, quick: bool) -> Times:
    x = make_inputs(case)
    forward = PROVIDERS[provider].prepare(case, x)
    start = perf_counter()
    once(case, x, forward)
    seconds = perf_counter() - start
    impl = implementation(case, PROVIDERS[provider], x)
    if seconds > 5 and provider != "compiled":  # warm from the size before: no need to wait again
        return Times(((seconds * 1e3,),), impl)
    pace = Pace(1, 1, 1) if quick else Pace(4, 2, 5)
    return Times(race({provider: lambda: once(case, x, forward)}, pace)[provider].rounds, impl)


def grow(series: Series, about: dict[str, Any], *, quick: bool) -> Iterator[Row]:
    """The points of a series, as they are measured, and the reason for the first left out."""
    check(series.case, PROVIDERS[series.provider])
    last = 0.0
    for n in SIZES[:3] if quick else SIZES:
        case = series.case.resized(n, n)
        what = (series.name, series.provider, case.direction, asdict(case.shape))
        if why := _too_much(series, case, last):
            yield Row("refused", *what, note=why, **about)
            return
        times = _point(case, series.provider, quick=quick)
        row = Row("growth", *what, **times.columns(), **about)
        last = row.ms / 1e3
        yield row

"""Time the providers of a case against each other, in turns, so that drift hits all alike.

After a parallel call torch's threads keep spinning for some milliseconds, which on two cores slows
whoever comes next. So a turn is a short burst of calls whose first is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from benchmarks.cases import Case
from benchmarks.gate import Answer, WrongAnswerError, agree, check, implementation, once
from benchmarks.inputs import make_inputs
from benchmarks.providers import PROVIDERS
from benchmarks.records import quantiles

__all__ = ["Pace", "Times", "measure", "race"]

SLOW = 0.5  # seconds: from here on a few milliseconds of spinning are lost in the noise
TOO_SLOW = 3  # times what a case may take: then one call each has to do


@dataclass(frozen=True)
class Pace:
    """How long a case may take: rounds between least and most, as many as fit into seconds."""

    seconds: float = 45.0
    least: int = 3
    most: int = 15


@dataclass(frozen=True)
class Times:
    """Milliseconds of every call, by round."""

    rounds: tuple[tuple[float, ...], ...]
    impl: str = ""

    def columns(self) -> dict[str, object]:
        """As a row has them."""
        calls = [ms for one in self.rounds for ms in one]
        low, middle, high = (round(x, 4) for x in quantiles(calls))
        return {
            "ms": middle,
            "ms_p20": low,
            "ms_p80": high,
            "rounds": [round(median(one), 4) for one in self.rounds],
            "repeats": len(calls),
            "impl": self.impl,
        }


def _timed(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def _burst(call: Callable[[], object], estimate: float) -> tuple[float, ...]:
    if estimate >= SLOW:
        return (_timed(call) * 1e3,)
    calls = min(max(round(0.05 / estimate), 2), 10)
    return tuple(_timed(call) * 1e3 for _ in range(calls + 1))[1:]


def race(calls: Mapping[str, Callable[[], object]], pace: Pace) -> dict[str, Times]:
    """Time calls that are warm, in turns."""
    estimates = {name: _timed(call) for name, call in calls.items()}
    if sum(estimates.values()) > TOO_SLOW * pace.seconds:  # once is enough to know that
        return {name: Times(((seconds * 1e3,),)) for name, seconds in estimates.items()}
    a_round = sum(max(x, min(10 * x, 0.05)) for x in estimates.values())
    count = min(max(int(pace.seconds / a_round), pace.least), pace.most)
    rounds: dict[str, list[tuple[float, ...]]] = {name: [] for name in calls}
    for _ in range(count):
        for name, call in calls.items():
            rounds[name].append(_burst(call, estimates[name]))
    return {name: Times(tuple(found)) for name, found in rounds.items()}


def measure(case: Case, pace: Pace) -> tuple[dict[str, Times], dict[str, str]]:
    """The times of those who can run the case, and the reasons of those who cannot."""
    x = make_inputs(case)
    calls: dict[str, Callable[[], Answer]] = {}
    refused: dict[str, str] = {}
    wanted: Answer | None = None
    for provider in map(PROVIDERS.__getitem__, case.providers):
        if why := provider.refuses(case):
            refused[provider.name] = why
            continue
        try:
            check(case, provider)
            forward = provider.prepare(case, x)
            answer = once(case, x, forward)  # the warm-up, and at full size all agree with ours
            wanted = answer if wanted is None else wanted
            if provider.masked:
                agree(answer, wanted, f"{case.name}, {provider.name}")
        except WrongAnswerError as wrong:
            refused[provider.name] = str(wrong)
            continue
        calls[provider.name] = lambda forward=forward: once(case, x, forward)
    times = race(calls, pace)
    impls = {name: implementation(case, PROVIDERS[name], x) for name in times}
    return {name: Times(found.rounds, impls[name]) for name, found in times.items()}, refused

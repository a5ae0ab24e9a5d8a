"""What a case has to reach, as data, and how measured rows are held against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from benchmarks.gpu_records import Reading, Readings
from benchmarks.records import Row, quantiles

__all__ = [
    "AsFastAs",
    "Bar",
    "Faster",
    "GpuBar",
    "Linear",
    "Memory",
    "Novelty",
    "Peak",
    "Rows",
    "Runs",
    "Seconds",
    "Share",
    "Verdict",
    "Within",
    "speedups",
]

Rows = Mapping[tuple[str, str], Row]  # by case and provider


@dataclass(frozen=True)
class Verdict:
    """What was reached, and which share of the bar that is: met from 1 on."""

    reached: str
    share: float

    @property
    def met(self) -> bool:
        """Whether the bar is reached."""
        return self.share >= 1

    def __str__(self) -> str:
        return "met" if self.met else f"missed: {self.share:.2f}x of the bar"


class Bar(Protocol):
    """One demand on a case."""

    def judge(self, case: str, rows: Rows) -> Verdict | None:
        """Hold the rows against it; None if one that it needs is missing."""


def speedups(ours: Row, peer: Row) -> list[float]:
    """How many times faster ours was, round by round: drift of the machine cancels."""
    return [theirs / mine for mine, theirs in zip(ours.rounds, peer.rounds, strict=True)]


@dataclass(frozen=True)
class Faster:
    """Ours takes at most 1 / times of what another provider takes."""

    than: str
    times: float

    def __str__(self) -> str:
        if self.times < 1:
            return f"within {1 / self.times:.1f}x of the time of {self.than}"
        return f"at least {self.times:g}x faster than {self.than}"

    def judge(self, case: str, rows: Rows) -> Verdict | None:
        """The median over the rounds counts."""
        ours, peer = rows.get((case, "ours")), rows.get((case, self.than))
        if ours is None or peer is None:
            return None
        low, middle, high = quantiles(speedups(ours, peer))
        if self.times < 1:  # said as the share of the peer's time, as the bar is
            text = f"{1 / middle:.2f}x ({1 / high:.2f} to {1 / low:.2f})"
        else:
            text = f"{middle:.1f}x ({low:.1f} to {high:.1f})"
        return Verdict(text, middle / self.times)


@dataclass(frozen=True)
class Memory:
    """The peak grows by less than so much over one call."""

    mib: float

    def __str__(self) -> str:
        return f"extra memory below {self.mib:g} MiB"

    def judge(self, case: str, rows: Rows) -> Verdict | None:
        """One call in a process of its own."""
        ours = rows.get((case, "ours"))
        if ours is None or ours.peak_mib is None:
            return None
        return Verdict(f"{ours.peak_mib:.1f} MiB", self.mib / max(ours.peak_mib, 1e-3))


@dataclass(frozen=True)
class Seconds:
    """One call is done within so many seconds."""

    limit: float

    def __str__(self) -> str:
        return f"done in {self.limit:g} s"

    def judge(self, case: str, rows: Rows) -> Verdict | None:
        """The median counts."""
        ours = rows.get((case, "ours"))
        if ours is None:
            return None
        return Verdict(f"{ours.ms / 1e3:.1f} s", self.limit * 1e3 / ours.ms)


@dataclass(frozen=True)
class Linear:
    """Time or memory grows no faster than n, from another case of the same kind to this one."""

    quantity: Literal["ms", "peak_mib"]
    base: str
    slack: float = 1.25  # what noise and caches may add before it counts as growth

    def __str__(self) -> str:
        what = "time" if self.quantity == "ms" else "extra memory"
        return f"{what} linear in n: per query at most {self.slack:g}x that of {self.base}"

    def judge(self, case: str, rows: Rows) -> Verdict | None:
        """Compare what one query costs in the two cases."""
        ours, base = rows.get((case, "ours")), rows.get((self.base, "ours"))
        if ours is None or base is None:
            return None
        here, there = getattr(ours, self.quantity), getattr(base, self.quantity)
        if here is None or there is None:
            return None
        if self.quantity == "peak_mib":
            here, there = max(here, 1.0), max(there, 1.0)  # below a page table's worth is noise
        grown = (here / ours.shape["n"]) / (there / base.shape["n"])
        return Verdict(f"{grown:.2f}x a query", self.slack / grown)


Timing = Literal["ms", "graph_ms"]  # call by call, or replayed from a CUDA graph


@dataclass(frozen=True)
class Share:
    """What was reached on a GPU, and how many times what the bar allows that is."""

    reached: str
    of_allowed: float

    @property
    def met(self) -> bool:
        """Whether the bar is reached."""
        return self.of_allowed <= 1

    def __str__(self) -> str:
        if self.of_allowed in {0, float("inf")}:  # no more or less of it: it is, or it is not
            return "met" if self.met else "missed"
        if self.met:
            return f"met: {self.of_allowed:.2f}x of what is allowed"
        # two digits would let a near miss read as 1.00x
        digits = 2 if self.of_allowed >= 1.005 else 4
        return f"missed: {self.of_allowed:.{digits}f}x of what is allowed"


class GpuBar(Protocol):
    """One demand on a case on a GPU. What is not about time is judged once, for ``ms``."""

    def judge(self, case: str, direction: str, found: Readings, timing: Timing) -> Share | None:
        """Hold the readings against it; None if one that it needs is missing."""


def _milliseconds(reading: Reading | None, timing: Timing) -> float | None:
    return None if reading is None else getattr(reading, timing)


@dataclass(frozen=True)
class Within:
    """One call takes at most so many milliseconds."""

    limit: float

    def __str__(self) -> str:
        return f"{self.limit:g} ms"

    def judge(self, case: str, direction: str, found: Readings, timing: Timing) -> Share | None:
        """The median counts."""
        ms = _milliseconds(found.get((case, direction, "ours")), timing)
        return None if ms is None else Share(f"{ms:.3g} ms", ms / self.limit)


@dataclass(frozen=True)
class Peak:
    """A call needs at most so much memory beyond its inputs; its output and gradients count."""

    mib: float

    def __str__(self) -> str:
        return f"{self.mib:g} MiB"

    def judge(self, case: str, direction: str, found: Readings, timing: Timing) -> Share | None:
        """The allocator's own count."""
        ours = found.get((case, direction, "ours"))
        if timing != "ms" or ours is None or ours.mib is None:
            return None
        return Share(f"{ours.mib:,.1f} MiB", ours.mib / self.mib)


@dataclass(frozen=True)
class Runs:
    """A call that others cannot make at all."""

    def __str__(self) -> str:
        return "runs"

    def judge(self, case: str, direction: str, found: Readings, timing: Timing) -> Share | None:
        """Measured is enough; tried and failed is missed by any measure."""
        ours = found.get((case, direction, "ours"))
        if timing != "ms" or ours is None:
            return None
        if ours.ms is None:
            return Share("does not run", float("inf"))
        return Share(f"{ours.ms:.3g} ms", 0.0)


@dataclass(frozen=True)
class AsFastAs:
    """Ours takes no longer than the fastest of some peers in the same process."""

    peers: tuple[str, ...]

    def __str__(self) -> str:
        if len(self.peers) == 1:
            return f"as fast as {self.peers[0]}"
        return f"as fast as the fastest of {', '.join(self.peers)}"

    def judge(self, case: str, direction: str, found: Readings, timing: Timing) -> Share | None:
        """Peers of another run saw another machine, or other versions: they do not count."""
        ours = found.get((case, direction, "ours"))
        mine = _milliseconds(ours, timing)
        if ours is None or mine is None:
            return None
        beside = (found.get((case, direction, peer)) for peer in self.peers)
        times = [
            (ms, one.provider)
            for one in beside
            if one is not None and one.run == ours.run
            if (ms := _milliseconds(one, timing)) is not None
        ]
        if not times:
            return None
        best, who = min(times)
        return Share(f"{mine:.3g} ms beside {best:.3g} ms of {who}", mine / best)


@dataclass(frozen=True)
class Novelty:
    """A length never seen before costs at most so many times one that was: nothing is planned."""

    times: float

    def __str__(self) -> str:
        return f"a new length costs at most {self.times:g}x a known one"

    def judge(self, case: str, direction: str, found: Readings, timing: Timing) -> Share | None:
        """The same calls twice: the first time every length is new."""
        ours = found.get((case, direction, "ours"))
        if timing != "ms" or ours is None or not {"seconds", "again"} <= ours.extra.keys():
            return None
        ratio = ours.extra["seconds"] / ours.extra["again"]
        return Share(f"{ratio:.2f}x", ratio / self.times)

"""What a case has to reach, as data, and how measured rows are held against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from benchmarks.records import Row, quantiles

__all__ = ["Bar", "Faster", "Linear", "Memory", "Rows", "Seconds", "Verdict", "speedups"]

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

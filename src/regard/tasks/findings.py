"""What became of the rows or files of a data set: kept, or left out by a rule that is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from regard.errors import FileError

__all__ = ["Findings", "LeftOut", "briefly", "counted", "dropped", "refuse_nothing", "shown"]

LISTED = 20  # line numbers kept for each rule
NAMED = 5  # names of files kept for each rule: they are longer
BRIEF = 100  # characters of what others say
REASONS = 3  # files whose trouble is told in full


def counted(count: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "row"), counted(2000, "row"), counted(0, "class")
    ('1 row', '2,000 rows', '0 classes')
    """
    if count == 1:
        return f"1 {what}"
    return f"{count:,} {what}{'es' if what.endswith('s') else 's'}"


def shown(name: Path | str) -> str:
    r"""A name as it may stand in a line: without line breaks or a terminal's commands.

    >>> shown("a\nb")
    'a\\nb'
    """
    text = str(name)
    return text if text.isprintable() else repr(text)[1:-1]


def briefly(cause: Exception) -> str:
    """What another library said, as it may stand within our words: a line, and not a long one."""
    words = shown(str(cause).partition("\n")[0]) or type(cause).__name__
    return words if len(words) <= BRIEF else f"{words[:BRIEF]}..."


@dataclass
class LeftOut:
    """What broke one rule: how many, and the first of their lines or names."""

    count: int = 0
    lines: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def where(self) -> str:
        """The places in brackets, as many as are known."""
        more = self.count - len(self.lines) - len(self.names)
        places = ", ".join((*map(str, self.lines), *self.names))
        if not places:
            return ""
        few = "" if not self.lines else "line " if self.count == 1 else "lines "
        return f" ({few}{places}{f' and {more:,} more' if more else ''})"


@dataclass
class Findings:
    """What was found in one file or folder.

    Args:
        path: the file or folder.
        unit: what is counted: "row", "sentence", "file".
        rules: a name for each rule, and how what breaks it is called, "without a tab".
        wanted: what the data should look like, in half a sentence.
        quiet: rules nobody has to be warned of: notes that lie beside the data.

    """

    path: Path
    unit: str
    rules: Mapping[str, str]
    wanted: str
    quiet: frozenset[str] = frozenset()
    kept: int = 0
    left_out: dict[str, LeftOut] = field(default_factory=dict)

    def leave_out(self, rule: str, place: int | str, reason: str = "") -> None:
        """Count what stands in this line, or in the file of this name."""
        out = self.left_out.setdefault(rule, LeftOut())
        out.count += 1
        if isinstance(place, int):
            if len(out.lines) < LISTED:
                out.lines.append(place)
        elif len(out.names) < NAMED:
            out.names.append(shown(place))
        if reason and len(out.reasons) < REASONS:
            out.reasons.append(reason)

    @property
    def gone(self) -> int:
        """How many are left out that should not have to be."""
        return sum(out.count for rule, out in self.left_out.items() if rule not in self.quiet)

    @property
    def seen(self) -> int:
        """How many there were."""
        return self.kept + self.gone

    def report(self, what: str, more: str = "") -> list[str]:
        """Lines for a reader: how many of ``what`` are left, and what is not."""
        name = shown(self.path)
        kept = counted(self.kept, what)
        if self.gone:
            alike = f"{self.kept:,}" if what == self.unit else kept
            kept = f"{alike} of {counted(self.seen, self.unit)}"
        lines = [f"{name}: {kept}{more}"]
        for rule, words in self.rules.items():
            if out := self.left_out.get(rule):
                lines.append(f"{name}: {counted(out.count, self.unit)} {words}{out.where()}")
                lines.extend(out.reasons)
        return lines

    def loud(self) -> list[str]:
        """A line more, when most is gone: it is probably not the data it should be."""
        if 2 * self.gone <= self.seen:
            return []
        lost = f"{self.gone:,} of {counted(self.seen, self.unit)}"
        return [f"{shown(self.path)}: MORE THAN HALF IS LOST, {lost}; {self.wanted}"]

    def summary(self) -> str:
        """The rules and their counts in half a sentence."""
        found = [
            f"{counted(self.left_out[rule].count, self.unit)} {words}"
            for rule, words in self.rules.items()
            if rule in self.left_out
        ]
        if found:
            return ", ".join(found)
        return f"no {self.unit} is there"


def dropped(files: Iterable[Findings]) -> dict[str, int]:
    """How many each rule left out, over all files."""
    counts: Counter[str] = Counter()
    for found in files:
        counts.update({rule: out.count for rule, out in found.left_out.items()})
    return dict(counts)


def refuse_nothing(findings: tuple[Findings, ...], what: str, wanted: str) -> None:
    """Refuse data of which nothing is left.

    Raises:
        FileError: with what became of all of it.

    """
    if any(found.kept for found in findings):
        return
    told = "; ".join(f"{shown(found.path)}: {found.summary()}" for found in findings)
    reasons = (out.reasons for found in findings for out in found.left_out.values())
    first = next((texts[0] for texts in reasons if texts), "")
    because = f" (the first: {first})" if first else ""
    msg = f"{told or 'no file was given'}: no {what} is left{because}; {wanted}"
    raise FileError(msg)

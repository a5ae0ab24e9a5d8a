"""The labels of a data set: which there are, and whether they can be learned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from regard.errors import FileError
from regard.tasks.findings import counted, shown

__all__ = ["labels_to_learn", "never_seen"]

NAMED = 5
FEWEST = 2  # labels to tell apart
DIGITS = 19  # of a number that labels are put in order by


def labels_to_learn(labels: Iterable[str], where: str) -> tuple[str, ...]:
    """The different labels, in order; numbers by their size.

    Raises:
        FileError: there is only one, so that a training has nothing to tell apart.

    >>> labels_to_learn(["10", "cat", "9", "9"], "pets.tsv")
    ('9', '10', 'cat')

    """
    found = sorted(set(labels), key=_order)
    if len(found) < FEWEST:
        only = f"the only label is {shown(found[0])!r}" if found else "there is no label"
        msg = (
            f"{where}: {only}; a training needs examples of at least two labels, "
            "or there is nothing to tell apart"
        )
        raise FileError(msg)
    return tuple(found)


def never_seen(labels: Iterable[str], known: Collection[str], where: str) -> list[str]:
    """A line about labels that are not among the known ones; none if all are.

    >>> never_seen(["cat", "gnu", "gnu"], {"cat", "dog"}, "test.tsv")
    ["test.tsv: 2 of 3 labels were never seen in training ('gnu' 2 times): they count as wrong"]
    """
    counts = Counter(labels)
    strange = {label: n for label, n in counts.items() if label not in known}
    if not strange:
        return []
    few = sorted(strange, key=lambda label: (-strange[label], _order(label)))[:NAMED]
    named = ", ".join(f"{shown(label)!r} {counted(strange[label], 'time')}" for label in few)
    more = f" and {len(strange) - NAMED:,} other labels" if len(strange) > NAMED else ""
    told = f"{sum(strange.values()):,} of {counted(sum(counts.values()), 'label')}"
    seen = "were never seen in training"
    return [f"{where}: {told} {seen} ({named}{more}): they count as wrong"]


def _order(label: str) -> tuple[bool, int, str]:
    # digits of other scripts are no numbers here, nor is what int() would take long for
    number = label.isascii() and label.isdigit() and len(label) <= DIGITS
    return (not number, int(label) if number else 0, label)

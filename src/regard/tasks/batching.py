"""What the batches of every task share: few lengths, and rows dealt out to them."""

from __future__ import annotations

__all__ = ["dealt", "sizes_up_to"]


def sizes_up_to(longest: int) -> list[int]:
    """The lengths that occur: each half as long again, or a third, as the one before.

    >>> sizes_up_to(50)
    [8, 12, 16, 24, 32, 48, 50]
    """
    sizes = [8]
    while sizes[-1] < longest:
        sizes.append(sizes[-1] * 3 // 2 if sizes[-1].bit_count() == 1 else sizes[-1] * 4 // 3)
    return [*sizes[:-1], max(longest, 1)]


def dealt(parts: list[slice], count: int) -> tuple[list[slice], list[slice]]:
    """The first ``count`` places of these, and the others.

    >>> dealt([slice(0, 3), slice(5, 9)], 4)
    ([slice(0, 3, None), slice(5, 6, None)], [slice(6, 9, None)])
    """
    first, rest = [], list(parts)
    while rest and count:
        part = rest.pop(0)
        cut = min(part.start + count, part.stop)
        first.append(slice(part.start, cut))
        count -= cut - part.start
        if cut < part.stop:
            rest.insert(0, slice(cut, part.stop))
    return first, rest

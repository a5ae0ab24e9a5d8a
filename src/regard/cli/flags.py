"""Values of flags: read from text, or refused in words that say what was wanted."""

from __future__ import annotations

import argparse
import math

__all__ = ["number", "rising"]


def number(text: str, kind: type[int | float], low: int, high: int) -> float:
    """The number the text stands for, of this kind and within these limits.

    >>> number("7", int, 1, 10)
    7
    """
    try:
        value = kind(text)
    except ValueError:
        value = math.nan  # in no range, so refused below in the same words
    if not low <= value <= high:
        name = "whole number" if kind is int else "number"
        msg = f"must be a {name} from {low} to {high}, got {text!r}"
        raise argparse.ArgumentTypeError(msg)
    return value


def rising(text: str, low: int, high: int) -> tuple[int, ...]:
    """Two or more different whole numbers with commas between them, sorted.

    >>> rising("512,64,128", 1, 1000)
    (64, 128, 512)
    """
    sizes = {int(number(part, int, low, high)) for part in text.split(",")}
    if len(sizes) < 2:  # noqa: PLR2004 - growth is seen between two
        msg = f"must be two or more numbers with commas between them, got {text!r}"
        raise argparse.ArgumentTypeError(msg)
    return tuple(sorted(sizes))

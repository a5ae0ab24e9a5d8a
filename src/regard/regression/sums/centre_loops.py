"""The loops of ``centre``: one pass over the numbers to add them up, one to move them."""

from __future__ import annotations

from numba import njit

__all__ = ["moved", "total"]

_options = {"nogil": True, "cache": True, "error_model": "numpy"}


@njit(**_options, fastmath={"reassoc", "nsz"})
def total(numbers, first, last):
    found = 0.0
    for i in range(first, last):
        found += numbers[i]
    return found


@njit(**_options)
def moved(numbers, by, first, last, out):
    for i in range(first, last):
        out[i] = numbers[i] - by

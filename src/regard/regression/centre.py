"""Numbers without their middle, so that what is computed of them keeps its digits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.attention.cpu.threads import share
from regard.regression.sums.base import Array

__all__ = ["centred"]

FEW = 1 << 14  # numbers, up to which other threads would start too late to help


def centred(numbers: NDArray[Any], weight: Array | None = None) -> tuple[Array, Array]:
    """[n, d] in float64 with the mean taken off each column, and the means [d].

    One column without weights, the data of most who have many, is added up and moved by all
    threads: of a large array that is not in memory yet, the first to write has most of the work.
    """
    if weight is not None:
        middle = weight @ numbers.astype(np.float64, copy=False) / weight.sum()
        return numbers - middle, middle
    if numbers.shape[1] > 1 or len(numbers) <= FEW:
        middle = numbers.mean(0, dtype=np.float64)
        return numbers - middle, middle
    from regard.regression.sums import centre_loops  # noqa: PLC0415 - numba

    line, out = np.ascontiguousarray(numbers[:, 0]), np.empty((len(numbers), 1))
    n, sums = len(line), {}

    def add(first: int, step: int) -> None:
        sums[first] = centre_loops.total(line, n * first // step, n * (first + 1) // step)

    def move(first: int, step: int) -> None:
        rows = n * first // step, n * (first + 1) // step
        centre_loops.moved(line, middle[0], *rows, out[:, 0])

    share(add, n)
    middle = np.array([sum(sums[i] for i in sorted(sums)) / n])
    share(move, n)
    return out, middle

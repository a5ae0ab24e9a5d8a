"""How far a curve may be off: its standard error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from regard.regression.smoother import Smoother
from regard.regression.sums.base import Array

__all__ = ["Band"]


class Band:
    """sigma(x) * sqrt(the sum of the squared weights), sigma from the leave-one-out errors.

    sigma^2(x) is the kernel's own average of the squared errors around x. An average over no more
    than one point tells nothing of the noise: as many points as weigh equally are 1 / (the sum of
    the squared weights), and from 2 of them down to 1 the mean square of all errors takes over.
    """

    def __init__(self, data: Smoother, width: Array) -> None:
        self._data, self._width = data, width
        miss = np.square(data.told(width) - data.y)
        self._everywhere = data.weight @ miss / data.total_weight
        self._noise = replace(data, y=miss, degree=0)

    def at(self, q: Array) -> Array:
        """[m, k]; infinity where no data are in reach: nothing is known there."""
        here = self._noise.at(q, self._width).values
        squares = self._data.squares(q, self._width)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            local = np.clip(1 / squares - 1, 0.0, 1.0)
            variance = local * np.maximum(here, 0.0) + (1 - local) * self._everywhere
            found = np.sqrt(variance * squares)
        return np.where(np.isfinite(found), found, np.inf)

"""Sums over all pairs, a tile of points at a time: any kernel, any number of features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regard.attention.cpu.threads import share
from regard.regression.kernels import KERNELS, Kernel
from regard.regression.sums.base import Array, Found, Kind, Sums
from regard.regression.sums.direct import Direct
from regard.regression.sums.tiled_loops import CODES, TOGETHER, far, near

__all__ = ["Tiled"]

OTHERS: tuple[Kind, ...] = ("uk", "uuk", "dk", "udk")
# A sum of exponentials above this, times the largest weight, is not yet short of digits; below it
# the query is summed again relative to the point that counts most.
FAINT = 1e-250


class Tiled(Sums):
    """O(n m) time, O(n + m) memory, right to rounding; ``tol`` is not needed.

    A kernel of one's own, one that is not in the table, is summed by ``Direct``, in NumPy. A point
    of weight 0 is no point.
    """

    def __init__(
        self,
        x: Array,
        columns: Array,
        width: Array,
        tol: float = 0.0,
        kernel: Kernel = KERNELS["gaussian"],
    ) -> None:
        self._direct = None
        if KERNELS.get(kernel.name) is not kernel:
            self._direct = Direct(x, columns, width, tol, kernel)
            return
        kept = columns[:, 0] > 0
        self._kept = np.flatnonzero(kept)
        self._xt = np.ascontiguousarray(x[kept].T, np.float64)
        self._ct = np.ascontiguousarray(columns[kept].T, np.float64)
        self._inverse = 1.0 / np.asarray(width, np.float64)
        self._kernel = kernel

    def at(self, q: Array, kinds: Sequence[Kind] = ("k",), *, leave_out: bool = False) -> Found:
        if self._direct is not None:
            return self._direct.at(q, kinds, leave_out=leave_out)
        q = np.ascontiguousarray(q, np.float64)
        (m, d), c = q.shape, len(self._ct)
        wanted = np.array([kind in kinds for kind in OTHERS])
        k = np.zeros((m, c))
        others = np.zeros((m, 4, c, d) if wanted.any() else (m, 0, 0, 0))
        log_scale = np.zeros(m)
        own = np.empty(0, np.int64)
        if leave_out:
            own = np.full(m, -1)
            own[self._kept] = np.arange(self._kept.size)
        code = CODES[self._kernel.name]
        beside = (q, own, self._xt, self._ct, self._inverse, wanted, k, others)
        if m and self._kept.size:
            share(lambda first, step: near(first, step, code, *beside), -(-m // TOGETHER))
            if np.isinf(self._kernel.support):
                faint = np.flatnonzero(~(k[:, 0] > FAINT * self._ct[0].max()))
                share(
                    lambda first, step: far(first, step, code, faint, *beside, log_scale),
                    faint.size,
                )
        sums = {kind: k if kind == "k" else others[:, OTHERS.index(kind)] for kind in kinds}
        return Found(sums, log_scale)

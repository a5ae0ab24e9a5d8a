"""What a kernel sum is, and how an algorithm for one is asked.

With u_j = (q - x_j) / h, feature by feature, every question of kernel regression is a few sums

    k    sum over j of K(u_j) c_j              the prediction is one column's over another's
    uk   sum over j of u_j K(u_j) c_j          local lines; slopes of the Gaussian
    uuk  sum over j of u_j^2 K(u_j) c_j
    dk   sum over j of K'(u_j) c_j             slopes: d/dq is dk / h
    udk  sum over j of u_j K'(u_j) c_j         widths: d/dlog h is -udk

over columns c: the data's weights, and weights times values. K(0) = 1: what is the same in
numerator and denominator is left out. In several features K is a product, and all but ``k`` have
one entry a feature.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Found", "Index", "Kind", "LeftOut", "Sums"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Kind = Literal["k", "uk", "uuk", "dk", "udk"]


class Found(NamedTuple):
    """The sums at m queries, each a factor exp(log_scale) too small.

    So that far from all data, where every K underflows, the ratio of two sums still has its digits:
    there it is the nearest value. ``sums["k"]`` is [m, c], the others are [m, c, d].
    """

    sums: dict[Kind, Array]
    log_scale: Array


class LeftOut(NamedTuple):
    """How far each point is from what the others tell, added up over most points.

    ``squares`` is the sum of weight times miss^2, over all columns but the first; ``slope`` that of
    weight times miss times the derivative of what is told by log h. The points ``rest`` are not in
    them; ``found`` has their sums of ``k`` and ``udk``, left out.
    """

    squares: float
    slope: float
    rest: Index
    found: Found


class Sums(ABC):
    """An algorithm, prepared for data of one width; made anew for another.

    Args:
        x: [n, d], the data, near the origin: the caller has taken off their middle, in float64.
        columns: [n, c]; the first is the weights, 0 or more; the others sum up to any sign.
        width: [d], above 0.
        tol: the error of any ratio column / first column, as a share of the largest of
            |column / first column| over the data.

    """

    @abstractmethod
    def __init__(self, x: Array, columns: Array, width: Array, tol: float) -> None: ...

    @abstractmethod
    def at(self, q: Array, kinds: Sequence[Kind] = ("k",), *, leave_out: bool = False) -> Found:
        """The sums at queries [m, d]; with ``leave_out`` q is x, and each point leaves itself out.

        A point whose weight is all there is leaves sums of 0 behind.
        """

    def averages(
        self,
        q: Array,
        middle: Array,
        level: Array,
    ) -> Array | None:
        """``level`` + each column's sum over the first's at q - middle, [m, c - 1].

        For algorithms that can do it in one pass over the queries, and where all have data in
        reach; None where ``at`` has to tell.
        """
        return None

    def left_out(self) -> LeftOut | None:
        """The errors of all points, each told by the others; one feature, weights above 0.

        For algorithms that can do it without writing down what is told; None where ``at`` has to.
        """
        return None

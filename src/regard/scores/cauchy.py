"""The Cauchy kernel: nearness with a heavy tail."""

from __future__ import annotations

from dataclasses import dataclass

from regard.scores.elementwise import Kernel
from regard.scores.expression import log, symbols

__all__ = ["Cauchy"]

_q, _k, _p0, _ = symbols()
_u = _p0 * (_q - _k)


@dataclass(frozen=True, eq=False)
class Cauchy(Kernel):
    """score(q, k) = -log(1 + ((q - k) / width)^2), added over the features."""

    PHI = str(-log(1.0 + _u * _u))

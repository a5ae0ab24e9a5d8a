"""The Laplacian kernel: nearness, by absolute distance."""

from __future__ import annotations

from dataclasses import dataclass

from regard.scores.elementwise import Kernel
from regard.scores.expression import symbols

__all__ = ["Laplacian"]

_q, _k, _p0, _ = symbols()


@dataclass(frozen=True, eq=False)
class Laplacian(Kernel):
    """score(q, k) = -|(q - k) / width|, added over the features."""

    PHI = str(_p0 * -abs(_q - _k))

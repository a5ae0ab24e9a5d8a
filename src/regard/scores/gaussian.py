"""The Gaussian kernel: nearness, squared."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.scores.elementwise import Kernel
from regard.scores.expression import symbols

__all__ = ["Gaussian"]

_q, _k, _p0, _ = symbols()


@dataclass(frozen=True, eq=False)
class Gaussian(Kernel):
    """score(q, k) = -|(q - k) / width|^2 / 2  (Nadaraya 1964, Watson 1964).

    >>> import torch
    >>> from regard import Gaussian, attend
    >>> x = torch.tensor([[0.0], [1.0], [2.0]])
    >>> attend(x, x, 10 * x, score=Gaussian(width=0.1)).flatten().round().tolist()
    [0.0, 10.0, 20.0]
    """

    # not |q|^2 - 2qk + |k|^2: that cancels for close points far from the origin; who asks for tf32
    # gets it all the same, about a centre (attention/centred.py)
    PHI = str(_p0 * ((_q - _k) * (_q - _k)))

    def parameters(self, q: Tensor) -> tuple[Tensor, None]:
        p0, _ = super().parameters(q)
        return -0.5 * p0 * p0, None

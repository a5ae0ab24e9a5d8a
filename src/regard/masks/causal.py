"""No look ahead."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.errors import KindError
from regard.masks.base import Mask, Spans

__all__ = ["Causal", "check_integer"]


def check_integer(owner: str, name: str, value: object) -> None:
    """Raise unless the value is an integer (True is not one)."""
    if isinstance(value, bool) or not isinstance(value, (int, torch.SymInt)):
        msg = f"{owner}: {name} must be an integer, got {value!r}"
        raise KindError(msg)


@dataclass(frozen=True)
class Causal(Mask):
    """Query i sees the keys 0 to i + offset; offset = m - n puts the last query on the last key.

    >>> from regard import Causal
    >>> Causal(offset=3).dense(2, 5).int().tolist()
    [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    """

    offset: int = 0

    def __post_init__(self) -> None:
        check_integer("Causal", "offset", self.offset)

    def allows(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Tensor:
        i, j = torch.arange(n, device=device), torch.arange(m, device=device)
        return j <= i[:, None] + self.offset

    def spans(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Spans:
        hi = (torch.arange(n, device=device) + (self.offset + 1)).clamp(0, m)
        return Spans(torch.zeros_like(hi), hi)

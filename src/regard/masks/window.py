"""Truncated attention: only the neighbourhood."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.errors import ValueRangeError
from regard.masks.base import Mask, Spans
from regard.masks.causal import check_integer

__all__ = ["Window"]


@dataclass(frozen=True)
class Window(Mask):
    """Query i sees ``left`` keys before its own position and ``right`` after it.

    Args:
        left, right: 0 or more; None: no limit on that side.
        offset: where query 0 stands among the keys; m - n puts the last query on the last key.

    >>> from regard import Window
    >>> Window(left=1, right=0).dense(3, 3).int().tolist()
    [[1, 0, 0], [1, 1, 0], [0, 1, 1]]

    """

    left: int | None = None
    right: int | None = None
    offset: int = 0

    def __post_init__(self) -> None:
        for name in ("left", "right"):
            value = getattr(self, name)
            if value is None:
                continue
            check_integer("Window", name, value)
            if value < 0:
                msg = f"Window: {name} must be 0 or more, got {value}"
                raise ValueRangeError(msg)
        check_integer("Window", "offset", self.offset)

    def allows(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Tensor:
        here = torch.arange(n, device=device)[:, None] + self.offset
        j = torch.arange(m, device=device)
        seen = torch.ones(n, m, dtype=torch.bool, device=device)
        if self.left is not None:
            seen &= j >= here - self.left
        if self.right is not None:
            seen &= j <= here + self.right
        return seen

    def spans(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Spans:
        here = torch.arange(n, device=device) + self.offset
        none, every = torch.zeros_like(here), torch.full_like(here, m)
        lo = none if self.left is None else (here - self.left).clamp(0, m)
        hi = every if self.right is None else (here + (self.right + 1)).clamp(0, m)
        return Spans(lo, hi)

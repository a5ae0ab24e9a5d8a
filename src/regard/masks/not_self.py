"""Leave one out: everything but oneself."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.masks.base import Mask, Spans

__all__ = ["NotSelf"]


@dataclass(frozen=True)
class NotSelf(Mask):
    """Query i sees every key but key i.

    >>> from regard import NotSelf
    >>> NotSelf().dense(2, 3).int().tolist()
    [[0, 1, 1], [1, 0, 1]]
    """

    def allows(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Tensor:
        return torch.arange(n, device=device)[:, None] != torch.arange(m, device=device)

    def spans(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Spans:
        lo = torch.zeros(n, dtype=torch.int64, device=device)
        return Spans(lo, torch.full_like(lo, m), not_self=True)

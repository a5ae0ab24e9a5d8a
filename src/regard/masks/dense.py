"""Any rule at all, written out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.errors import KindError, ShapeError
from regard.masks.base import Mask, Spans
from regard.shapes import spreads_to

__all__ = ["Dense"]


@dataclass(frozen=True, eq=False)
class Dense(Mask):
    """Query i sees key j where ``seen[..., i, j]`` is True: for what is no interval.

    Args:
        seen: bool, broadcasts against [*b, n, m].

    """

    seen: Tensor

    def __post_init__(self) -> None:
        if not isinstance(self.seen, Tensor) or self.seen.dtype != torch.bool:
            got = (
                str(self.seen.dtype) if isinstance(self.seen, Tensor) else type(self.seen).__name__
            )
            msg = f"Dense: seen must be a bool tensor, True for what may be seen; got {got}"
            raise KindError(msg)
        if self.seen.ndim < 2:  # noqa: PLR2004 - queries and keys
            msg = f"Dense: seen must have the axes [*b, n, m], got {list(self.seen.shape)}"
            raise ShapeError(msg)

    def check(self, batch: torch.Size, n: int, m: int, device: torch.device) -> None:
        wanted = torch.Size((*batch, n, m))
        if not spreads_to(self.seen.shape, wanted):
            msg = (
                f"Dense: seen must broadcast against [*b, n, m] = {list(wanted)}, "
                f"got {list(self.seen.shape)}"
            )
            raise ShapeError(msg)
        if self.seen.device != device:
            msg = f"Dense: seen must be on the device of q, {device}; it is on {self.seen.device}"
            raise ShapeError(msg)

    def allows(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Tensor:
        return self.seen.expand(*self.seen.shape[:-2], n, m)

    def spans(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Spans:
        lo = torch.zeros(n, dtype=torch.int64, device=device)
        return Spans(lo, torch.full_like(lo, m), dense=self.allows(batch, n, m, device))

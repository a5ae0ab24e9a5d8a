"""Packed batches: several documents in one row, none seeing another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from regard.errors import ShapeError, ValueRangeError
from regard.masks.base import Mask, Spans, as_index_tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Documents"]


@dataclass(frozen=True, eq=False)
class Documents(Mask):
    """Position i sees the positions of its own document (self-attention: n = m).

    Args:
        ids: [n], or [b, n] with b the first axis of q. Each document is one run of equal ids.

    >>> from regard import Documents
    >>> Documents([7, 7, 3]).dense(3, 3).int().tolist()
    [[1, 1, 0], [1, 1, 0], [0, 0, 1]]

    """

    ids: Tensor | Sequence[int]

    def __post_init__(self) -> None:
        ids = as_index_tensor("Documents", "ids", self.ids, 2)
        object.__setattr__(self, "ids", ids)
        if torch.compiler.is_compiling() or ids.device.type != "cpu" or not ids.numel():
            return
        for row in ids.view(-1, ids.shape[-1]):
            runs = torch.unique_consecutive(row)
            if runs.numel() != torch.unique(row).numel():
                msg = (
                    "Documents: ids must come in runs, each document in one piece; "
                    f"got the runs {runs.tolist()[:8]}"
                )
                raise ValueRangeError(msg)

    def check(self, batch: torch.Size, n: int, m: int, device: torch.device) -> None:
        ids = self.ids
        assert isinstance(ids, Tensor)
        if n != m or ids.shape[-1] != n:
            msg = f"Documents: ids must name n = m positions, got {ids.shape[-1]} for n={n}, m={m}"
            raise ShapeError(msg)
        if ids.ndim > 1 and (not batch or ids.shape[0] != batch[0]):
            got = batch[0] if batch else "no batch axis"
            msg = f"Documents: ids [b, n] has {ids.shape[0]} rows, q has {got} sequences"
            raise ShapeError(msg)

    def _aligned(self, batch: torch.Size, device: torch.device) -> Tensor:
        ids = self.ids
        assert isinstance(ids, Tensor)
        ids = ids.to(device, torch.int64)
        ones = (1,) * (len(batch) - 1)
        return ids.view(ids.shape[0], *ones, ids.shape[1]) if ids.ndim > 1 else ids

    def allows(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Tensor:
        ids = self._aligned(batch, device)
        return ids.unsqueeze(-1) == ids.unsqueeze(-2)

    def spans(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Spans:
        ids = self._aligned(batch, device)
        here = torch.arange(n, device=device).expand(ids.shape)
        if not n:
            return Spans(here, here)
        edge = torch.ones_like(ids[..., :1], dtype=torch.bool)
        change = ids[..., 1:] != ids[..., :-1]
        first = torch.cat((edge, change), -1)
        last = torch.cat((change, edge), -1)
        lo = torch.where(first, here, 0).cummax(-1).values
        hi = torch.where(last, here + 1, m).flip(-1).cummin(-1).values.flip(-1)
        return Spans(lo, hi)

"""Padding: how many keys of each sequence are real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from regard.errors import ShapeError, ValueRangeError
from regard.masks.base import Mask, Spans, as_index_tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Lengths"]


@dataclass(frozen=True, eq=False)
class Lengths(Mask):
    """A sequence's queries see its first ``lengths`` keys; the same for all its heads.

    Args:
        lengths: [b], one a sequence, or [b, n], one a sequence and query, where b is the first
            axis of q. 0 is allowed: such a query sees nothing.

    >>> from regard import Lengths
    >>> Lengths([1, 3]).dense(2, 3, batch=(2,)).int().tolist()
    [[[1, 0, 0], [1, 0, 0]], [[1, 1, 1], [1, 1, 1]]]

    """

    lengths: Tensor | Sequence[int]

    def __post_init__(self) -> None:
        lengths = as_index_tensor("Lengths", "lengths", self.lengths, 2)
        object.__setattr__(self, "lengths", lengths)
        # a look at the numbers: not inside a compiled graph, and not when it would stall a GPU
        if not torch.compiler.is_compiling() and lengths.device.type == "cpu" and lengths.numel():
            least = int(lengths.min())
            if least < 0:
                msg = f"Lengths: lengths must be 0 or more, got {least}"
                raise ValueRangeError(msg)

    def check(self, batch: torch.Size, n: int, m: int, device: torch.device) -> None:
        lengths = self.lengths
        assert isinstance(lengths, Tensor)
        if not batch:
            msg = "Lengths needs a batch axis: q is [n, d]; use q[None], k[None], v[None]"
            raise ShapeError(msg)
        if lengths.shape[0] != batch[0]:
            msg = (
                f"Lengths: lengths must have one entry for each of the {batch[0]} sequences, "
                f"got {lengths.shape[0]}"
            )
            raise ShapeError(msg)
        if lengths.ndim == 2 and lengths.shape[1] != n:  # noqa: PLR2004 - [b, n]
            msg = f"Lengths: lengths [b, n] must have n={n} columns, got {lengths.shape[1]}"
            raise ShapeError(msg)
        if torch.compiler.is_compiling() or lengths.device.type != "cpu" or not lengths.numel():
            return
        most = int(lengths.max())
        if most > m:
            msg = f"Lengths: lengths must be at most m={m}, the number of keys, got {most}"
            raise ValueRangeError(msg)

    def _aligned(self, batch: torch.Size, device: torch.device) -> Tensor:
        """[b, 1, ..., 1 or n]: one axis for each batch axis, and the queries."""
        lengths = self.lengths
        assert isinstance(lengths, Tensor)
        lengths = lengths.to(device, torch.int64)
        ones = (1,) * (len(batch) - 1)
        return lengths.view(lengths.shape[0], *ones, lengths.shape[1] if lengths.ndim > 1 else 1)

    def allows(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Tensor:
        return torch.arange(m, device=device) < self._aligned(batch, device).unsqueeze(-1)

    def spans(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Spans:
        hi = self._aligned(batch, device).clamp(0, m)
        hi = hi.expand(*hi.shape[:-1], n)
        return Spans(torch.zeros_like(hi), hi)

"""What a call has besides q, k and v, as every kernel takes it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from regard.attention.call import Call
from regard.attention.dropout import threshold
from regard.attention.triton.elementary import PRODUCTS

__all__ = [
    "COLUMNS",
    "EXACT",
    "LOG2E",
    "LONG",
    "Beside",
    "beside_of",
    "for_parameter",
    "power_of_two",
]

LOG2E = 1.4426950408889634  # scores are in base 2, because the hardware's exponential is
LONG = 2048  # keys (or queries) whose sum float32 may hold, added up a tile at a time
EXACT = PRODUCTS
# Columns of a factor of a product in half precision. With 16 of them Triton 3.6 gives wrong numbers
# on sm_90 where rows begin at odd addresses: a factor of 32 bytes a row that comes from registers.
COLUMNS = 32


@dataclass(frozen=True)
class Beside:
    """What a call has besides q, k and v, as the kernels take it."""

    table: Tensor
    lo: Tensor
    hi: Tensor
    dense: Tensor
    seed: Tensor
    per_mask: int
    per_dense: int
    tables: int
    least: int
    keep_scale: float
    flags: dict[str, bool]

    @property
    def dense_strides(self) -> tuple[int, ...]:
        """Of [M, n, m]."""
        return self.dense.stride() if self.flags["DENSE"] else (0, 0, 0)


def beside_of(call: Call) -> Beside:
    """Lay it out; nothing is copied that is as it should be."""
    batch, device = call.q.shape[0], call.q.device
    nothing = torch.empty(1, dtype=torch.int32, device=device)  # stands where nothing is read
    lo = nothing if call.lo is None else call.lo.to(torch.int32).contiguous()
    hi = nothing if call.hi is None else call.hi.to(torch.int32).contiguous()
    dense = nothing if call.dense is None else call.dense.view(torch.uint8)
    table = nothing if call.table is None else call.table.detach().float().contiguous()
    drop = bool(call.dropout) and call.seed is not None
    return Beside(
        table,
        lo,
        hi,
        dense,
        call.seed.to(device).reshape(1) if drop and call.seed is not None else nothing,
        batch // (1 if call.lo is None else call.lo.shape[0]),
        batch // (1 if call.dense is None else call.dense.shape[0]),
        1 if call.table is None else call.table.shape[0],
        threshold(call.dropout) if drop else 0,
        1 / (1 - call.dropout) if drop else 1.0,
        {
            "SPANS": call.lo is not None,
            "NOT_SELF": call.not_self,
            "DENSE": call.dense is not None,
            "TABLE": call.table is not None,
            "DROP": drop,
        },
    )


@lru_cache  # asked twenty times a call, of a few widths
def power_of_two(width: int, least: int = 16) -> int:
    """The side of a tile that has room for so many features."""
    return max(least, 1 << (max(width, 1) - 1).bit_length())


def for_parameter(p: Tensor, total: Tensor) -> Tensor:
    """The sums of all heads for a parameter that some of them share."""
    heads = p.shape[0]
    return total.reshape(total.shape[0] // heads, heads, total.shape[1]).sum(0)

"""What a mask is: for every query, which keys it may see."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.errors import KindError, ShapeError

__all__ = ["And", "Mask", "Spans", "as_index_tensor"]


@dataclass(frozen=True, eq=False)
class Spans:
    """The interval of keys each query may see, ``lo[i] <= j < hi[i]``.

    Two integers a query, [n] or [*b, n] with axes of size 1 where nothing changes. ``not_self``
    takes key i from query i; ``dense`` is what is no interval.
    """

    lo: Tensor
    hi: Tensor
    not_self: bool = False
    dense: Tensor | None = None

    def __and__(self, other: Spans) -> Spans:
        dense = self.dense if other.dense is None else other.dense
        if self.dense is not None and other.dense is not None:
            dense = self.dense & other.dense
        return Spans(
            torch.maximum(self.lo, other.lo),
            torch.minimum(self.hi, other.hi),
            self.not_self or other.not_self,
            dense,
        )

    def allowed(self, i: Tensor, j: Tensor) -> Tensor:
        """Expand to True and False for the queries i (all of them) and the keys j."""
        seen = (self.lo.unsqueeze(-1) <= j) & (j < self.hi.unsqueeze(-1))
        if self.not_self:
            seen = seen & (i.unsqueeze(-1) != j)
        return seen if self.dense is None else seen & self.dense


class Mask(ABC):
    """Which keys a query may see. True always means *may see*.

    The rule is ``allows``; ``spans`` is the same rule as one interval a query, from which kernels
    skip what lies outside. Masks combine with ``&``.
    """

    @abstractmethod
    def allows(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Tensor:
        """Give the rule as True and False, [*b, n, m] or what broadcasts to it."""

    @abstractmethod
    def spans(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Spans:
        """Give the rule as intervals, in O(n) time and memory."""

    def check(self, batch: torch.Size, n: int, m: int, device: torch.device) -> None:
        """Raise unless the mask fits queries [*b, n, d] and keys [*b, m, e]."""
        return

    def __and__(self, other: Mask) -> Mask:
        if not isinstance(other, Mask):
            msg = f"only a mask can be combined with a mask, got {type(other).__name__}"
            raise KindError(msg)
        return And(self, other)

    def dense(self, n: int, m: int, batch: tuple[int, ...] = ()) -> Tensor:
        """Write the whole mask out: for looking at, and for tests.

        >>> from regard import Causal, Window
        >>> (Causal() & Window(left=1)).dense(3, 3).int().tolist()
        [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
        """
        size, device = torch.Size(batch), torch.device("cpu")
        self.check(size, n, m, device)
        return self.allows(size, n, m, device).expand(*batch, n, m)


@dataclass(frozen=True)
class And(Mask):
    """What both of two masks let see."""

    first: Mask
    second: Mask

    def allows(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Tensor:
        return self.first.allows(batch, n, m, device) & self.second.allows(batch, n, m, device)

    def spans(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Spans:
        return self.first.spans(batch, n, m, device) & self.second.spans(batch, n, m, device)

    def check(self, batch: torch.Size, n: int, m: int, device: torch.device) -> None:
        self.first.check(batch, n, m, device)
        self.second.check(batch, n, m, device)


def as_index_tensor(owner: str, name: str, x: object, most_axes: int) -> Tensor:
    """Integers of 1 to ``most_axes`` axes, from a tensor, an array or a list."""
    try:
        found = x if isinstance(x, Tensor) else torch.as_tensor(x)
    except (TypeError, ValueError, RuntimeError) as cause:
        msg = f"{owner}: {name} must be integers, got {type(x).__name__}"
        raise KindError(msg) from cause
    if not isinstance(x, Tensor) and not found.numel():
        found = found.long()  # an empty list has no type
    if found.is_floating_point() or found.is_complex() or found.dtype == torch.bool:
        msg = f"{owner}: {name} must be integers, got {str(found.dtype).removeprefix('torch.')}"
        raise KindError(msg)
    if not 1 <= found.ndim <= most_axes:
        msg = f"{owner}: {name} must have 1 to {most_axes} axes, got the shape {list(found.shape)}"
        raise ShapeError(msg)
    return found

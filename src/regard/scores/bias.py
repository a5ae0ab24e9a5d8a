"""What the distance from query to key adds to a score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from regard.errors import KindError, ShapeError

__all__ = ["Bias", "Distances", "Slope"]


class Bias(ABC):
    """A number for each distance j - i, the same for all heads or one row a head.

    >>> import torch
    >>> from regard import Dot, Slope
    >>> score = Dot() + Slope(torch.tensor([0.5, 0.25]))
    """

    @abstractmethod
    def of(self, distance: Tensor) -> Tensor:
        """Give the bias at integer distances j - i: [t] or [heads, t], in float64.

        A parameter's gradient is a sum over all pairs at its distance; float64 keeps its digits.
        """

    def between(self, i: Tensor, j: Tensor) -> Tensor:
        """Give the bias of each pair: [n, m] or [heads, n, m]."""
        distance = j[None, :] - i[:, None]
        flat = self.of(distance.flatten())
        return flat.reshape(*flat.shape[:-1], *distance.shape)

    def table(self, n: int, m: int, device: torch.device) -> Tensor:
        """All there is to know for n queries and m keys: entry t is the distance t - (n - 1)."""
        return self.of(torch.arange(1 - n, max(m, 1), device=device))

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors among the parameters: what may want a gradient."""
        found = (getattr(self, f.name) for f in fields(self))  # type: ignore[arg-type]
        return tuple(x for x in found if isinstance(x, Tensor))

    def check(self, q: Tensor) -> None:
        """Raise unless there is one row for all heads of q, or one for each."""
        for x in self.tensors:
            heads = self.heads(x)
            if heads is not None and (q.ndim < 3 or q.shape[-3] != heads):  # noqa: PLR2004
                got = q.shape[-3] if q.ndim > 2 else "no head axis"  # noqa: PLR2004
                msg = (
                    f"{type(self).__name__} has one row for each of {heads} heads, "
                    f"q {list(q.shape)} has {got}"
                )
                raise ShapeError(msg)

    @staticmethod
    @abstractmethod
    def heads(x: Tensor) -> int | None:
        """How many heads the parameter x is for; None: one for all."""


@dataclass(frozen=True, eq=False)
class Slope(Bias):
    """-slope * |j - i - offset|: the further, the less  (ALiBi, Press et al. 2022).

    Args:
        slopes: one number, or one a head [heads]. It may learn.
        offset: where query 0 stands among the keys; m - n puts the last query on the last key.

    """

    slopes: Tensor
    offset: int = 0

    def __post_init__(self) -> None:
        _check_tensor("Slope", "slopes", self.slopes, (0, 1))

    def of(self, distance: Tensor) -> Tensor:
        slopes = self.slopes.double()
        away = (distance - self.offset).abs().double()
        return -slopes.unsqueeze(-1) * away if slopes.ndim else -slopes * away

    @staticmethod
    def heads(x: Tensor) -> int | None:
        return x.shape[0] if x.ndim else None


@dataclass(frozen=True, eq=False)
class Distances(Bias):
    """One learned number for each distance from -r to r; further away counts as r.

    Args:
        values: [2 r + 1], or one row a head [heads, 2 r + 1]; the middle entry is distance 0.
        offset: where query 0 stands among the keys.

    """

    values: Tensor
    offset: int = 0

    def __post_init__(self) -> None:
        _check_tensor("Distances", "values", self.values, (1, 2))
        if self.values.shape[-1] % 2 == 0:
            msg = f"Distances: values must have 2 r + 1 entries, got {self.values.shape[-1]}"
            raise ShapeError(msg)

    def of(self, distance: Tensor) -> Tensor:
        r = self.values.shape[-1] // 2
        return self.values.double()[..., (distance - self.offset).clamp(-r, r) + r]

    @staticmethod
    def heads(x: Tensor) -> int | None:
        return x.shape[0] if x.ndim > 1 else None


def _check_tensor(owner: str, name: str, x: Tensor, ranks: tuple[int, int]) -> None:
    if not isinstance(x, Tensor) or not x.is_floating_point():
        got = str(x.dtype) if isinstance(x, Tensor) else type(x).__name__
        msg = f"{owner}: {name} must be a floating point tensor, got {got}"
        raise KindError(msg)
    if x.ndim not in ranks:
        msg = f"{owner}: {name} must have {ranks[0]} or {ranks[1]} axes, got {list(x.shape)}"
        raise ShapeError(msg)

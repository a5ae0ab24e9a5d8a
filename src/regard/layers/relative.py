"""How far a key stands from its query, told to the score: ALiBi and learned biases."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn

from regard.layers.base import check_size
from regard.scores.bias import Bias, Distances, Slope

__all__ = ["ALiBi", "RelativeBias", "RelativePositions"]


class RelativePositions(nn.Module):
    """A module that adds to the scores of its heads, by distance."""

    @abstractmethod
    def bias(self, offset: int = 0) -> Bias:
        """Give the bias; query 0 stands at ``offset`` among the keys."""


class ALiBi(RelativePositions):
    """Take slope * distance from each score, a fixed slope a head (Press et al. 2022).

    The slopes are 2^(-8/h), 2^(-16/h), ..., 2^-8: the last heads look far, the first near.

    >>> from regard.layers import ALiBi
    >>> ALiBi(num_heads=4).slopes.tolist()
    [0.25, 0.0625, 0.015625, 0.00390625]

    """

    slopes: Tensor

    def __init__(self, num_heads: int) -> None:
        super().__init__()
        check_size("ALiBi", "num_heads", num_heads)
        head = torch.arange(1, num_heads + 1, dtype=torch.float64)
        self.register_buffer("slopes", 2 ** (-8 * head / num_heads), persistent=False)

    def bias(self, offset: int = 0) -> Slope:
        return Slope(self.slopes, offset)


class RelativeBias(RelativePositions):
    """Add a learned number for each head and distance (Shaw et al. 2018, Raffel et al. 2020).

    Args:
        num_heads: one row of numbers a head.
        max_distance: r; keys further away than r count as r away. The numbers start at 0.

    A head that looks at the next word wants numbers some 3 apart. Adam moves what it learns by
    about the learning rate a step, and would take thousands of steps there: what is learned,
    ``table``, is a ``FASTER``-th of the numbers.

    >>> from regard.layers import RelativeBias
    >>> RelativeBias(num_heads=2, max_distance=3).values.shape
    torch.Size([2, 7])

    """

    FASTER = 20.0

    def __init__(self, num_heads: int, max_distance: int = 32) -> None:
        super().__init__()
        check_size("RelativeBias", "num_heads", num_heads)
        check_size("RelativeBias", "max_distance", max_distance)
        self.table = nn.Parameter(torch.zeros(num_heads, 2 * max_distance + 1))

    @property
    def values(self) -> Tensor:
        """[num_heads, 2 r + 1]: what is added to the score of a key -r, ..., r from its query."""
        return self.FASTER * self.table

    def bias(self, offset: int = 0) -> Distances:
        return Distances(self.values, offset)

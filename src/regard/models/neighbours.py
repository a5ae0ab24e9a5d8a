"""Blocks that see a vector's neighbours: a fully connected network, and convolutions."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from regard.layers.blocks import FeedForward, Residual

__all__ = ["ConvolutionBlock", "InGrid", "InLine", "Neighbours", "WindowBlock"]


class Neighbours(ABC):
    """Who stands around each vector."""

    @abstractmethod
    def of(self, x: Float[Tensor, "b n d"]) -> Float[Tensor, "b n kd"]:
        """Lay each vector's k neighbours side by side, itself among them; zeros where none is."""


class InLine(Neighbours):
    """Those at most ``reach`` before or after; ``real`` says which vectors are no padding.

    >>> import torch
    >>> from regard.models.neighbours import InLine
    >>> InLine(torch.tensor([[True, True, False]]), reach=1).of(torch.ones(1, 3, 1)).tolist()
    [[[0.0, 1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0]]]

    """

    def __init__(self, real: Bool[Tensor, "b n"], reach: int) -> None:
        self.reach, self.padding = reach, ~real.unsqueeze(-1)

    def of(self, x: Float[Tensor, "b n d"]) -> Float[Tensor, "b n kd"]:
        n = x.shape[1]
        wide = functional.pad(x.masked_fill(self.padding, 0), (0, 0, self.reach, self.reach))
        return torch.cat([wide[:, i : i + n] for i in range(2 * self.reach + 1)], -1)


class InGrid(Neighbours):
    """Those at most ``reach`` rows and columns away, in images cut into patches.

    Args:
        real: [b, n], which vectors are no padding.
        places: [b, n, 2], the row and column of each patch: whole images, row by row. Images of a
            batch may be of different sizes.
        reach: how far a neighbour may be, along each axis.

    """

    def __init__(self, real: Bool[Tensor, "b n"], places: Int[Tensor, "b n 2"], reach: int) -> None:
        b, n = real.shape
        step = torch.arange(-reach, reach + 1, device=real.device)
        down, right = (x.flatten() for x in torch.meshgrid(step, step, indexing="ij"))
        row, column = places[..., :1] + down, places[..., 1:] + right
        columns = torch.where(real, places[..., 1], -1).amax(1)[:, None, None] + 1
        index = row * columns + column
        there = (row >= 0) & (column >= 0) & (column < columns)
        there = there & real.unsqueeze(-1) & (index < real.sum(1)[:, None, None])
        # whoever is not there is the row of zeros behind each sequence
        each = torch.arange(b, device=real.device)[:, None, None] * (n + 1)
        self.index = torch.where(there, index, n) + each

    def of(self, x: Float[Tensor, "b n d"]) -> Float[Tensor, "b n kd"]:
        rows = functional.pad(x, (0, 0, 0, 1)).flatten(0, 1)
        return rows[self.index].flatten(2)


class WindowBlock(nn.Module):
    """A fully connected network over a vector and its neighbours, laid side by side.

    Args:
        width: of a vector.
        hidden: the width inside the network.
        seen: how many vectors it sees, the one in the middle included.
        dropout, activation, norm: as in ``regard.layers.blocks.Block``.

    """

    def __init__(
        self, width: int, hidden: int, seen: int, *, dropout: float, activation: str, norm: str
    ) -> None:
        super().__init__()
        self.network = FeedForward(width, hidden, dropout, activation)
        self.network.inner = nn.Linear(seen * width, hidden)
        self.around_network = Residual(width, dropout, norm)

    def forward(self, x: Float[Tensor, "b n d"], near: Neighbours) -> Float[Tensor, "b n d"]:
        """Each vector, from those around it."""
        return self.around_network(x, lambda y: self.network(near.of(y)))  # type: ignore[no-any-return]


class ConvolutionBlock(nn.Module):
    """Two convolutions with an activation between them, and a way around both.

    A convolution is a linear map of the neighbours, in a line and in a grid alike.

    Args:
        width: of a vector.
        hidden: how many channels there are between the convolutions.
        seen: how many vectors a convolution sees, the one in the middle included.
        dropout, activation, norm: as in ``regard.layers.blocks.Block``.

    """

    def __init__(
        self, width: int, hidden: int, seen: int, *, dropout: float, activation: str, norm: str
    ) -> None:
        super().__init__()
        inside = FeedForward(width, hidden, dropout, activation)
        self.first = nn.Linear(seen * width, hidden)
        self.between = nn.Sequential(inside.activation, inside.dropout)
        self.second = nn.Linear(seen * hidden, width)
        self.around_both = Residual(width, dropout, norm)

    def forward(self, x: Float[Tensor, "b n d"], near: Neighbours) -> Float[Tensor, "b n d"]:
        """Each vector, from those around it and those around them."""

        def both(y: Tensor) -> Tensor:
            return self.second(near.of(self.between(self.first(near.of(y)))))  # type: ignore[no-any-return]

        return self.around_both(x, both)  # type: ignore[no-any-return]

"""The three layers that are compared, from n positions of width d to n positions of width d."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.api import attend
from regard.attention.choice import Impl

__all__ = [
    "ARCHITECTURES",
    "Architecture",
    "Axis",
    "Convolution",
    "Layer",
    "Quantity",
    "Recurrence",
    "SelfAttention",
]

Axis: TypeAlias = Literal["n", "d", "k"]
Quantity: TypeAlias = Literal["time", "operations", "steps", "path"]


class Layer(nn.Module):
    """From n positions of width d to n positions of width d.

    ``along``: where a signal travels that one round does not bring far enough. In a stack of layers
    that is the depth, in a recurrence it is time.
    """

    along: Literal["depth", "time"] = "depth"

    def round(self, x: Float[Tensor, "b n d"], h: Float[Tensor, "b n d"]) -> Float[Tensor, "b n d"]:
        """What all positions can do at once, from their inputs x and what they hold, h."""
        out: Tensor = self(h)
        return out


class Convolution(Layer):
    """A convolution over k neighbouring positions, with zeros beyond both ends.

    >>> import torch
    >>> Convolution(width=4, kernel=3)(torch.zeros(1, 9, 4)).shape
    torch.Size([1, 9, 4])
    """

    def __init__(self, width: int, kernel: int) -> None:
        """From d and k, an odd number."""
        super().__init__()
        self.conv = nn.Conv1d(width, width, kernel, padding=kernel // 2)

    def forward(self, x: Float[Tensor, "b n d"]) -> Float[Tensor, "b n d"]:
        """All positions at once."""
        out: Tensor = self.conv(x.mT).mT
        return out


class Recurrence(Layer):
    """h[t] = tanh(W x[t] + U h[t - 1] + b), torch's own ``nn.RNN``.

    >>> import torch
    >>> Recurrence(width=4)(torch.zeros(1, 9, 4)).shape
    torch.Size([1, 9, 4])
    """

    along = "time"

    def __init__(self, width: int) -> None:
        """From d."""
        super().__init__()
        self.rnn = nn.RNN(width, width, batch_first=True)

    def forward(self, x: Float[Tensor, "b n d"]) -> Float[Tensor, "b n d"]:
        """One position after the other."""
        out: Tensor = self.rnn(x)[0]
        return out

    def round(self, x: Float[Tensor, "b n d"], h: Float[Tensor, "b n d"]) -> Float[Tensor, "b n d"]:
        """One step in time, everywhere: n rounds from h = 0 make the layer's output."""
        before = torch.cat([torch.zeros_like(h[:, :1]), h[:, :-1]], dim=1)
        weights = [weight for _, weight in self.rnn.named_parameters()]  # W, U and their biases
        return torch.rnn_tanh_cell(x.flatten(0, 1), before.flatten(0, 1), *weights).view_as(x)


class SelfAttention(Layer):
    """attend(x, x, x), one head. As in the O(n^2 d) of the table, without projections.

    >>> import torch
    >>> SelfAttention()(torch.zeros(1, 9, 4)).shape
    torch.Size([1, 9, 4])
    """

    def __init__(self, impl: Impl = "auto") -> None:
        """From the implementation to run; the width is that of x."""
        super().__init__()
        self.impl = impl

    def forward(self, x: Float[Tensor, "b n d"]) -> Float[Tensor, "b n d"]:
        """All positions at once, each looking at every other."""
        return attend(x, x, x, impl=self.impl)


@dataclass(frozen=True)
class Architecture:
    """One row of the table: how to build it, and what theory says of it."""

    name: str
    build: Callable[[int, int, Impl], Layer]  # from d, k and the implementation of attention
    complexity: str
    sequential: str
    path: str
    theory: Mapping[tuple[Quantity, Axis], float]  # exponents; what is not there does not apply


ARCHITECTURES = (  # in the order of the table
    Architecture(
        "CNN",
        lambda d, k, _: Convolution(d, k),
        "O(k n d^2)",
        "O(1)",
        "O(n/k)",
        {
            ("time", "n"): 1,
            ("time", "d"): 2,
            ("operations", "k"): 1,
            ("operations", "n"): 1,
            ("operations", "d"): 2,
            ("steps", "n"): 0,
            ("path", "n"): 1,
            ("path", "k"): -1,
        },
    ),
    Architecture(
        "RNN",
        lambda d, _k, _: Recurrence(d),
        "O(n d^2)",
        "O(n)",
        "O(n)",
        {
            ("time", "n"): 1,
            ("time", "d"): 2,
            ("operations", "n"): 1,
            ("operations", "d"): 2,
            ("steps", "n"): 1,
            ("path", "n"): 1,
        },
    ),
    Architecture(
        "self-attention",
        lambda _d, _k, impl: SelfAttention(impl),
        "O(n^2 d)",
        "O(1)",
        "O(1)",
        {
            ("time", "n"): 2,
            ("time", "d"): 1,
            ("operations", "n"): 2,
            ("operations", "d"): 1,
            ("steps", "n"): 0,
            ("path", "n"): 0,
        },
    ),
)

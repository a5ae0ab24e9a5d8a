"""Where a token stands, told to its vector: sinusoidal, learned, rotary."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.errors import ShapeError, ValueRangeError
from regard.layers.base import check_dropout, check_input, check_size

__all__ = ["LearnedPositions", "PositionalEncoding", "Rotary"]


class PositionalEncoding(nn.Module):
    """Add sines and cosines of the position, one wave length a pair of features (Vaswani 2017).

    ::

        P[i, 2j] = sin(i / 10000^(2j / d)),  P[i, 2j+1] = cos(i / 10000^(2j / d))

    Angles are computed in float64: in float32 those of position 1000 are off by 6e-5. It has no
    parameters, and nothing in the state_dict.

    Args:
        num_hiddens: the width d, even or odd.
        dropout: the part of the sums set to zero while training.
        max_len: the length prepared for; longer sequences are prepared for when they come.

    >>> import torch
    >>> from regard.layers import PositionalEncoding
    >>> PositionalEncoding(num_hiddens=4, dropout=0)(torch.zeros(1, 2, 4))[0, 0].tolist()
    [0.0, 1.0, 0.0, 1.0]

    """

    P: Tensor

    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 1000) -> None:
        super().__init__()
        check_size("PositionalEncoding", "num_hiddens", num_hiddens)
        check_size("PositionalEncoding", "max_len", max_len)
        self.num_hiddens = num_hiddens
        self.dropout = nn.Dropout(check_dropout("PositionalEncoding", dropout))
        self.register_buffer("P", sinusoids(max_len, num_hiddens)[None].float(), persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> PositionalEncoding:  # noqa: FBT001, FBT002 - torch's
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if self.P.dtype != torch.float32:  # half.float() would not bring the digits back
            length, width = self.P.shape[1:]
            self.P = sinusoids(length, width, self.P.device)[None].float()
        return self

    def forward(self, X: Float[Tensor, "b n d"], offset: int = 0) -> Float[Tensor, "b n d"]:
        """Add the encodings of the positions offset, offset + 1, ..."""
        check_input("PositionalEncoding", "X", X, "b n d", self.num_hiddens)
        end = offset + X.shape[1]
        if X.dtype == torch.float64:  # the table's float32 would be its error
            table = sinusoids(end, self.num_hiddens, X.device)[None, offset:]
        else:
            if end > self.P.shape[1]:
                longer = sinusoids(max(end, 2 * self.P.shape[1]), self.num_hiddens, self.P.device)
                self.P = longer[None].to(self.P.dtype)
            table = self.P[:, offset:end].to(X)
        return self.dropout(X + table)  # type: ignore[no-any-return]


def sinusoids(
    length: int, width: int, device: torch.device | None = None
) -> Float[Tensor, "length width"]:
    """Sines in the even columns, cosines in the odd ones; float64."""
    position = torch.arange(length, dtype=torch.float64, device=device)
    even = torch.arange(0, width, 2, dtype=torch.float64, device=device)
    angle = position[:, None] / 10000 ** (even / width)
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(1)[:, :width]


class LearnedPositions(nn.Module):
    """Add a learned vector a position (Gehring et al. 2017).

    Args:
        num_hiddens: the width.
        max_len: how many positions there are; a longer sequence is an error.
        dropout: the part of the sums set to zero while training.

    >>> import torch
    >>> from regard.layers import LearnedPositions
    >>> LearnedPositions(4, max_len=10)(torch.zeros(2, 3, 4)).shape
    torch.Size([2, 3, 4])

    """

    def __init__(self, num_hiddens: int, max_len: int, dropout: float = 0.0) -> None:
        super().__init__()
        check_size("LearnedPositions", "num_hiddens", num_hiddens)
        check_size("LearnedPositions", "max_len", max_len)
        self.table = nn.Parameter(torch.randn(max_len, num_hiddens) * 0.02)
        self.dropout = nn.Dropout(check_dropout("LearnedPositions", dropout))

    def forward(self, X: Float[Tensor, "b n d"], offset: int = 0) -> Float[Tensor, "b n d"]:
        """Add the vectors of the positions offset, offset + 1, ..."""
        check_input("LearnedPositions", "X", X, "b n d", self.table.shape[1])
        end = offset + X.shape[1]
        if end > self.table.shape[0]:
            msg = (
                f"LearnedPositions: there are vectors for max_len={self.table.shape[0]} positions, "
                f"position {end - 1} was asked for; use PositionalEncoding for any length"
            )
            raise ValueRangeError(msg)
        return self.dropout(X + self.table[offset:end].to(X.dtype))  # type: ignore[no-any-return]


class Rotary(nn.Module):
    """Turn pairs of features by an angle that grows with the position (Su et al. 2021).

    Turned queries and keys have a dot product that depends on their distance only. Feature j is
    paired with feature j + d // 2; the last one of an odd width is left as it is.

    Args:
        width: the features of a head, d.
        base: of the wave lengths.

    >>> import torch
    >>> from regard.layers import Rotary
    >>> turn, q, k = Rotary(2), torch.ones(2, 2), torch.ones(2, 2)
    >>> near = turn(q) @ turn(k).mT
    >>> far = turn(q, offset=7) @ turn(k, offset=7).mT
    >>> torch.allclose(near, far)
    True

    """

    def __init__(self, width: int, base: float = 10000.0) -> None:
        super().__init__()
        self.width = check_size("Rotary", "width", width)
        if not base > 1:
            msg = f"Rotary: base must be above 1, got {base!r}"
            raise ValueRangeError(msg)
        self.base = float(base)

    def forward(self, x: Float[Tensor, "*b n d"], offset: int = 0) -> Float[Tensor, "*b n d"]:
        """Turn each row by the angles of its position: offset, offset + 1, ..."""
        if x.ndim < 2 or x.shape[-1] != self.width:  # noqa: PLR2004 - rows and features
            msg = f"Rotary: x must be [*b, n, {self.width}], got the shape {list(x.shape)}"
            raise ShapeError(msg)
        half = self.width // 2
        position = torch.arange(offset, offset + x.shape[-2], device=x.device).double()
        step = self.base ** (-torch.arange(half, device=x.device).double() / max(half, 1))
        angle = position[:, None] * step
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
        return torch.cat((a * cos - b * sin, a * sin + b * cos, rest), -1)

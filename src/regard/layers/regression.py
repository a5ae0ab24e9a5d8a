"""Nadaraya-Watson kernel regression as a layer: one number to learn, the sharpness."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.errors import ShapeError
from regard.layers.base import Attending
from regard.masks import Mask
from regard.scores import Gaussian
from regard.scores.base import parameter
from regard.scores.elementwise import FeatureSum

__all__ = ["NWKernelRegression"]


@dataclass(frozen=True, eq=False)
class _Sharp(FeatureSum):
    """score(q, k) = -((q - k) w)^2 / 2: Gaussian of the width 1 / |w|, for w = 0 too."""

    w: Tensor

    @property
    def formula(self) -> str:
        return Gaussian.PHI

    def parameters(self, q: Tensor) -> tuple[Tensor, None]:
        return -0.5 * parameter("NWKernelRegression", "w", self.w, q).square(), None


class NWKernelRegression(Attending):
    """y(x) = sum over i of softmax_i(-((x - x_i) w)^2 / 2) * y_i, with w to learn.

    w is 1 / width. Its gradient at 0 is exactly 0, so it does not start there.

    >>> import torch
    >>> from regard import NotSelf
    >>> from regard.layers import NWKernelRegression
    >>> x = torch.linspace(0, 5, 50)
    >>> net = NWKernelRegression()
    >>> net(x, x, x.sin(), mask=NotSelf()).shape  # each point from all the others
    torch.Size([50])

    """

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.rand(1))

    def forward(
        self,
        queries: Float[Tensor, " n"],
        keys: Float[Tensor, "n m"] | Float[Tensor, " m"],
        values: Float[Tensor, "n m"] | Float[Tensor, " m"],
        *,
        mask: Mask | None = None,
    ) -> Float[Tensor, " n"]:
        """Predict at the queries; keys and values are [m], or one row a query [n, m].

        With keys [m] a leave-one-out prediction is ``mask=NotSelf()``, and no n x m is made.
        """
        if queries.ndim != 1:
            msg = f"NWKernelRegression: queries must be [n], got the shape {list(queries.shape)}"
            raise ShapeError(msg)
        n = queries.shape[0]
        if keys.shape != values.shape or not (
            keys.ndim == 1 or (keys.ndim == 2 and keys.shape[0] == n)  # noqa: PLR2004
        ):
            msg = (
                f"NWKernelRegression: keys and values must both be [m] or [n, m] with n={n}, "
                f"got the shapes {list(keys.shape)} and {list(values.shape)}"
            )
            raise ShapeError(msg)
        if keys.ndim > 1 and mask is not None:
            msg = (
                "NWKernelRegression: a mask is for keys [m] that all queries share; with a row of "
                "keys for each query [n, m], leave out what shall not be seen"
            )
            raise ShapeError(msg)
        q = queries[:, None] if keys.ndim == 1 else queries[:, None, None]
        k, v = keys.unsqueeze(-1), values.unsqueeze(-1)
        return self.attend(q, k, v, score=_Sharp(self.w), mask=mask).reshape(n)

    @property
    def attention_weights(self) -> Float[Tensor, "n m"]:
        """The weights of the last call, one row a query."""
        found = super().attention_weights
        return found.flatten(0, 1) if found.ndim > 2 else found  # noqa: PLR2004 - a row of keys each

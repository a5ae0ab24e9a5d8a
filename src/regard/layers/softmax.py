"""The softmax of the notes: over the keys that are there."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.reference import softmax
from regard.errors import KindError, ShapeError
from regard.masks import Lengths, Mask

__all__ = ["mask_of", "masked_softmax"]


def masked_softmax(X: Float[Tensor, "b n m"], valid_lens: Tensor | None) -> Float[Tensor, "b n m"]:
    """Softmax over the last axis, of the first ``valid_lens`` entries only.

    A row of length 0 is all zeros. (The textbook form fills what is masked with -1e6, so that such
    a row averages over its padding.)

    Args:
        X: scores [b, n, m].
        valid_lens: [b], one length a sequence, [b, n], one a query, or None.

    >>> import torch
    >>> from regard.layers import masked_softmax
    >>> masked_softmax(torch.zeros(2, 2, 4), torch.tensor([2, 0]))[:, 0].tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]

    """
    if X.ndim != 3:  # noqa: PLR2004 - b, n, m
        msg = f"masked_softmax: X must have the axes [b, n, m], got the shape {list(X.shape)}"
        raise ShapeError(msg)
    mask = mask_of(valid_lens)
    if mask is None:
        return torch.softmax(X, -1)
    batch, n, m = X.shape[:1], X.shape[1], X.shape[2]
    mask.check(batch, n, m, X.device)
    return softmax(X, mask.allows(batch, n, m, X.device))


def mask_of(valid_lens: Tensor | None, mask: Mask | None = None) -> Mask | None:
    """What the notes call valid_lens, as a mask; and another mask beside it."""
    if mask is not None and not isinstance(mask, Mask):
        msg = (
            f"mask must be a mask of regard.masks or None, got {type(mask).__name__}; wrap it: "
            f"Dense(mask) if True means may see"
        )
        raise KindError(msg)
    if valid_lens is None:
        return mask
    # a copy: the caller may fill in the next batch's lengths before the weights are looked at
    lengths = Lengths(valid_lens.clone() if isinstance(valid_lens, Tensor) else valid_lens)
    return lengths if mask is None else lengths & mask

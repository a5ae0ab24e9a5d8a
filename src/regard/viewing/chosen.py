"""Some heads of a call: its score and mask without what belongs to the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from torch import Tensor

from regard.errors import StateError
from regard.masks import And, Causal, Dense, Documents, Lengths, Mask, NotSelf, Window
from regard.scores import Bias, Biased, Bilinear, Distances, Score, Slope
from regard.scores.elementwise import FeatureSum
from regard.viewing.visible import Interval

__all__ = ["mask_of_heads", "score_of_heads"]


def score_of_heads(score: Score, heads: Sequence[int], total: int) -> Score:
    """The score for queries [*b, heads, n, d] of which only some heads are left."""
    if isinstance(score, Biased):
        return Biased(score_of_heads(score.score, heads, total), _bias(score.bias, heads))
    if isinstance(score, Bilinear) or all(x.numel() == 1 for x in score.tensors):
        return score
    if not isinstance(score, FeatureSum):
        msg = (
            f"which parameters of {type(score).__name__} belong to which head is not known; "
            f"capture all heads"
        )
        raise StateError(msg)
    changed = {
        f.name: _along(x, -2, heads, total)
        for f in fields(score)  # type: ignore[arg-type]
        if isinstance(x := getattr(score, f.name), Tensor)
    }
    return replace(score, **changed)  # type: ignore[type-var]


def _bias(bias: Bias, heads: Sequence[int]) -> Bias:
    if isinstance(bias, Slope) and bias.slopes.ndim:
        return replace(bias, slopes=bias.slopes[list(heads)])
    if isinstance(bias, Distances) and bias.values.ndim > 1:
        return replace(bias, values=bias.values[list(heads)])
    if isinstance(bias, (Slope, Distances)):
        return bias
    msg = (
        f"which numbers of {type(bias).__name__} belong to which head is not known; "
        f"capture all heads"
    )
    raise StateError(msg)


def mask_of_heads(mask: Mask | None, heads: Sequence[int], total: int) -> Mask | None:
    """The mask for queries [*b, heads, n, d] of which only some heads are left."""
    match mask:
        case None | Causal() | Documents() | Lengths() | NotSelf() | Window():
            return mask
        case And():
            first, second = (mask_of_heads(x, heads, total) for x in (mask.first, mask.second))
            assert first is not None
            assert second is not None
            return first & second
        case Dense():
            return Dense(_along(mask.seen, -3, heads, total))
        case Interval():
            lo, hi = (_along(x, -2, heads, total) for x in (mask.lo, mask.hi))
            return Interval(lo, hi)
    msg = f"what {type(mask).__name__} lets which head see is not known; capture all heads"
    raise StateError(msg)


def _along(x: Tensor, axis: int, heads: Sequence[int], total: int) -> Tensor:
    """Some places of an axis, if there is one and it counts heads."""
    if x.ndim < -axis or x.shape[axis] != total:
        return x
    return x.movedim(axis, 0)[list(heads)].movedim(0, axis)

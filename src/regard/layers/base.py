"""What every layer that attends has in common: its weights can be looked at."""

from __future__ import annotations

from operator import index
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.api import attend, cast_for_autocast
from regard.attention.inspect import weights
from regard.attention.modes import is_plain
from regard.errors import KindError, ShapeError, StateError, ValueRangeError
from regard.masks import Mask
from regard.scores import Score
from regard.scores.base import finite_rows

__all__ = ["Attending", "Looked", "check_dropout", "check_input", "check_size", "look", "projected"]


class Looked(NamedTuple):
    """What weights follow from: the arguments of the last call, without their history."""

    q: Tensor
    k: Tensor
    score: Score
    mask: Mask | None
    versions: tuple[int, ...] = ()  # of q and k: whether they were written to since


class Attending(nn.Module):
    """A layer that attends and remembers what it looked at.

    Subclasses call ``self.attend``. The weights are not kept, but the queries and keys they follow
    from, so ``attention_weights`` costs nothing until it is read.

    Args:
        dropout: the part of the weights left out while training.

    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(check_dropout(type(self).__name__, dropout))
        self.looked: Looked | None = None

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, *, score: Score, mask: Mask | None = None
    ) -> Tensor:
        """``regard.attend``, with the layer's dropout while it trains."""
        q, k, v = cast_for_autocast(q, k, v)
        self.looked = look(q, k, score, mask)
        p = self.dropout.p if self.dropout.training else 0.0
        return attend(q, k, v, score=score, mask=mask, dropout=p)

    @property
    def attention_weights(self) -> Tensor:
        """The weights of the last call, before dropout; computed now, with no gradient."""
        looked = self.looked
        if looked is None:
            msg = f"{type(self).__name__} has not been called yet: it has no attention_weights"
            raise StateError(msg)
        if looked.versions and looked.versions != _versions(looked.q, looked.k):
            msg = (
                f"{type(self).__name__}: the queries or keys of the last call were written to "
                f"since; read attention_weights before that"
            )
            raise StateError(msg)
        with torch.autocast(looked.q.device.type, enabled=False):
            return weights(looked.q, looked.k, score=looked.score, mask=looked.mask)

    def __getstate__(self) -> dict[str, object]:
        """Leave the last call out of copies and of what is saved."""
        return {**self.__dict__, "looked": None}


def look(q: Tensor, k: Tensor, score: Score, mask: Mask | None) -> Looked:
    """Keep what the weights follow from, as it is now.

    What the optimiser's next step would change is copied: parameters, here or in the score.
    """
    q, k = (x.detach().clone() if x.is_leaf and x.requires_grad else x.detach() for x in (q, k))
    plain = not torch.compiler.is_compiling() and is_plain(q, k) and not q.is_inference()
    versions = _versions(q, k) if plain and not k.is_inference() else ()
    return Looked(q, k, score.frozen(), mask, versions)


def _versions(*tensors: Tensor) -> tuple[int, ...]:
    return tuple(x._version for x in tensors)


def projected(linear: nn.Linear, x: Tensor, mask: Mask | None) -> Tensor:
    """Project rows of which a mask may hide some: what those hold must not reach the weights."""
    return linear(x) if mask is None else finite_rows(linear, x)


def check_size(owner: str, name: str, value: object) -> int:
    """An axis's length: a whole number above zero."""
    try:
        size = index(value)  # type: ignore[arg-type] # an integer of numpy is one, too
    except TypeError:
        size = None
    if size is None or isinstance(value, bool):
        msg = f"{owner}: {name} must be an integer, got {value!r}"
        raise KindError(msg)
    if size < 1:
        msg = f"{owner}: {name} must be at least 1, got {size}"
        raise ValueRangeError(msg)
    return int(size)


def check_dropout(owner: str, value: float) -> float:
    """A part of a whole: 0 or more, below 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"{owner}: dropout must be a number, got {value!r}"
        raise KindError(msg)
    if not 0 <= value < 1:
        msg = f"{owner}: dropout must be at least 0 and below 1, got {value!r}"
        raise ValueRangeError(msg)
    return float(value)


def check_input(owner: str, name: str, x: Tensor, axes: str, width: int) -> None:
    """Raise unless x has the named axes and ``width`` features."""
    if not isinstance(x, Tensor):
        msg = f"{owner}: {name} must be a torch.Tensor, got {type(x).__name__}"
        raise KindError(msg)
    if x.ndim != len(axes.split()) or x.shape[-1] != width:
        wanted = ", ".join([*axes.split()[:-1], str(width)])
        msg = f"{owner}: {name} must be [{wanted}], got the shape {list(x.shape)}"
        raise ShapeError(msg)

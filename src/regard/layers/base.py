"""What every layer that attends has in common: its weights can be looked at."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from regard.attention.api import attend
from regard.attention.inspect import weights
from regard.errors import KindError, ShapeError, StateError, ValueRangeError
from regard.masks import Mask
from regard.scores import Score
from regard.scores.base import finite_rows

__all__ = ["Attending", "Looked", "check_dropout", "check_input", "check_size", "projected"]


class Looked(NamedTuple):
    """What weights follow from: the arguments of the last call, without their history."""

    q: Tensor
    k: Tensor
    score: Score
    mask: Mask | None


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
        # a copy of the score: the optimiser's next step must not change what was looked at
        self.looked = Looked(q.detach(), k.detach(), score.frozen(), mask)
        p = self.dropout.p if self.training else 0.0
        return attend(q, k, v, score=score, mask=mask, dropout=p)

    @property
    def attention_weights(self) -> Tensor:
        """The weights of the last call, before dropout; computed now, with no gradient."""
        looked = self.looked
        if looked is None:
            msg = f"{type(self).__name__} has not been called yet: it has no attention_weights"
            raise StateError(msg)
        return weights(looked.q, looked.k, score=looked.score, mask=looked.mask)

    def __getstate__(self) -> dict[str, object]:
        """Leave the last call out of copies and of what is saved."""
        return {**self.__dict__, "looked": None}


def projected(linear: nn.Linear, x: Tensor, mask: Mask | None) -> Tensor:
    """Project rows of which a mask may hide some: what those hold must not reach the weights."""
    return linear(x) if mask is None else finite_rows(linear, x)


def check_size(owner: str, name: str, value: object) -> int:
    """An axis's length: a whole number above zero."""
    if isinstance(value, bool) or not isinstance(value, int):
        msg = f"{owner}: {name} must be an integer, got {value!r}"
        raise KindError(msg)
    if value < 1:
        msg = f"{owner}: {name} must be at least 1, got {value}"
        raise ValueRangeError(msg)
    return value


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

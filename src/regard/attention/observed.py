"""Who wants to know of each call of ``attend``: nobody, unless somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from torch import Tensor

from regard.masks import Mask
from regard.scores import Score

__all__ = ["Observer", "observing", "tell"]

Observer = Callable[[Tensor, Tensor, Score, Mask | None], None]

_observers: ContextVar[tuple[Observer, ...]] = ContextVar("observers", default=())


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Tell ``observer`` the q, k, score and mask of every call of ``attend`` inside the block.

    >>> import torch
    >>> from regard import attend
    >>> seen = []
    >>> with observing(lambda q, k, score, mask: seen.append((q.shape[-2], k.shape[-2]))):
    ...     _ = attend(torch.ones(2, 3), torch.ones(4, 3), torch.ones(4, 1))
    >>> seen
    [(2, 4)]
    """
    before = _observers.set((*_observers.get(), observer))
    try:
        yield
    finally:
        _observers.reset(before)


def tell(q: Tensor, k: Tensor, score: Score, mask: Mask | None) -> None:
    """Say what ``attend`` was called with."""
    for observer in _observers.get():
        observer(q, k, score, mask)

"""Takes down calls of attention: which module made them, and what is wanted of them."""

from __future__ import annotations

import threading
from collections.abc import Collection

import torch
from torch import Tensor

from regard.errors import StateError, ValueRangeError
from regard.masks import Mask
from regard.scores import Score
from regard.viewing.captured import Captured, Captures
from regard.viewing.chosen import mask_of_heads, score_of_heads
from regard.viewing.growing import Growing

__all__ = ["Recorder"]


class Recorder:
    """Takes what it is told of the calls, and keeps what is wanted of it."""

    def __init__(self, layers: Collection[str] | None, heads: tuple[int, ...] | None) -> None:
        self.layers, self.heads = layers, heads
        self.found = Captures()
        self.ran = False
        self._inside = threading.local()  # of each thread, the modules that are running
        self._keys: dict[str, Growing] = {}
        self._passed: dict[str, None] = {}  # what attended and was not wanted

    def enter(self, name: str) -> None:
        """A module begins to run."""
        self.ran = True
        self._running.append(name)

    def leave(self) -> None:
        """The innermost module has run."""
        self._running.pop()

    @property
    def _running(self) -> list[str]:
        names: list[str] = vars(self._inside).setdefault("names", [])
        return names

    def where(self) -> str:
        """The name of the innermost module that is running."""
        return self._running[-1] if self._running else ""

    def wanted(self) -> bool:
        """Whether what is running now is to be kept."""
        name, layers = self.where(), self.layers
        if layers is None or any(name == x or name.startswith(f"{x}.") for x in layers):
            return True
        self._passed[name] = None
        return False

    def note_wanted(self, q: Tensor, k: Tensor, score: Score, mask: Mask | None) -> None:
        """Keep a call, if it is wanted."""
        if self.wanted():
            self.note(q, k, score, mask)

    def note(self, q: Tensor, k: Tensor, score: Score, mask: Mask | None) -> None:
        """Keep a call."""
        name = self.where()
        if self.heads is not None:
            q, k, score, mask = self._some_heads(name, q, k, score, mask)
        # copies: a view may hold on to more, and a cache may be written to
        q = q.detach().clone(memory_format=torch.contiguous_format)
        k = self._keys.setdefault(name, Growing()).keep(k)
        self.found.add(Captured(name, q, k, score.frozen(), mask, self.heads))

    def _some_heads(
        self, name: str, q: Tensor, k: Tensor, score: Score, mask: Mask | None
    ) -> tuple[Tensor, Tensor, Score, Mask | None]:
        assert self.heads is not None
        total = q.shape[-3] if q.ndim > 3 else 1  # noqa: PLR2004 - [b, n, d]: one head
        if max(self.heads, default=0) >= total:
            msg = f"{name or 'a call'} has heads from 0 to {total - 1}, wanted {max(self.heads)}"
            raise ValueRangeError(msg)
        if q.ndim <= 3:  # noqa: PLR2004
            return q, k, score, mask
        q, k = (x[..., list(self.heads), :, :] for x in (q, k))
        score = score_of_heads(score, self.heads, total)
        return q, k, score, mask_of_heads(mask, self.heads, total)

    def check_found(self) -> None:
        """Raise if the model ran and there is nothing to look at."""
        if len(self.found) or not self.ran:
            return
        msg = (
            "the model ran, but no attention was seen: it calls neither regard.attend, nor torch's "
            "scaled_dot_product_attention or MultiheadAttention, nor the attention interface of "
            "transformers; load it with attn_implementation='sdpa' if it has that"
        )
        if self._passed:
            msg = (
                f"none of the layers {', '.join(map(repr, self.layers or ()))} attended; "
                f"these did: {', '.join(map(repr, self._passed))}"
            )
        raise StateError(msg)

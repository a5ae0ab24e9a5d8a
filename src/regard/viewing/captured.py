"""What was captured: calls of attention, each with all that can be asked of its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from regard.attention import inspect
from regard.errors import StateError
from regard.masks import Mask
from regard.scores import Score

__all__ = ["Captured", "Captures"]

NAMED = 6  # modules


@dataclass(frozen=True)
class Captured:
    """One call of attention: what its weights follow from, in memory linear in the length.

    Every method takes the arguments of its namesake in ``regard`` that come after q and k, and
    gives [*b, heads, ...].

    Args:
        name: of the innermost module that attended, as ``named_modules`` has it.
        q: [*b, heads, n, d].
        k: [*b, heads, m, d].
        score: as it was.
        mask: as it was.
        heads: the numbers of the heads that were chosen; None: all of them.

    """

    name: str
    q: Tensor
    k: Tensor
    score: Score
    mask: Mask | None
    heads: tuple[int, ...] | None = None

    def weights(self) -> Tensor:
        """All n x m weights, because you asked."""
        return inspect.weights(self.q, self.k, score=self.score, mask=self.mask)

    def rectangle(self, rows: slice, cols: slice) -> Tensor:
        """Some queries on some keys, as in the whole."""
        return inspect.rectangle(self.q, self.k, rows, cols, score=self.score, mask=self.mask)

    def overview(self, cells: int = 512, **how: Any) -> Tensor:  # noqa: ANN401 - as overview has it
        """The whole picture in a small grid."""
        return inspect.overview(
            self.q, self.k, cells=cells, score=self.score, mask=self.mask, **how
        )

    def top(self, count: int) -> inspect.Top:
        """The largest weights of each query, and whose they are."""
        return inspect.top(self.q, self.k, count, score=self.score, mask=self.mask)

    def entropy(self) -> Tensor:
        """How spread out each query is, in nats."""
        return inspect.entropy(self.q, self.k, score=self.score, mask=self.mask)

    def received(self) -> Tensor:
        """How much attention each key gets."""
        return inspect.received(self.q, self.k, score=self.score, mask=self.mask)


class Captures(Sequence[Captured]):
    """The calls of a model, in the order they were made; also by the name of the module."""

    def __init__(self) -> None:
        self._calls: list[Captured] = []

    def __len__(self) -> int:
        return len(self._calls)

    def __repr__(self) -> str:
        """How many calls of which modules."""
        names = ", ".join(self.names[:NAMED]) + (", ..." if len(self.names) > NAMED else "")
        calls = f"{len(self):,} call{'s'[: len(self) != 1]}"
        return f"<Captures: {calls} of attention{f', in {names}' if names else ''}>"

    def __getitem__(self, which: Any) -> Any:  # noqa: ANN401 - a call, or several
        """A call by its number, several by a slice, or the last one of a module by its name."""
        if not isinstance(which, str):
            return self._calls[which]
        found = [call for call in self._calls if call.name == which]
        if not found:
            names = ", ".join(repr(name) for name in self.names) or "nothing was captured"
            msg = f"no call of {which!r} was captured; there are {names}"
            raise StateError(msg)
        return found[-1]

    @property
    def names(self) -> list[str]:
        """Of the modules that attended, each once."""
        return list(dict.fromkeys(call.name for call in self._calls))

    def add(self, call: Captured) -> None:
        """One more."""
        self._calls.append(call)

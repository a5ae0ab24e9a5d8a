"""Record what a model attends to, while it runs as fast as ever."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from regard.attention import inspect
from regard.attention.observed import observing
from regard.errors import KindError, StateError, ValueRangeError
from regard.masks import Mask
from regard.scores import Score
from regard.viewing.foreign import ForeignCalls

__all__ = ["Captured", "Captures", "capture"]


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

    """

    name: str
    q: Tensor
    k: Tensor
    score: Score
    mask: Mask | None

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


@contextmanager
def capture(
    model: nn.Module, *, layers: Collection[str] | None = None, heads: Sequence[int] | None = None
) -> Iterator[Captures]:
    """Record every call of attention that a model makes inside the block.

    Calls of ``regard.attend`` are seen, so every layer of regard's, of
    ``scaled_dot_product_attention`` and of ``torch.nn.MultiheadAttention``. They run as they would
    have, on the fused kernels they would have run on; what is kept are q, k, score and mask.

    Args:
        model: whose modules give the calls their names.
        layers: names of modules, as ``names`` of the captures gives them; None: all.
        heads: which heads to keep, by number; None: all.

    >>> import torch
    >>> from regard.viewing.capture import capture
    >>> net = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    >>> with capture(net) as seen:
    ...     _ = net(torch.randn(1, 5, 8))
    >>> seen.names, seen["self_attn"].weights().shape
    (['self_attn'], torch.Size([1, 2, 5, 5]))

    """
    if not isinstance(model, nn.Module):
        msg = f"capture takes a torch.nn.Module, got {type(model).__name__}"
        raise KindError(msg)
    names = dict(model.named_modules())
    if unknown := sorted(set(layers or ()) - names.keys()):
        msg = f"layers must be names of modules of the model, got {', '.join(map(repr, unknown))}"
        raise ValueRangeError(msg)
    inside: list[str] = []
    found = Captures()

    def note(q: Tensor, k: Tensor, score: Score, mask: Mask | None) -> None:
        name = inside[-1] if inside else ""
        if layers is not None and not any(name == x or name.startswith(f"{x}.") for x in layers):
            return
        q, k = q.detach(), k.detach()
        if heads is not None:
            q, k = (x[..., list(heads), :, :] for x in (q, k))
        found.add(Captured(name, q, k, score.frozen(), mask))

    with _entered(names, inside), observing(note), ForeignCalls(note):
        yield found


@contextmanager
def _entered(names: dict[str, nn.Module], inside: list[str]) -> Iterator[None]:
    """Keep ``inside`` the names of the modules that are running, the innermost last."""

    def left(*_: object) -> None:
        inside.pop()

    hooks = []
    for name, module in names.items():
        hooks.append(module.register_forward_pre_hook(lambda *_, name=name: inside.append(name)))
        hooks.append(module.register_forward_hook(left, always_call=True))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()

"""Record what a model attends to, while it runs as fast as ever."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import nn

from regard.attention.observed import observing
from regard.errors import KindError, StateError, ValueRangeError
from regard.viewing.captured import Captured, Captures
from regard.viewing.foreign import ForeignCalls
from regard.viewing.hugging import hugging_calls, is_hugging
from regard.viewing.recorder import Recorder

__all__ = ["Captured", "Captures", "capture"]


@contextmanager
def capture(
    model: nn.Module, *, layers: Collection[str] | None = None, heads: Sequence[int] | None = None
) -> Iterator[Captures]:
    """Record every call of attention that a model makes inside the block.

    Calls of ``regard.attend`` are seen, so every layer of regard's, of
    ``scaled_dot_product_attention``, of ``torch.nn.MultiheadAttention`` and of the models of
    Hugging Face's transformers. They run as they would have, on the fused kernels they would have
    run on; what is kept are q, k, score and mask, in memory linear in the length.

    Inside the block a compiled model runs uncompiled, and ``torch.nn.TransformerEncoder`` layer by
    layer, not in one piece: neither could be seen into. A query that may see no key is shown to see
    none, whatever the model makes of it.

    Args:
        model: whose modules give the calls their names.
        layers: names of modules, as ``names`` of the captures gives them; None: all.
        heads: which heads to keep, by number; None: all.

    Raises:
        StateError: what a layer does is not a softmax of a score that regard has; or the model ran
            and did nothing that can be seen.

    >>> import torch
    >>> import regard
    >>> net = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    >>> with regard.capture(net) as seen:
    ...     _ = net(torch.randn(1, 5, 8))
    >>> seen.names, seen["self_attn"].weights().shape
    (['self_attn'], torch.Size([1, 2, 5, 5]))

    """
    names = _checked(model, layers)
    chosen = None if heads is None else _numbers(heads)
    recorder = Recorder(layers, chosen)
    foreign = ForeignCalls(recorder.note, recorder.wanted, recorder.where)
    with ExitStack() as around:
        around.enter_context(_entered(names, recorder))
        around.enter_context(observing(recorder.note_wanted))
        around.enter_context(_in_pieces())
        if any(_is_compiled(module) for module in names.values()):
            around.enter_context(torch.compiler.set_stance("force_eager"))
        if is_hugging(model):
            around.enter_context(hugging_calls(recorder.note, foreign))
        around.enter_context(foreign)
        yield recorder.found
    recorder.check_found()


def _checked(model: nn.Module, layers: Collection[str] | None) -> dict[str, nn.Module]:
    """All modules by name, if this is a model that can be looked into, with such layers."""
    if not isinstance(model, nn.Module):
        msg = f"capture takes a torch.nn.Module, got {type(model).__name__}"
        raise KindError(msg)
    if isinstance(layers, str):
        msg = f"layers must be several names, got one string; write [{layers!r}]"
        raise KindError(msg)
    names = dict(model.named_modules())
    if unknown := sorted(set(layers or ()) - names.keys()):
        msg = f"layers must be names of modules of the model, got {', '.join(map(repr, unknown))}"
        raise ValueRangeError(msg)
    for name, module in names.items():
        if isinstance(module, nn.DataParallel) and len(module.device_ids) > 1:
            msg = (
                f"{name or 'the model'} runs on {len(module.device_ids)} devices at once, in "
                f"threads that cannot be seen into; capture its .module"
            )
            raise StateError(msg)
    return names


def _numbers(heads: Sequence[int]) -> tuple[int, ...]:
    if not isinstance(heads, Sequence) or isinstance(heads, str):
        msg = f"heads must be several numbers, got {heads!r}; write [{heads!r}]"
        raise KindError(msg)
    numbers = tuple(heads)
    if not numbers or any(isinstance(x, bool) or not isinstance(x, int) or x < 0 for x in numbers):
        msg = f"heads must be numbers of heads, from 0 on, got {list(numbers)}"
        raise ValueRangeError(msg)
    return numbers


def _is_compiled(module: nn.Module) -> bool:
    return hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None


@contextmanager
def _in_pieces() -> Iterator[None]:
    """Without torch's way of running a whole encoder layer as one operation."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(value=False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(value=before)


@contextmanager
def _entered(names: dict[str, nn.Module], recorder: Recorder) -> Iterator[None]:
    """Tell the recorder which modules are running."""
    hooks = []
    for name, module in names.items():
        if name and type(module) is nn.Linear:  # sees nothing; watched, it is multiplied otherwise
            continue
        hooks.append(module.register_forward_pre_hook(lambda *_, name=name: recorder.enter(name)))
        hooks.append(module.register_forward_hook(lambda *_: recorder.leave(), always_call=True))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()

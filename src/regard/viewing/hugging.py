"""Attention of Hugging Face's transformers, by the door that all its implementations go through."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from regard.attention import inspect
from regard.attention.observed import Observer
from regard.errors import StateError
from regard.masks import Causal, Mask, Window
from regard.scores import Score
from regard.viewing.foreign import ForeignCalls, dot_product, grouped
from regard.viewing.visible import AT_A_TIME, Added, added

__all__ = ["hugging_calls", "is_hugging"]

Attention = Callable[..., Any]

_GIVEN = ("module", "query", "key", "value", "attention_mask")  # in this order, or by name


def is_hugging(model: nn.Module) -> bool:
    """Whether some of it is a model of transformers; does not import it to find out."""
    if "transformers.modeling_utils" not in sys.modules:
        return False
    kind = sys.modules["transformers.modeling_utils"].PreTrainedModel
    return any(isinstance(module, kind) for module in model.modules())


class _Watcher(NamedTuple):
    """Who is told of the calls that a thread makes."""

    thread: int
    observer: Observer
    foreign: ForeignCalls


_watchers: list[_Watcher] = []
_one_at_a_time = threading.Lock()
_before: list[Attention] = []  # the door as it was, while it is watched


@contextmanager
def hugging_calls(observer: Observer, foreign: ForeignCalls) -> Iterator[None]:
    """Tell an observer of each call of attention of transformers inside the block.

    The implementation a model was loaded with runs as it would have. Where it calls torch's own
    attention, that call says what was attended to; elsewhere the arguments do, and the last
    query's answer is held against what they mean, since an implementation may add to them.

    Args:
        observer: whom to tell.
        foreign: who sees torch's own calls; entered inside this.

    """
    doors = sys.modules["transformers.modeling_utils"].AttentionInterface
    if not hasattr(doors, "get_interface"):
        version = sys.modules["transformers"].__version__
        msg = f"models of transformers are captured from version 5 on, this is {version}"
        raise StateError(msg)
    watcher = _Watcher(threading.get_ident(), observer, foreign)
    with _one_at_a_time:
        if not _watchers:
            _before.append(doors.get_interface)
            doors.get_interface = _watched_door
        _watchers.append(watcher)
    try:
        yield
    finally:
        with _one_at_a_time:
            _watchers.remove(watcher)
            if not _watchers:
                doors.get_interface = _before.pop()


def _watched_door(self: object, attn_implementation: str, default: Attention) -> Attention:
    attention: Attention = _before[0](self, attn_implementation, default)
    for watcher in tuple(_watchers):
        if watcher.thread == threading.get_ident():
            attention = _watched(attention, attn_implementation, watcher)
    return attention


def _watched(attention: Attention, name: str, watcher: _Watcher) -> Attention:
    foreign = watcher.foreign

    def attend(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the implementation has it
        told = foreign.told
        result = attention(*args, **kwargs)
        if foreign.told > told:  # by torch's own attention, and with it
            return result
        foreign.told += 1
        if foreign.wanted():
            given = dict(zip(_GIVEN, args, strict=False)) | kwargs
            with foreign.telling():
                found = _in_our_words(name, given, foreign)
                if not given.get("dropout"):
                    _check_answer(found, given, result)
                watcher.observer(*found)
        return result

    return attend


def _in_our_words(
    name: str, given: Mapping[str, Any], foreign: ForeignCalls
) -> tuple[Tensor, Tensor, Score, Mask | None]:
    refused = {
        "s_aux": "has sinks, a weight that falls on no key",
        "cache": "reads its keys from pages of several sequences",
        "block_indices": "chooses blocks of keys as it goes",
        "indices": "chooses keys as it goes",
        "cu_seq_lens_q": "has several sequences in one row",
    }
    for argument, what in refused.items():
        if given.get(argument) is not None:
            msg = f"attention that {what} ({argument}) cannot be captured"
            raise StateError(msg)
    q, k = given["query"], given["key"]
    n, m = q.shape[-2], k.shape[-2]
    parts = [_mask(name, given, foreign, n, m)]
    if given.get("position_bias") is not None:
        parts.append(foreign.added(given["position_bias"], n, m))
    return dot_product(q, grouped(q, k), given.get("scaling"), *parts, cap=given.get("softcap"))


def _mask(name: str, given: Mapping[str, Any], foreign: ForeignCalls, n: int, m: int) -> Added:
    """What a mask hides: one written out, a flag for each key, a rule of torch's, or none."""
    mask = given.get("attention_mask")
    if isinstance(mask, Tensor) and mask.ndim > 2:  # noqa: PLR2004 - [b, heads or 1, n or 1, m]
        return foreign.added(mask if mask.shape[-1] <= m else mask[..., :m], n, m)
    if type(mask).__name__ == "BlockMask":
        return foreign.once(mask, (n, m), lambda: added(_of_blocks(mask, n, m), n, m))
    rule: Mask | None = None
    causal = given.get("is_causal")
    causal = getattr(given["module"], "is_causal", True) if causal is None else causal
    if causal and name != "eager" and n > 1:  # eager adds the mask it is given and knows no other
        rule = Causal(m - n)
    window = given.get("sliding_window")
    if window is not None and name != "eager":
        near = Window(window - 1, 0 if causal else window - 1, m - n)
        rule = near if rule is None else rule & near
    if isinstance(mask, Tensor):  # [b, m], not 0 for what is there
        padding = added(mask[:, None, None, -m:].bool(), n, m).mask
        rule = padding if rule is None else rule if padding is None else rule & padding
    return Added(rule, None, None)


def _of_blocks(mask: Any, n: int, m: int) -> Tensor:  # noqa: ANN401 - of torch's flex_attention
    """A BlockMask written out as True and False, [b, heads, n, m]."""
    from torch.nn.attention.flex_attention import create_mask  # noqa: PLC0415 - imports a compiler

    batch, heads = mask.shape[:2]
    device = mask.kv_num_blocks.device
    step = max(AT_A_TIME // max(batch * heads * m, 1), 1)
    pieces = []
    for start in range(0, n, step):
        rows = min(step, n - start)
        pieces.append(
            create_mask(
                lambda b, h, i, j, start=start: mask.mask_mod(b, h, i + start, j),
                *(batch, heads, rows, m),
                device=device,
            )
        )
    return torch.cat(pieces, -2)


def _check_answer(
    found: tuple[Tensor, Tensor, Score, Mask | None],
    given: Mapping[str, Any],
    result: Any,  # noqa: ANN401 - the answer, or a tuple with it
) -> None:
    """Raise unless the last query's answer is the average of the values by our weights."""
    q, k, score, rule = found
    value, mask = given["value"], given.get("attention_mask")
    n, m = q.shape[-2], k.shape[-2]
    at = n - 1
    if isinstance(mask, Tensor) and mask.ndim == 2 and mask.shape[1] == n:  # noqa: PLR2004
        real = mask[0].nonzero()  # some implementations leave padding out
        at = int(real[-1]) if len(real) else at
    answer = result[0] if isinstance(result, tuple) else result
    weights = inspect.rectangle(q, k, slice(at, at + 1), slice(0, m), score=score, mask=rule)[0]
    values = grouped(q, value[..., :m, :])[0]
    wanted = (weights.float() @ values.float()).squeeze(-2)  # [heads, v]
    got = answer[0].reshape(n, *wanted.shape)[at].float()
    exact = values.dtype in (torch.float32, torch.float64)
    close = 1e-3 if exact else 3e-2
    size = values.float().abs().amax()
    if bool(weights.any()) and bool(((got - wanted).abs() > close * size + 1e-6).any()):
        msg = (
            "its attention is not a softmax of scaled dot products and the mask it was given: "
            "what it gives is another average of the values; it cannot be captured"
        )
        raise StateError(msg)

"""Attention that is not regard's: torch's own calls, as q, k, score and mask."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from regard.attention.observed import Observer
from regard.errors import StateError
from regard.masks import Causal, Mask
from regard.scores import Dot, Score
from regard.viewing.capped import Capped
from regard.viewing.visible import Added, added

__all__ = ["ForeignCalls", "dot_product", "grouped"]

_SDPA = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
_MULTIHEAD = signature(functional.multi_head_attention_forward)


class ForeignCalls(TorchFunctionMode):
    """While it is entered, tells an observer of each call of torch's own attention.

    The calls run as they would have: torch's fused kernels stay what they are.

    Args:
        observer: whom to tell.
        wanted: asked before anything is worked out.
        where: names the layer that is running, for what cannot be captured.

    """

    def __init__(
        self,
        observer: Observer,
        wanted: Callable[[], bool] = lambda: True,
        where: Callable[[], str] = lambda: "",
    ) -> None:
        super().__init__()
        self.observer, self.wanted, self.where = observer, wanted, where
        self.told = 0  # calls so far, wanted or not
        self._read: list[tuple[weakref.ref[object], object, Added]] = []  # the last few masks

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever func gives
        """Run ``func``, and if it attends, say with what."""
        kwargs = kwargs or {}
        if func is functional.scaled_dot_product_attention:
            given = dict(zip(_SDPA, args, strict=False)) | dict(kwargs)
            tell = self._tell_sdpa
        elif func is functional.multi_head_attention_forward:
            given = _MULTIHEAD.bind(*args, **kwargs).arguments
            tell = self._tell_multihead
        else:
            return func(*args, **kwargs)
        result = func(*args, **kwargs)
        self.told += 1
        if self.wanted():
            with self.telling():
                tell(given)
        return result

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Without gradients; and an error says where it is."""
        try:
            with torch.no_grad():
                yield
        except StateError as cause:
            name = self.where()
            msg = f"{name}: {cause}" if name else str(cause)
            raise StateError(msg) from cause

    def added(self, x: Tensor, n: int, m: int) -> Added:
        """What a tensor adds to the scores."""
        if x.is_inference():  # nobody counts its changes
            return added(x, n, m)
        changed = x._version  # noqa: SLF001 - torch has no public name for it
        return self.once(x, (n, m, changed), lambda: added(x, n, m))

    def once(self, x: object, state: object, read: Callable[[], Added]) -> Added:
        """Read a mask, but only once if layer after layer is given the same."""
        for last, then, found in self._read:
            if last() is x and then == state:
                return found
        found = read()
        self._read = [(weakref.ref(x), state, found), *self._read[:3]]
        return found

    def _tell_sdpa(self, given: Mapping[str, Any]) -> None:
        q, k = given["query"], given["key"]
        rule: Mask | None = Causal() if given.get("is_causal") else None
        extra = Added(rule, None, None)
        if given.get("attn_mask") is not None:
            extra = self.added(given["attn_mask"], q.shape[-2], k.shape[-2])
        self.observer(*dot_product(q, grouped(q, k), given.get("scale"), extra))

    def _tell_multihead(self, given: Mapping[str, Any]) -> None:
        """Project queries and keys once more: what the layer computed inside is gone."""
        query, key, heads = given["query"], given["key"], given["num_heads"]
        w_q, w_k = _projections(given)
        bias = given.get("in_proj_bias")
        b_q, b_k = (None, None) if bias is None else bias.chunk(3)[:2]
        q, k = functional.linear(query, w_q, b_q), functional.linear(key, w_k, b_k)
        more = 0  # keys that no token stands for: they come last, and all see them
        if given.get("bias_k") is not None:
            own = given["bias_k"].to(k.dtype).reshape(*(1,) * (k.ndim - 1), -1)
            k, more = torch.cat([k, own.expand(1, *k.shape[1:])]), more + 1
        if given.get("add_zero_attn"):
            k, more = torch.cat([k, torch.zeros_like(k[:1])]), more + 1
        q, k = (_heads(x, heads) for x in (q, k))
        n, m = q.shape[-2], k.shape[-2]
        parts = []
        if given.get("attn_mask") is not None:
            seen = _seen(given["attn_mask"], more)
            if seen.ndim > 2:  # noqa: PLR2004 - [b * heads, n, m]
                seen = seen.view(-1, heads, *seen.shape[1:])
            parts.append(added(seen, n, m))
        if given.get("key_padding_mask") is not None:
            seen = _seen(given["key_padding_mask"], more)
            seen = seen[..., None, None, :] if seen.ndim > 1 else seen[None, None, None, :]
            parts.append(added(seen, n, m))
        self.observer(*dot_product(q, k, None, *parts))


def dot_product(
    q: Tensor, k: Tensor, scale: float | None, *parts: Added, cap: float | None = None
) -> tuple[Tensor, Tensor, Score, Mask | None]:
    """A scaled dot product, capped or not, and all that is added to it, in regard's words."""
    scale = max(q.shape[-1], 1) ** -0.5 if scale is None else float(scale)
    score: Score = Dot(scale) if cap is None else Capped(scale, float(cap))
    mask: Mask | None = None
    for part in parts:
        if part.mask is not None:
            mask = part.mask if mask is None else mask & part.mask
        if part.bias is not None:
            score = score + part.bias
        if part.keys is not None and cap is not None:
            msg = "attention that caps its scores and adds to those of each key cannot be captured"
            raise StateError(msg)
        if part.keys is not None:  # one more feature: 1 times what the key adds
            q, k = (x if x.dtype == torch.float64 else x.float() for x in (q, k))
            own = part.keys.to(k.dtype).expand(k.shape[:-1]).unsqueeze(-1) / scale
            q, k = torch.cat([q, torch.ones_like(q[..., :1])], -1), torch.cat([k, own], -1)
    return q, k, score, mask


def grouped(q: Tensor, k: Tensor) -> Tensor:
    """A key for each head of q [*b, heads, n, d], where several heads share one."""
    if q.ndim > 2 and k.shape[-3] != q.shape[-3]:  # noqa: PLR2004
        k = k.repeat_interleave(q.shape[-3] // k.shape[-3], -3)
    return k.expand(*q.shape[:-2], *k.shape[-2:])


def _projections(given: Mapping[str, Any]) -> tuple[Tensor, Tensor]:
    if given.get("use_separate_proj_weight"):
        return given["q_proj_weight"], given["k_proj_weight"]
    w_q, w_k, _ = given["in_proj_weight"].chunk(3)
    return w_q, w_k


def _heads(x: Tensor, heads: int) -> Tensor:
    """[n, b, width] or [n, width] as [b, heads, n, d]."""
    x = x if x.ndim > 2 else x.unsqueeze(1)  # noqa: PLR2004
    return x.reshape(*x.shape[:-1], heads, -1).permute(1, 2, 0, 3)


def _seen(mask: Tensor, more: int) -> Tensor:
    """A mask of torch's layers, True for what is hidden, turned round; and ``more`` keys behind."""
    mask = ~mask if mask.dtype == torch.bool else mask
    return functional.pad(mask, (0, more), value=mask.dtype == torch.bool)

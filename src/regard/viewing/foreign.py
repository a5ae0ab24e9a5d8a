"""Attention that is not regard's: torch's own calls, as q, k, score and mask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from regard.attention.observed import Observer
from regard.errors import StateError
from regard.masks import Causal, Dense, Mask
from regard.scores import Dot

__all__ = ["ForeignCalls"]

FAR = -1e4  # a bias below it hides a key: what is left of its weight is no number
_SDPA = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
_MULTIHEAD = signature(functional.multi_head_attention_forward)


class ForeignCalls(TorchFunctionMode):
    """While it is entered, tells an observer of each call of torch's own attention.

    The calls run as they would have: torch's fused kernels stay what they are.
    """

    def __init__(self, observer: Observer) -> None:
        super().__init__()
        self.observer = observer

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever func gives
        """Run ``func``, and if it attends, say with what."""
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if func is functional.scaled_dot_product_attention:
            self._tell_sdpa(dict(zip(_SDPA, args, strict=False)) | dict(kwargs))
        elif func is functional.multi_head_attention_forward:
            self._tell_multihead(_MULTIHEAD.bind(*args, **kwargs).arguments)
        return result

    def _tell_sdpa(self, given: Mapping[str, Any]) -> None:
        q, k = given["query"], given["key"]
        if given.get("enable_gqa") and k.shape[-3] != q.shape[-3]:
            k = k.repeat_interleave(q.shape[-3] // k.shape[-3], -3)
        mask: Mask | None = Causal() if given.get("is_causal") else None
        if given.get("attn_mask") is not None:
            mask = _visible(given["attn_mask"])
        scale = given.get("scale")
        self.observer(q, k, Dot() if scale is None else Dot(float(scale)), mask)

    def _tell_multihead(self, given: Mapping[str, Any]) -> None:
        """Project queries and keys once more: what the layer computed inside is gone."""
        query, key, heads = given["query"], given["key"], given["num_heads"]
        if given.get("bias_k") is not None or given.get("add_zero_attn"):
            msg = "attention with add_bias_kv or add_zero_attn has keys that no token stands for"
            raise StateError(msg)
        w_q, w_k = _projections(given)
        bias = given.get("in_proj_bias")
        b_q, b_k = (None, None) if bias is None else bias.chunk(3)[:2]
        with torch.no_grad():
            q, k = functional.linear(query, w_q, b_q), functional.linear(key, w_k, b_k)
        q, k = (_heads(x, heads) for x in (q, k))
        seen = None
        if given.get("attn_mask") is not None:
            seen = ~_hidden(given["attn_mask"])
            if seen.ndim > 2:  # noqa: PLR2004 - [b * heads, n, m]
                seen = seen.view(-1, heads, *seen.shape[1:])
        if given.get("key_padding_mask") is not None:
            padding = ~_hidden(given["key_padding_mask"])
            padding = padding[..., None, None, :] if padding.ndim > 1 else padding[None, :]
            seen = padding if seen is None else seen & padding
        self.observer(q, k, Dot(), None if seen is None else Dense(seen))


def _projections(given: Mapping[str, Any]) -> tuple[Tensor, Tensor]:
    if given.get("use_separate_proj_weight"):
        return given["q_proj_weight"], given["k_proj_weight"]
    w_q, w_k, _ = given["in_proj_weight"].chunk(3)
    return w_q, w_k


def _heads(x: Tensor, heads: int) -> Tensor:
    """[n, b, width] or [n, width] as [b, heads, n, d] or [heads, n, d]."""
    x = x.reshape(*x.shape[:-1], heads, -1)
    return x.permute(1, 2, 0, 3) if x.ndim > 3 else x.transpose(0, 1)  # noqa: PLR2004


def _visible(mask: Tensor) -> Dense:
    """What a mask of scaled_dot_product_attention lets be seen: True, or a bias of 0."""
    return Dense(mask if mask.dtype == torch.bool else ~_far(mask))


def _hidden(mask: Tensor) -> Tensor:
    """What a mask of torch's layers hides: True, or a bias of minus infinity."""
    return mask if mask.dtype == torch.bool else _far(mask)


def _far(bias: Tensor) -> Tensor:
    far = bias <= FAR
    if not bool((far | (bias == 0)).all()):
        msg = (
            "a mask that adds numbers other than 0 and minus infinity to the scores cannot be "
            "captured; it is a bias, and which one is not known to the score"
        )
        raise StateError(msg)
    return far

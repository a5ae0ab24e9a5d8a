"""The axis letters, and the check that q, k and v fit together.

====== =====================================================================
letter axis
====== =====================================================================
``*b`` batch axes, any number of them; heads are the last batch axis
``n``  queries
``m``  keys, and so values
``d``  features of a query
``e``  features of a key (``d`` for every score that compares them one by one)
``v``  features of a value
====== =====================================================================
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.errors import KindError, ShapeError

__all__ = ["FLOATS", "check_qkv", "same_width", "spreads_to"]

FLOATS = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def spreads_to(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether what has this shape broadcasts to the wanted one.

    As ``torch.broadcast_shapes`` says, which imports a package for algebra to say it.

    >>> spreads_to((3, 1), (2, 3, 4)), spreads_to((2, 4), (2, 3, 4))
    (True, False)
    """
    last = wanted[len(wanted) - len(shape) :]
    return len(shape) <= len(wanted) and all(
        size in (1, want) for size, want in zip(shape, last, strict=True)
    )


def check_qkv(q: Tensor, k: Tensor, v: Tensor | None = None) -> None:
    """Raise unless q [*b, n, d], k [*b, m, e] and v [*b, m, v] can meet in one call."""
    named = [("q", q, "n, d"), ("k", k, "m, e")]
    if v is not None:
        named.append(("v", v, "m, v"))
    for name, x, axes in named:
        if not isinstance(x, Tensor):
            msg = f"{name} must be a torch.Tensor, got {type(x).__name__}"
            raise KindError(msg)
        if x.ndim < 2:  # noqa: PLR2004 - rows and features
            msg = f"{name} must have the axes [*b, {axes}], got the shape {list(x.shape)}"
            raise ShapeError(msg)
        if x.dtype not in FLOATS:
            msg = f"{name} must be float64, float32, bfloat16 or float16, got {_name(x.dtype)}"
            raise KindError(msg)
        if x.layout is not torch.strided:
            msg = f"{name} must be a dense tensor, got layout {x.layout}; call {name}.to_dense()"
            raise KindError(msg)
    for name, x, _ in named[1:]:
        if x.dtype != q.dtype:
            msg = (
                f"q, k and v must have one dtype: q is {_name(q.dtype)}, "
                f"{name} is {_name(x.dtype)}; convert one, or use torch.autocast"
            )
            raise ShapeError(msg)
        if x.device != q.device:
            msg = f"q, k and v must be on one device: q is on {q.device}, {name} on {x.device}"
            raise ShapeError(msg)
        if x.shape[:-2] != q.shape[:-2]:
            msg = (
                f"{name} must have the batch axes of q {list(q.shape[:-2])}, got "
                f"{list(x.shape[:-2])}; expand {name} before the call, regard never broadcasts"
            )
            raise ShapeError(msg)
    if v is not None and k.shape[-2] != v.shape[-2]:
        msg = (
            f"k and v must have one row per key: k has m={k.shape[-2]}, v has m={v.shape[-2]} "
            f"(k {list(k.shape)}, v {list(v.shape)})"
        )
        raise ShapeError(msg)


def same_width(score: str, q: Tensor, k: Tensor) -> None:
    """Raise unless q and k have equally many features, as ``score`` needs."""
    if q.shape[-1] != k.shape[-1]:
        msg = (
            f"{score} compares features one by one: q has d={q.shape[-1]}, k has e={k.shape[-1]}; "
            f"project one of them, or use Bilinear"
        )
        raise ShapeError(msg)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")

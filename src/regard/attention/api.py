"""The one door: ``attend``, and ``explain``, which says what attend would do."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import get_args

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention import reference
from regard.attention.call import Precision, make_call
from regard.attention.centred import applies, centred
from regard.attention.choice import Choice, Impl, choose
from regard.attention.observed import tell
from regard.attention.ops import fused
from regard.errors import KindError, ValueRangeError
from regard.masks import Mask
from regard.scores import Dot, Score
from regard.scores.base import Biased
from regard.shapes import check_qkv

__all__ = ["attend", "cast_for_autocast", "check_score_and_mask", "explain", "takes_halves"]

_DOT = Dot()


def check_score_and_mask(q: Tensor, k: Tensor, score: Score, mask: Mask | None) -> None:
    """Raise unless score and mask are what they should be and fit q and k."""
    if not isinstance(score, Score):
        hint = f"; did you mean {score.__name__}()?" if isinstance(score, type) else ""
        got = score.__name__ if isinstance(score, type) else type(score).__name__
        msg = f"score must be a score of regard.scores, got {got}{hint}"
        raise KindError(msg)
    if mask is not None and not isinstance(mask, Mask):
        hint = ""
        if isinstance(mask, Tensor):
            hint = "; wrap it: Dense(mask) if True means may see, Lengths(mask) if it holds lengths"
        elif isinstance(mask, type):
            hint = f"; did you mean {mask.__name__}()?"
        got = mask.__name__ if isinstance(mask, type) else type(mask).__name__
        msg = f"mask must be a mask of regard.masks or None, got {got}{hint}"
        raise KindError(msg)
    score.check(q, k)
    if mask is not None:
        mask.check(q.shape[:-2], q.shape[-2], k.shape[-2], q.device)


def _check_dropout(dropout: float, seed: int | Tensor | None) -> None:
    if isinstance(dropout, bool) or not isinstance(dropout, (int, float)):
        msg = f"dropout must be a number, got {type(dropout).__name__}"
        raise KindError(msg)
    if not 0 <= dropout < 1:
        msg = f"dropout must be at least 0 and below 1, got {dropout!r}"
        raise ValueRangeError(msg)
    if seed is None:
        return
    if isinstance(seed, Tensor):
        if seed.numel() != 1 or seed.dtype != torch.int64:
            msg = f"seed must be one int64, got {seed.dtype} of the shape {list(seed.shape)}"
            raise KindError(msg)
    elif isinstance(seed, bool) or not isinstance(seed, int):
        msg = f"seed must be an integer, got {type(seed).__name__}"
        raise KindError(msg)
    elif not -(2**63) <= seed < 2**63:
        msg = f"seed must fit in 64 bits, got {seed}"
        raise ValueRangeError(msg)


def cast_for_autocast(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Inside torch.autocast: one dtype for all three, as torch's own attention does."""
    if not isinstance(q, Tensor) or not torch.is_autocast_enabled(q.device.type):
        return q, k, v
    dtype = torch.get_autocast_dtype(q.device.type)

    def cast(x: Tensor) -> Tensor:
        known = isinstance(x, Tensor) and x.is_floating_point() and x.dtype != torch.float64
        return x.to(dtype) if known else x

    return cast(q), cast(k), cast(v)


def attend(
    q: Float[Tensor, "*b n d"],
    k: Float[Tensor, "*b m e"],
    v: Float[Tensor, "*b m v"],
    *,
    score: Score = _DOT,
    mask: Mask | None = None,
    dropout: float = 0.0,
    seed: int | Tensor | None = None,
    impl: Impl = "auto",
    precision: Precision = "exact",
) -> Float[Tensor, "*b n v"]:
    """Average the values, each query weighing the keys by its score.

    ::

        w[i, j] = softmax over the keys j that i may see of score(q[i], k[j])
        out[i]  = sum over j of w[i, j] * v[j]

    A key that may not be seen is absent: whatever it holds, NaN included, changes nothing. A query
    that sees no key gets zeros and sends zero gradients.

    Args:
        q: queries [*b, n, d]; heads are batch axes, the last of them.
        k: keys [*b, m, e]; e = d for every score that compares features one by one.
        v: values [*b, m, v]. One dtype and one device for all three.
        score: how well a key answers a query; see ``regard.scores``.
        mask: which keys a query may see; see ``regard.masks``.
        dropout: the part of the weights set to zero, the others growing to make up for it.
        seed: of the dropout, an integer or an int64 tensor; None draws one from torch's generator.
        impl: "auto" picks by shape and device; a name is used or refused, never swapped.
        precision: "exact" keeps float32 what it is; "tf32" lets a GPU's matrix units have 10 of its
            23 bits, for speed, and gives them the Gaussian of many features too, in every dtype.
            Dot products of other dtypes and the CPU know no difference.

    Returns:
        [*b, n, v], in the dtype and on the device of q.

    Raises:
        ShapeError: axes, dtypes or devices disagree.
        KindError: an argument has the wrong type.
        ValueRangeError: a number is out of its range.
        ImplError: the named implementation cannot run this call.

    >>> import torch
    >>> from regard import Causal, attend
    >>> x = torch.eye(3)
    >>> attend(x, x, x, mask=Causal())[0].tolist()
    [1.0, 0.0, 0.0]

    """
    q, k, v = cast_for_autocast(q, k, v)
    check_qkv(q, k, v)
    check_score_and_mask(q, k, score, mask)
    _check_dropout(dropout, seed)
    _check_precision(precision)
    if not torch.compiler.is_compiling():
        tell(q, k, score, mask)
    chosen = _choose(q, k, v, score, mask, dropout, impl)
    number = _seed_tensor(seed, q.device) if dropout else None
    dtype = q.dtype
    with _without_autocast(q.device.type):
        if chosen.impl == "reference":
            return reference.attend(q, k, v, score, mask, dropout, number)
        if not takes_halves(chosen.impl, score):
            q, k, v = (reference.widened(x) for x in (q, k, v))
        form = score.form(q, k)
        assert form is not None  # or it would not have been chosen
        call = make_call(q, k, v, form, mask, float(dropout), number, precision)
        if applies(chosen.impl, score, q.shape[-1], precision):
            call = centred(call)
        return fused(call, chosen.impl).to(dtype).reshape(*q.shape[:-1], v.shape[-1])


def _without_autocast(device: str) -> AbstractContextManager[object]:
    # a graph keeps it: who runs that may be inside of autocast
    if torch.compiler.is_compiling() or torch.is_autocast_enabled(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()


def takes_halves(impl: str, score: Score) -> bool:
    """Whether a kernel multiplies half precision as it is.

    What a score computes from q and k first must not be rounded to it: it would meet every key.
    """
    plain = score.score if isinstance(score, Biased) else score
    plain_dot = type(plain) is Dot and not isinstance(plain.scale, Tensor)
    return impl in ("cudnn", "triton") and plain_dot


def _check_precision(precision: str) -> None:
    if precision not in get_args(Precision):
        names = " or ".join(repr(name) for name in get_args(Precision))
        msg = f"precision must be {names}, got {precision!r}"
        raise ValueRangeError(msg)


def _seed_tensor(seed: int | Tensor | None, device: torch.device) -> Tensor:
    if isinstance(seed, Tensor):
        return seed.reshape(())
    if seed is None:
        return torch.randint(2**63 - 1, (), device=device)  # so that a CUDA graph can draw it
    return torch.tensor(seed, dtype=torch.int64)


def explain(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    score: Score = _DOT,
    mask: Mask | None = None,
    dropout: float = 0.0,
    seed: int | Tensor | None = None,
    impl: Impl = "auto",
    precision: Precision = "exact",
) -> Choice:
    """Say what ``attend`` would run for these arguments, and why. Runs nothing.

    >>> import torch
    >>> from regard import Gaussian, explain
    >>> x = torch.zeros(2, 3)
    >>> print(explain(x, x, x, score=Gaussian()))
    reference: nothing faster takes this call on cpu
    not native: torch has the dot product with a fixed scale only, the score is Gaussian
    not cpu: 12 pair-features are done before a kernel has started
    not cudnn: it runs on an NVIDIA GPU, q is on cpu
    not triton: it runs on an NVIDIA GPU, q is on cpu
    """
    q, k, v = cast_for_autocast(q, k, v)
    check_qkv(q, k, v)
    check_score_and_mask(q, k, score, mask)
    _check_dropout(dropout, seed)
    _check_precision(precision)
    chosen = _choose(q, k, v, score, mask, dropout, impl)
    if applies(chosen.impl, score, q.shape[-1], precision):
        return replace(chosen, reason=f"{chosen.reason}; as a dot product about a centre, in tf32")
    return chosen


def _choose(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    score: Score,
    mask: Mask | None,
    dropout: float,
    impl: Impl,
) -> Choice:
    wanted = any(x.requires_grad for x in (q, k, v, *score.tensors))
    grad = wanted and torch.is_grad_enabled()
    return choose(q, k, v, score=score, mask=mask, dropout=dropout, impl=impl, grad=grad)

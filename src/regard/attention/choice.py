"""Which implementation runs a call, and why. Looks at shapes and types, never at numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from regard.attention.call import pattern_of
from regard.attention.gpu import is_little
from regard.attention.modes import is_transformed
from regard.errors import ImplError, ValueRangeError
from regard.masks import Mask
from regard.optional import has
from regard.scores import Cosine, Dot, Score
from regard.scores.base import Biased

__all__ = ["Choice", "Impl", "choose", "why_not_triton"]

Impl = Literal["auto", "reference", "native", "cpu", "cudnn", "triton"]
FUSED = ("native", "cpu", "cudnn", "triton")  # fastest first
_NUMBA = has("numba")
_TRITON = has("triton")

LONG, ROUND = 4096, 1024  # sequences worth a plan of their own: see cudnn.py
WIDEST = 512  # features of queries, keys and values that a tile on the GPU has room for

# Below this many pair-features (scores times the width of what is compared) the reference is done
# before a kernel has been called, and no compiler is waited for.
MATERIALISE_UP_TO = 1 << 16

# Queries and keys up to which the reference is the fastest on a CPU where a product's gradients are
# wanted: a kernel's tile has room for 128, and sentences are short. Of 16 and 64 features it is 1.0
# to 2.7 times as fast at 32 keys, 2.2 to 6.7 times at 8; under dropout, whose mask it writes out,
# it is slower from 16 on, and n queries beyond these would take n x m memory.
SENTENCE = 32


# Keys beyond which torch's kernel is left alone: it adds up weights and values in float32, and the
# mean of 40,000 equal numbers comes out 4e-4 wrong.
TORCH_ADDS_UP_TO = 4096


@dataclass(frozen=True)
class Choice:
    """What runs, why, and why the others do not."""

    impl: str
    reason: str
    refused: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """One line for what runs, one for each of the others."""
        lines = [f"{self.impl}: {self.reason}"]
        lines += [f"not {name}: {why}" for name, why in self.refused]
        return "\n".join(lines)


def _refusal(
    impl: str, q: Tensor, k: Tensor, v: Tensor, score: Score, mask: Mask | None, dropout: float
) -> str:
    """Why an implementation cannot run a call; empty if it can."""
    match impl:
        case "triton":
            return why_not_triton(q, k, v, score, named=True)
        case "cudnn":
            return _why_not_cudnn(q, k, v, score, mask, dropout)
    if q.device.type != "cpu":
        return f"it runs on the CPU, q is on {q.device}"
    if is_transformed(q, k, v, *score.tensors):
        return _UNTRANSFORMED
    if impl == "native":
        return _why_not_native(q, k, v, score, mask, dropout)
    if not _numba_is_there():
        return "numba is not installed; pip install numba"
    return _no_form(score)


_UNTRANSFORMED = "it has no forward-mode derivative and no vmap; the reference has"


def _why_not_native(
    q: Tensor, k: Tensor, v: Tensor, score: Score, mask: Mask | None, dropout: float
) -> str:
    if why := _no_plain_dot(score, "torch has"):
        return why
    assert isinstance(score, Dot)
    assert not isinstance(score.scale, Tensor)
    if score.scale is not None and score.scale <= 0:
        return f"torch scales after it has masked, and the scale is {score.scale}"
    if dropout:
        return _OTHER_DROPOUT
    if pattern_of(mask) == "spans":
        return f"torch would need {_named(mask)} written out as n x m"
    if pattern_of(mask) == "causal" and q.shape[-2] != k.shape[-2]:
        return f"torch aligns a causal mask in its own way, n={q.shape[-2]} is not m={k.shape[-2]}"
    if q.shape[-1] != v.shape[-1]:
        return f"torch needs d = v, got d={q.shape[-1]}, v={v.shape[-1]}"
    if not q.shape[-1]:
        return "q has no features"
    return ""


_OTHER_DROPOUT = "its dropout mask would be another one than everywhere else"


def _no_plain_dot(score: Score, who: str) -> str:
    if type(score) is Dot and not isinstance(score.scale, Tensor):
        return ""
    return f"{who} the dot product with a fixed scale only, the score is {_named(score)}"


def why_not_triton(q: Tensor, k: Tensor, v: Tensor, score: Score, *, named: bool = False) -> str:
    """Why the GPU's kernels cannot run a call, or unless named should not; empty if they can."""
    if not named and (why := _not_on_a_gpu(q)):
        return why
    if why := _no_triton(q):
        return why
    if is_transformed(q, k, v, *score.tensors):
        return _UNTRANSFORMED
    if q.dtype == torch.float64:
        return "it computes in float32 and less, q is torch.float64"
    widest = max(q.shape[-1], k.shape[-1], v.shape[-1])
    if widest > WIDEST:
        return f"it takes up to {WIDEST} features, got {widest}"
    fits = widest <= WIDEST // 2 or (q.dtype == torch.bfloat16 and _is_product(score))
    if not fits and is_little(q.device):
        what = f"of {_named(score)} in {q.dtype} on a GPU with less than 160 KiB of shared memory"
        return f"it takes up to {WIDEST // 2} features {what}, got {widest}"
    return _no_form(score)


def _not_on_a_gpu(q: Tensor) -> str:
    return "" if q.device.type == "cuda" else f"it runs on an NVIDIA GPU, q is on {q.device}"


def _why_not_cudnn(
    q: Tensor, k: Tensor, v: Tensor, score: Score, mask: Mask | None, dropout: float
) -> str:
    if why := _not_on_a_gpu(q):
        return why
    if is_transformed(q, k, v):
        return _UNTRANSFORMED
    if q.dtype not in (torch.bfloat16, torch.float16):
        return f"it takes half precision only, q is {q.dtype}"
    if why := _no_plain_dot(score, "it has"):
        return why
    assert isinstance(score, Dot)
    assert not isinstance(score.scale, Tensor)
    if score.scale is not None and score.scale <= 0:
        return f"its scale must be positive, got {score.scale}"
    if mask is not None:
        return f"under {_named(mask)} it would multiply hidden garbage by zero"
    if dropout:
        return _OTHER_DROPOUT
    width = q.shape[-1]
    if width != v.shape[-1] or width % 8 or not 0 < width <= 128:  # noqa: PLR2004
        return f"it takes d = v, a multiple of 8 up to 128; got d={width}, v={v.shape[-1]}"
    return ""


def _no_form(score: Score) -> str:
    if score.has_form:
        return ""
    return f"{_named(score)} has no form that kernels know, only pairwise()"


def _no_triton(q: Tensor) -> str:
    # Triton's interpreter runs the kernels on the CPU, slowly: for tests, when asked for by name
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    if not (interpreted and q.device.type == "cpu") and (why := _not_on_a_gpu(q)):
        return why
    if not (_TRITON if torch.compiler.is_compiling() else has("triton")):
        return "triton is not installed; pip install 'regard[gpu]'"
    return ""


def _is_product(score: Score) -> bool:
    """Whether a score is the product of q and k, with or without a bias.

    Not the bilinear one: its W gets a long sum for a gradient, which the kernels make in float64.
    """
    return isinstance(score.score if isinstance(score, Biased) else score, Dot | Cosine)


def _few_of_a_kind(*lengths: int) -> bool:
    """Whether lengths are such as a program has few of."""
    return all(x >= LONG and x % ROUND == 0 for x in lengths)


def _numba_is_there() -> bool:
    # torch does not trace the search for a package, so compiled functions go by what was found
    # when this file was imported
    return _NUMBA if torch.compiler.is_compiling() else has("numba")


def _named(x: object) -> str:
    return type(x).__name__


def choose(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    score: Score,
    mask: Mask | None,
    dropout: float,
    impl: str,
    grad: bool = False,
) -> Choice:
    """Resolve ``impl``. A named implementation is used or refused, never swapped."""
    if impl not in get_args(Impl):
        names = ", ".join(repr(name) for name in get_args(Impl))
        msg = f"impl must be one of {names}; got {impl!r}"
        raise ValueRangeError(msg)
    if impl == "reference":
        return Choice(impl, "asked for by name")
    if impl != "auto":
        if why := _refusal(impl, q, k, v, score, mask, dropout):
            msg = f"impl={impl!r} cannot run this call: {why}"
            raise ImplError(msg)
        return Choice(impl, "asked for by name")
    refused: tuple[tuple[str, str], ...] = ()
    for name in FUSED:
        why = _refusal(name, q, k, v, score, mask, dropout)
        why = why or _better_not(name, q, k, score, dropout, grad=grad)
        if not why:
            return Choice(name, f"the fastest that takes this call on {q.device}", refused)
        refused = (*refused, (name, why))
    return Choice("reference", f"nothing faster takes this call on {q.device}", refused)


def _better_not(
    impl: str, q: Tensor, k: Tensor, score: Score, dropout: float, *, grad: bool
) -> str:
    """Why an implementation that can run a call should not, unless it is asked for by name."""
    n, m = q.shape[-2], k.shape[-2]
    match impl:
        case "cpu":
            size = q.shape[:-1].numel() * m * max(q.shape[-1], 1)
            if size <= MATERIALISE_UP_TO:
                return f"{size:,} pair-features are done before a kernel has started"
            if grad and not dropout and max(n, m) <= SENTENCE and _is_product(score):
                return f"for so few keys (m={m}) the reference is faster with gradients"
        case "native":
            if m > TORCH_ADDS_UP_TO:
                return f"its float32 sums over m={m} keys would lose digits"
            if grad:
                return "its gradients can be several times as wrong as the budget allows"
        case "cudnn":
            if grad:
                return "its gradients are not the same on every run"
            if not _few_of_a_kind(n, m):
                return f"it builds a plan for every new shape, and n={n}, m={m} may be one of many"
        case "triton":
            return _not_on_a_gpu(q)  # all else was asked before
    return ""

"""Which implementation runs a call, and why. Looks at shapes and types, never at numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from regard.attention.call import pattern_of
from regard.attention.modes import is_transformed
from regard.errors import ImplError, ValueRangeError
from regard.masks import Mask
from regard.optional import has
from regard.scores import Dot, Score

__all__ = ["Choice", "Impl", "choose"]

Impl = Literal["auto", "reference", "native", "cpu"]
FUSED = ("native", "cpu")  # fastest first
_NUMBA = has("numba")

# Below this many pair-features (scores times the width of what is compared) the reference is done
# before a kernel has been called, and no compiler is waited for.
MATERIALISE_UP_TO = 1 << 16


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
    if q.device.type != "cpu":
        return f"it runs on the CPU, q is on {q.device}"
    if is_transformed(q, k, v, *score.tensors):
        return "it has no forward-mode derivative and no vmap; the reference has"
    if impl == "cpu":
        if not _numba_is_there():
            return "numba is not installed; pip install numba"
        if not score.has_form:
            return f"{_named(score)} has no form that kernels know, only pairwise()"
        return ""
    if type(score) is not Dot or isinstance(score.scale, Tensor):
        return f"torch has the dot product with a fixed scale only, the score is {_named(score)}"
    if score.scale is not None and score.scale <= 0:
        return f"torch scales after it has masked, and the scale is {score.scale}"
    if dropout:
        return "its dropout mask would be another one than everywhere else"
    if pattern_of(mask) == "spans":
        return f"torch would need {_named(mask)} written out as n x m"
    if pattern_of(mask) == "causal" and q.shape[-2] != k.shape[-2]:
        return f"torch aligns a causal mask in its own way, n={q.shape[-2]} is not m={k.shape[-2]}"
    if q.shape[-1] != v.shape[-1]:
        return f"torch needs d = v, got d={q.shape[-1]}, v={v.shape[-1]}"
    if not q.shape[-1]:
        return "q has no features"
    return ""


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
    size = q.shape[:-1].numel() * k.shape[-2] * max(q.shape[-1], 1)
    for name in FUSED:
        why = _refusal(name, q, k, v, score, mask, dropout)
        if not why and name == "cpu" and size <= MATERIALISE_UP_TO:
            why = f"{size:,} pair-features are done before a kernel has started"
        if not why and name == "native" and k.shape[-2] > TORCH_ADDS_UP_TO:
            why = f"its float32 sums over m={k.shape[-2]} keys would lose digits"
        if not why and name == "native" and grad:
            why = "its gradients can be several times as wrong as the budget allows"
        if not why:
            return Choice(name, f"the fastest that takes this call on {q.device}", refused)
        refused = (*refused, (name, why))
    return Choice("reference", f"nothing faster takes this call on {q.device}", refused)

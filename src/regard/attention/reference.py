"""The definition: score, mask, softmax, average. Any dtype, any score, every derivative.

Half precision is computed in float32 and rounded once, at the end: the reference says what the
right answer is in a dtype, not what its arithmetic would have made of it.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.attention.absent import all_finite, clean_rows
from regard.attention.dropout import keep
from regard.attention.modes import is_plain
from regard.masks import Mask
from regard.scores import Score

__all__ = ["attend", "average", "softmax", "widened"]

LONG = 256  # keys whose sum float32 may hold: one sum over 40,000 ones averages to 0.9995


def widened(x: Tensor) -> Tensor:
    """In float32 if it was in half precision."""
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x


def softmax(
    s: Float[Tensor, "*b n m"], allowed: Bool[Tensor, "*b n m"] | None
) -> Float[Tensor, "*b n m"]:
    """Softmax over the allowed keys; a row with no key, or only scores of -inf, is all zeros."""
    finite = torch.finfo(s.dtype)
    if allowed is not None:
        s = s.masked_fill(~allowed, -torch.inf)
    s = s.clamp_max(finite.max)  # a score that overflowed still has to compare
    if not s.shape[-1]:
        return s
    top = s.amax(-1, keepdim=True).clamp_min(finite.min).detach()  # keeps -inf - -inf out
    e = (s - top).exp()
    total = e.sum(-1, keepdim=True)
    w = e / torch.where(total > 0, total, 1)  # not a tiny number: its inverse is not finite
    return torch.where(e == 0, 0, w)  # changes nothing, but 0 has no gradient, not 0 * inf


def average(
    s: Float[Tensor, "*b n m"],
    v: Float[Tensor, "*b m v"],
    allowed: Bool[Tensor, "*b n m"] | None,
    dropout: float,
    seed: Tensor | None,
) -> Float[Tensor, "*b n v"]:
    """Average the values by the softmax of the scores."""
    w = softmax(s, allowed)
    if dropout and seed is not None:
        rows = torch.arange(s.shape[:-1].numel(), device=s.device).view(*s.shape[:-1], 1)
        keys = torch.arange(s.shape[-1], device=s.device)
        w = torch.where(keep(seed, rows, keys, dropout), w / (1 - dropout), 0)
    if w.shape[-1] <= LONG:
        return w @ v
    return (w.double() @ v.double()).to(v.dtype)


def attend(
    q: Float[Tensor, "*b n d"],
    k: Float[Tensor, "*b m e"],
    v: Float[Tensor, "*b m v"],
    score: Score,
    mask: Mask | None = None,
    dropout: float = 0.0,
    seed: Tensor | None = None,
) -> Float[Tensor, "*b n v"]:
    """out[i] = sum over j of softmax_j(score(q[i], k[j]) over the keys i may see) * v[j]."""
    out = _attend(widened(q), widened(k), widened(v), score, mask, dropout, seed)
    plain = out.dtype == torch.float32 and is_plain(q, k, v, *score.tensors)
    if plain and not all_finite(out) and all_finite(q, k, v):
        # scores beyond float32 (the sum of infinities of both signs is NaN): float64 holds them
        out = _attend(q.double(), k.double(), v.double(), score, mask, dropout, seed)
    return out.to(q.dtype)


def _attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    score: Score,
    mask: Mask | None,
    dropout: float,
    seed: Tensor | None,
) -> Tensor:
    if mask is None:
        return average(score.pairwise(q, k), v, None, dropout, seed)
    batch, n, m = q.shape[:-2], q.shape[-2], k.shape[-2]
    allowed = mask.allows(batch, n, m, q.device).expand(*batch, n, m)
    fine = clean_rows(q, k, v, allowed)
    s = score.pairwise(fine.q, fine.k)
    return fine.spoil(average(s, fine.v, allowed, dropout, seed))

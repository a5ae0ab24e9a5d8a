"""A mask that came as a tensor, kept as the rule it follows: small, where there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from regard.errors import ShapeError, StateError
from regard.masks import Causal, Dense, Lengths, Mask, Spans, Window
from regard.scores import Bias, Distances
from regard.shapes import spreads_to

__all__ = ["Added", "Interval", "added", "rule_of"]

FAR = -1e4  # a number added to a score that hides a key: what is left of its weight is no number
AT_A_TIME = 1 << 20  # places of a mask looked at at once


@dataclass(frozen=True, eq=False)
class Interval(Mask):
    """Query i sees the keys lo[..., i] <= j < hi[..., i]: any mask whose rows are in one piece.

    Args:
        lo, hi: integers that broadcast against [*b, n].

    """

    lo: Tensor
    hi: Tensor

    def check(self, batch: torch.Size, n: int, m: int, device: torch.device) -> None:
        for name, x in (("lo", self.lo), ("hi", self.hi)):
            if not spreads_to(x.shape, torch.Size((*batch, n))):
                msg = (
                    f"Interval: {name} must broadcast against [*b, n] = {[*batch, n]}, "
                    f"got {list(x.shape)}"
                )
                raise ShapeError(msg)

    def allows(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Tensor:
        spans = self.spans(batch, n, m, device)
        j = torch.arange(m, device=device)
        return spans.allowed(torch.arange(n, device=device), j)

    def spans(self, batch: torch.Size, n: int, m: int, device: torch.device) -> Spans:
        lo, hi = (x.to(device).expand(*x.shape[:-1], n) for x in (self.lo, self.hi))
        return Spans(lo, hi.clamp(0, m))


class Added(NamedTuple):
    """What a tensor that is added to scores [*b, heads, n, m] means."""

    mask: Mask | None
    bias: Bias | None  # by the distance from query to key
    keys: Tensor | None  # [*b, heads, m], by the key alone; axes of size 1 where nothing changes


def added(x: Tensor, n: int, m: int) -> Added:
    """Read a tensor that is added to the scores, or a bool one, True for what may be seen.

    Very negative numbers hide keys. What is left is a number for each distance from query to key,
    or one for each key; anything else has no score to stand for it.
    """
    if x.ndim < 2:  # noqa: PLR2004 - queries and keys
        x = x.reshape(*(1,) * (2 - x.ndim), *x.shape)
    for axis in range(x.ndim):
        if x.stride(axis) == 0:  # said once, and spread out
            x = x.narrow(axis, 0, min(x.shape[axis], 1))
    if x.dtype == torch.bool:
        return Added(rule_of(x, n, m), None, None)
    x = x.detach()
    far = x <= FAR
    mask = rule_of(~far, n, m) if bool(far.any()) else None
    if bool(((x == 0) | far).all()):
        return Added(mask, None, None)
    keys = _by_key(x, far, m)
    if keys is not None:
        return Added(mask, None, keys)
    bias = _by_distance(x.expand(*x.shape[:-2], n, m), far.expand(*x.shape[:-2], n, m))
    if bias is not None:
        return Added(mask, bias, None)
    msg = (
        "a mask that adds other numbers than 0 and minus infinity to the scores can be captured if "
        "they follow from the distance between query and key, or from the key alone; these do not"
    )
    raise StateError(msg)


def _by_key(x: Tensor, far: Tensor, m: int) -> Tensor | None:
    """The number of each key, if all queries that see it add the same."""
    most = x.masked_fill(far, -torch.inf).amax(-2)
    least = x.masked_fill(far, torch.inf).amin(-2)
    seen = ~far.all(-2)
    if not bool(((most == least) | ~seen).all()):
        return None
    return torch.where(seen, most, 0).expand(*most.shape[:-1], m)


def _by_distance(x: Tensor, far: Tensor) -> Distances | None:
    """The number of each distance and head, if all pairs as far apart add the same."""
    n, m = x.shape[-2:]
    heads = x.shape[-3] if x.ndim > 2 else 1  # noqa: PLR2004
    x, far = (y.reshape(-1, heads, n, m) for y in (x, far))
    most = x.new_full((heads, n + m - 1), -torch.inf)  # entry t: the distance t - (n - 1)
    least = x.new_full((heads, n + m - 1), torch.inf)
    j = torch.arange(m, device=x.device)
    step = max(AT_A_TIME // max(heads * m, 1), 1)
    for one, hidden in zip(x, far, strict=True):
        for start in range(0, n, step):
            i = torch.arange(start, min(start + step, n), device=x.device)
            at = (j - i[:, None] + n - 1).flatten().expand(heads, -1)
            piece, hide = (y[:, start : start + step].flatten(1) for y in (one, hidden))
            most.scatter_reduce_(1, at, piece.masked_fill(hide, -torch.inf), "amax")
            least.scatter_reduce_(1, at, piece.masked_fill(hide, torch.inf), "amin")
    seen = most > -torch.inf
    if not bool(((most == least) | ~seen).all()):
        return None
    r = max(n, m) - 1
    values = x.new_zeros(heads, 2 * r + 1)
    values[:, r - (n - 1) : r + m] = torch.where(seen, most, 0)
    values = values.float() if values.dtype != torch.float64 else values
    return Distances(values if heads > 1 else values[0])


def rule_of(seen: Tensor, n: int, m: int) -> Mask | None:
    """The smallest mask that lets be seen what ``seen`` does, [..., n or 1, m or 1]; None: all."""
    found = _ends(seen, m)
    if found is None:
        return Dense(seen.clone())  # what was given may change
    lo, hi = (_small(x) for x in found)
    if bool((lo == 0).all()) and bool((hi == m).all()):
        return None
    if lo.numel() in (1, n) and hi.numel() == n > 1:
        rule = _moving(lo.flatten().expand(n), hi.flatten(), m)
        if rule is not None:
            return rule
    by_sequence = hi.ndim == 3 and hi.numel() == hi.shape[0] > 1  # noqa: PLR2004 - [b, heads, n]
    if by_sequence and lo.numel() == 1 and not int(lo):
        return Lengths(hi.flatten())
    return Interval(lo, hi)


def _ends(seen: Tensor, m: int) -> tuple[Tensor, Tensor] | None:
    """First and behind the last key of each row, [..., n or 1]; None: some row has gaps."""
    rows = seen.shape[-2]
    lo = torch.zeros(seen.shape[:-1], dtype=torch.int64, device=seen.device)
    hi = torch.zeros_like(lo)
    if not seen.numel() or not m:
        return lo, hi
    step = max(AT_A_TIME // max(seen.shape[:-2].numel() * m, 1), 1)
    for start in range(0, rows, step):
        piece = seen[..., start : start + step, :].expand(*seen.shape[:-2], -1, m)
        flags = piece.view(torch.uint8)  # read as bytes: several times as fast
        edges = (flags[..., 1:] != flags[..., :-1]).sum(-1) + flags[..., 0] + flags[..., -1]
        if bool((edges > 2).any()):  # noqa: PLR2004 - a run begins and ends
            return None
        first, count = flags.argmax(-1), flags.sum(-1)
        lo[..., start : start + step] = torch.where(count > 0, first, 0)
        hi[..., start : start + step] = first + count
    return lo, hi


def _small(x: Tensor) -> Tensor:
    """With axes of size 1 where nothing changes."""
    for axis in range(x.ndim):
        first = x.narrow(axis, 0, min(1, x.shape[axis]))
        if x.shape[axis] > 1 and bool((x == first).all()):
            x = first
    return x


def _moving(lo: Tensor, hi: Tensor, m: int) -> Mask | None:
    """Causal, or a window that ends at its query, if that is what the intervals are."""
    i = torch.arange(len(hi), device=hi.device)
    inside = ((hi > 0) & (hi < m)).nonzero()
    at = int(inside[0]) if len(inside) else int(hi.argmax())
    offset = int(hi[at]) - 1 - at
    if not torch.equal(hi, (i + offset + 1).clamp(0, m)):
        return None
    if not bool(lo.any()):
        return Causal(offset)
    left = len(hi) - 1 + offset - int(lo[-1])
    wanted = (i + offset - left).clamp(0, m)
    if left < 0 or not torch.equal(lo, torch.where(hi > 0, wanted, 0)):
        return None
    return Window(left, 0, offset)

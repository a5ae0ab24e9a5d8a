"""One attention call in the shape every kernel takes: three axes, spans, one formula."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.spans import lay_out
from regard.masks import And, Causal, Lengths, Mask
from regard.scores import Form

__all__ = ["Call", "Pattern", "Precision", "make_call", "pattern_of"]

Pattern = Literal["full", "causal", "lengths", "spans"]
Precision = Literal["exact", "tf32"]  # of products of float32 on a GPU


@dataclass(frozen=True, eq=False)
class Call:
    """The batch axes of q, k and v are flattened into one, of size B.

    What is shared is kept once: ``p0``, ``p1`` and ``table`` have a leading axis P that divides B
    and belong to batch entry ``b % P`` (heads come last), ``lo``, ``hi`` and ``dense`` a leading
    axis M that divides B and belong to ``b // (B // M)`` (sequences come first).
    """

    q: Float[Tensor, "B n h"]
    k: Float[Tensor, "B m h"]
    v: Float[Tensor, "B m v"]
    phi: str = "q * k"
    p0: Tensor | None = None  # [P, h], float64 like p1 and table
    p1: Tensor | None = None
    scale: float = 1.0
    table: Tensor | None = None  # [P, n + m - 1]: bias at the distance j - i = t - (n - 1)
    pattern: Pattern = "full"  # what is known of the spans without looking at them
    lo: Tensor | None = None  # [M, n]
    hi: Tensor | None = None  # [M, n]
    not_self: bool = False
    dense: Tensor | None = None  # [M, n, m]
    dropout: float = 0.0
    seed: Tensor | None = None
    precision: Precision = "exact"

    @property
    def n(self) -> int:
        """How many queries."""
        return self.q.shape[1]

    @property
    def m(self) -> int:
        """How many keys."""
        return self.k.shape[1]

    def bounds(self) -> tuple[Tensor, Tensor]:
        """The spans written out for every batch entry, [B, n] each."""
        shape = (self.q.shape[0], self.n)
        if self.lo is None or self.hi is None:
            lo = torch.zeros(shape, dtype=torch.int64, device=self.q.device)
            return lo, torch.full_like(lo, self.m)
        lo, hi = self.lo.long(), self.hi.long()  # on a GPU they are of int32
        return _by_sequence(lo, shape[0]), _by_sequence(hi, shape[0])

    def entry(self, b: int) -> Call:
        """The call of one batch entry alone, a view."""

        def by_head(x: Tensor | None) -> Tensor | None:
            return None if x is None else x[b % x.shape[0]].unsqueeze(0)

        def by_sequence(x: Tensor | None) -> Tensor | None:
            return None if x is None else x[b // (self.q.shape[0] // x.shape[0])].unsqueeze(0)

        return replace(
            self,
            q=self.q[b : b + 1],
            k=self.k[b : b + 1],
            v=self.v[b : b + 1],
            p0=by_head(self.p0),
            p1=by_head(self.p1),
            table=by_head(self.table),
            lo=by_sequence(self.lo),
            hi=by_sequence(self.hi),
            dense=by_sequence(self.dense),
        )

    def allowed(
        self,
        start: int = 0,
        stop: int | None = None,
        step: int = 1,
        left: int = 0,
        right: int | None = None,
    ) -> Tensor:
        """The mask of every step-th query from start to stop, on the keys from left to right."""
        i = torch.arange(start, self.n if stop is None else stop, step, device=self.q.device)
        j = torch.arange(left, self.m if right is None else right, device=self.q.device)
        lo, hi = (x[:, start:stop:step].unsqueeze(-1) for x in self.bounds())
        seen = (lo <= j) & (j < hi)
        if self.not_self:
            seen = seen & (i[:, None] != j)
        if self.dense is None:
            return seen
        return seen & _by_sequence(self.dense[:, start:stop:step, left:right], self.q.shape[0])

    def scores(
        self,
        start: int = 0,
        stop: int | None = None,
        step: int = 1,
        left: int = 0,
        right: int | None = None,
    ) -> Float[Tensor, "B r c"]:
        """The scores of the same queries and keys, before the mask: the definition."""
        stop = self.n if stop is None else stop
        batch = self.q.shape[0]
        p0, p1 = (None if p is None else _by_head(p, batch) for p in (self.p0, self.p1))
        s = Form(
            self.q[:, start:stop:step], self.k[:, left:right], self.phi, p0, p1, self.scale
        ).pairwise()
        return s if self.table is None else s + self.bias(start, stop, step, left, right)

    def bias(
        self, start: int, stop: int, step: int = 1, left: int = 0, right: int | None = None
    ) -> Float[Tensor, "B r c"]:
        """What the distance from query to key adds, where there is a table of it."""
        assert self.table is not None
        i = torch.arange(start, stop, step, device=self.q.device)
        j = torch.arange(left, self.m if right is None else right, device=self.q.device)
        bias = self.table.to(self.q.dtype)[:, j - i[:, None] + self.n - 1]
        return _by_head(bias, self.q.shape[0])


def _by_sequence(x: Tensor, batch: int) -> Tensor:
    return x.repeat_interleave(batch // max(x.shape[0], 1), 0)


def _by_head(x: Tensor, batch: int) -> Tensor:
    return x.repeat(batch // max(x.shape[0], 1), *(1,) * (x.ndim - 1))


def pattern_of(mask: Mask | None) -> Pattern:
    """What a mask's type alone tells of its spans."""
    match mask:
        case None:
            return "full"
        case Causal(offset=0):
            return "causal"
        case Lengths(lengths=Tensor(ndim=1)):
            return "lengths"
        case And() | _:
            return "spans"


def make_call(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    form: Form,
    mask: Mask | None,
    dropout: float = 0.0,
    seed: Tensor | None = None,
    precision: Precision = "exact",
) -> Call:
    """Flatten the batch axes and lay out parameters, bias and mask beside them."""
    batch, n, m = q.shape[:-2], q.shape[-2], k.shape[-2]
    lo = hi = dense = table = None
    not_self = False
    if mask is not None:
        lo, hi, not_self, dense = lay_out(mask, batch, n, m, q.device)
    if form.bias is not None:
        table = form.bias.table(n, m, q.device)
        table = table if table.ndim > 1 else table.unsqueeze(0)
    p0, p1 = (_heads_last(p, batch, form.q.shape[-1]) for p in (form.p0, form.p1))
    return Call(
        _flat(form.q),
        _flat(form.k),
        _flat(v),
        form.phi,
        p0,
        p1,
        form.scale,
        table,
        pattern_of(mask),
        lo,
        hi,
        not_self,
        dense,
        dropout,
        seed,
        precision,
    )


def _flat(x: Tensor) -> Tensor:
    return x.flatten(0, -3) if x.ndim > 2 else x.unsqueeze(0)  # noqa: PLR2004 - rows and features


def _heads_last(p: Tensor | None, batch: torch.Size, h: int) -> Tensor | None:
    """[P, h] from what broadcasts against [*b, h]."""
    if p is None:
        return None
    lead = max(p.ndim - 1, 0)
    axes = batch[len(batch) - lead :] if lead else ()
    p = p.expand(*axes, h)
    return _flat(p.unsqueeze(-2)).squeeze(-2)

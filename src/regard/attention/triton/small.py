"""The parameters' gradients of a small call, by the definition in float64.

One number that is a sum of few: in float32 it would be luck to be as good as another.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from regard.attention.absent import clean_rows
from regard.attention.call import Call
from regard.attention.dropout import keep
from regard.attention.triton.beside import for_parameter
from regard.scores.expression import derivative, evaluate, parse

__all__ = ["is_small", "parameter_gradients"]

SMALL = 1 << 22  # pair-features up to which a call is small


def is_small(call: Call) -> bool:
    """Whether [B, n, m, h] numbers in float64 are nothing to speak of."""
    return call.q.shape[0] * call.n * call.m * max(call.q.shape[2], 1) <= SMALL


def parameter_gradients(
    call: Call, dout: Tensor
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Of p0, p1 and the table, as far as there are any."""
    if call.p0 is None and call.p1 is None and call.table is None:
        return None, None, None
    batch, n, m = call.q.shape[0], call.n, call.m
    allowed = call.allowed()
    fine = clean_rows(call.q, call.k, call.v, allowed)
    wide = replace(call, q=fine.q.double(), k=fine.k.double())
    s = wide.scores().masked_fill(~allowed, -torch.inf)
    top = s.amax(-1, keepdim=True).clamp_min(torch.finfo(s.dtype).min)
    w = (s - top).exp()
    w = w / w.sum(-1, keepdim=True).clamp_min(torch.finfo(s.dtype).tiny)
    likes = dout.double() @ fine.v.double().transpose(1, 2)
    if call.dropout and call.seed is not None:
        rows = torch.arange(batch * n, device=w.device).view(batch, n, 1)
        stays = keep(call.seed, rows, torch.arange(m, device=w.device), call.dropout)
        likes = torch.where(stays, likes / (1 - call.dropout), 0)
    likes = torch.where(w > 0, likes, 0)  # who sees nothing may be given anything
    ds = w * (likes - (w * likes).sum(-1, keepdim=True))
    found = [
        None if p is None else for_parameter(p, _to_parameter(name, wide, ds))
        for name, p in (("p0", call.p0), ("p1", call.p1))
    ]
    return found[0], found[1], None if call.table is None else _along(ds, call.table)


def _to_parameter(name: str, call: Call, ds: Tensor) -> Tensor:
    """[B, h]: ds times the slope of phi by a parameter, over all pairs."""
    values = {"q": call.q.unsqueeze(2), "k": call.k.unsqueeze(1)}
    for other, p in (("p0", call.p0), ("p1", call.p1)):
        if p is not None:
            every = p.detach().repeat(call.q.shape[0] // p.shape[0], 1)
            values[other] = every.unsqueeze(1).unsqueeze(1)
    slope = evaluate(derivative(parse(call.phi), name), values)
    live = ds.unsqueeze(-1)
    return torch.where(live != 0, live * slope, 0).sum((1, 2)) * call.scale


def _along(ds: Tensor, table: Tensor) -> Tensor:
    """Sums of ds [B, n, m] along its diagonals, for each table."""
    n, m = ds.shape[1:]
    i = torch.arange(n, device=ds.device)[:, None]
    j = torch.arange(n + m - 1, device=ds.device) - (n - 1) + i
    there = (j >= 0) & (j < m)
    taken = ds.gather(2, j.clamp(0, m - 1).expand(ds.shape[0], -1, -1))
    return for_parameter(table, torch.where(there, taken, 0).sum(1))

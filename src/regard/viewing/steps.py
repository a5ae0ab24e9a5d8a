"""Steps of a generation as one call: what each token looked at when it was read, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import reduce

import torch
from torch import Tensor

from regard.masks import Mask
from regard.masks.base import Spans
from regard.scores import Bias, Score
from regard.viewing.captured import Captured, Captures
from regard.viewing.visible import Interval

__all__ = ["joined"]


def joined(captures: Captures) -> Captures:
    """The same calls, those of a module that are steps of one generation as one.

    A step follows the call before it if its keys are those and one for each of its own queries (a
    cache that grows), or if it is one more query of the same keys (a decoder that looks at its
    source). What cannot be one call stays apart: scores that know positions, masks with gaps, keys
    that a search has exchanged.
    """
    series: list[list[Captured]] = []
    latest: dict[str, list[Captured]] = {}
    for call in captures:
        so_far = latest.get(call.name)
        if so_far is not None and _follows(so_far[-1], call):
            so_far.append(call)
        else:
            latest[call.name] = [call]
            series.append(latest[call.name])
    found = Captures()
    for steps in series:
        found.add(steps[0] if len(steps) == 1 else _one(steps))
    return found


def _follows(before: Captured, call: Captured) -> bool:
    n, m, had = call.q.shape[-2], call.k.shape[-2], before.k.shape[-2]
    alike = (
        call.q.shape[:-2] == before.q.shape[:-2]
        and call.k.shape[:-2] == before.k.shape[:-2]
        and call.heads == before.heads
        and _same(before.score, call.score)
        and _in_one_piece(before)
        and _in_one_piece(call)
    )
    if not alike or not n:
        return False
    if m == had:  # the same keys once more; of the same query it would be the model run again
        last = before.q[..., -1:, :]
        return n == 1 < m and _begins(call.k, before.k) and not torch.equal(last, call.q)
    return m == had + n and _begins(call.k, before.k)


def _begins(k: Tensor, with_these: Tensor) -> bool:
    first = k[..., : with_these.shape[-2], :]
    shared = first.data_ptr() == with_these.data_ptr() and first.stride() == with_these.stride()
    return shared or torch.equal(first, with_these)


def _same(score: Score, other: Score) -> bool:
    if type(score) is not type(other):
        return False
    values = [(getattr(score, x.name), getattr(other, x.name)) for x in fields(score)]  # type: ignore[arg-type]
    return all(not isinstance(a, (Bias, Score, Tensor)) and a == b for a, b in values)


def _in_one_piece(call: Captured) -> bool:
    spans = _spans(call)
    return spans.dense is None and not spans.not_self


def _spans(call: Captured) -> Spans:
    (*batch, n, _), m = call.q.shape, call.k.shape[-2]
    if call.mask is None:
        ends = torch.full((n,), m, device=call.q.device)
        return Spans(torch.zeros_like(ends), ends)
    return call.mask.spans(torch.Size(batch), n, m, call.q.device)


def _one(steps: Sequence[Captured]) -> Captured:
    sizes = [step.q.shape[-2] for step in steps]
    spans = [_spans(step) for step in steps]
    mask: Mask = Interval(
        _along([x.lo for x in spans], sizes), _along([x.hi for x in spans], sizes)
    )
    return replace(steps[0], q=torch.cat([step.q for step in steps], -2), k=steps[-1].k, mask=mask)


def _along(ends: Sequence[Tensor], sizes: Sequence[int]) -> Tensor:
    """Ends of steps, [n] or [*b, n] each, one after the other."""
    batch = reduce(torch.add, (x[..., :1] for x in ends)).shape[:-1]  # as sums broadcast
    return torch.cat([x.expand(*batch, n) for x, n in zip(ends, sizes, strict=True)], -1)

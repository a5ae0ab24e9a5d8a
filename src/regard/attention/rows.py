"""Rows of weights, some at a time: what every look at the weights is reduced from."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from regard.attention import reference
from regard.attention.api import check_score_and_mask, takes_halves
from regard.attention.call import Call, make_call
from regard.attention.choice import MATERIALISE_UP_TO, why_not_triton
from regard.masks import Mask
from regard.optional import has
from regard.scores import Form, Score
from regard.shapes import check_qkv

if TYPE_CHECKING:
    from regard.attention.triton import Look

__all__ = ["Rows"]

AT_A_TIME = 1 << 21  # weights in memory at once, in all batch entries together


class Rows:
    """A source of rows of weights: q, k, score and mask, checked and laid out once."""

    def __init__(self, q: Tensor, k: Tensor, score: Score, mask: Mask | None) -> None:
        check_qkv(q, k)
        check_score_and_mask(q, k, score, mask)
        self.dtype = q.dtype
        q, k = q.detach(), k.detach()
        self._on_gpu = not why_not_triton(q, k, k, score)
        if not (self._on_gpu and takes_halves("triton", score)):
            q, k = reference.widened(q), reference.widened(k)
        self.batch, self.n, self.m = q.shape[:-2], q.shape[-2], k.shape[-2]
        self.entries = self.batch.numel()
        self.device = q.device
        nothing = k.new_zeros(*k.shape[:-1], 0)
        with torch.no_grad():
            form = score.form(q, k)
            self.call = None if form is None else make_call(q, k, nothing, form, mask)
            self._rule = self.call or make_call(q, k, nothing, Form(q, k), mask)  # its mask counts
        self.q, self.k, self.score, self.mask = q, k, score, mask
        self.look = self.looking()

    def entry(self, b: int) -> Rows:
        """The rows of one batch entry alone, by its number among all of them."""
        if self.call is None and self.score.tensors:
            return _One(self, b)
        one = copy(self)
        one.batch, one.entries = torch.Size((1,)), 1
        one._rule = self._rule.entry(b)  # noqa: SLF001 - its own
        one.call = None if self.call is None else one._rule  # noqa: SLF001
        one.q, one.k = one._rule.q, one._rule.k  # noqa: SLF001
        one.look = one.looking()
        return one

    def looking(self) -> Look | None:
        """The kernels of a GPU that look, if they take this call."""
        if not (self._on_gpu and self.call is not None and self.entries and self.n and self.m):
            return None
        from regard.attention.triton import Look  # noqa: PLC0415 - triton, when first needed

        return Look(self.call)

    @property
    def features(self) -> int:
        """How many numbers of a query meet as many of a key."""
        return max((self.q if self.call is None else self.call.q).shape[-1], 1)

    def __call__(self, start: int, stop: int, step: int = 1) -> Float[Tensor, "B r m"]:
        """The weights of every step-th query from start to stop."""
        count = len(range(start, stop, step))
        if not self.entries * count * self.m:
            return self.q.new_zeros(self.entries, count, self.m)
        with torch.no_grad():
            if self.look is not None and step == 1:
                return self.look.weights(slice(start, stop), slice(0, self.m))
            if self.call is None:
                s, allowed = self._pairwise(start, stop, step)
            elif step == 1 and self._fused(self.call, count):
                from regard.attention import cpu  # noqa: PLC0415 - numba, when first needed

                return reference.softmax(cpu.scores(self.call, start, stop), None)
            else:
                return _defined(self.call, start, stop, step)
            # a hidden key may hold anything, and softmax hides it; a seen NaN stays
            return reference.softmax(s, allowed)

    def _fused(self, call: Call, rows: int) -> bool:
        size = self.entries * rows * self.m * self.features
        linear = call.phi == "q * k"  # a matrix product: torch's own is the best there is
        return (
            not linear and size > MATERIALISE_UP_TO and self.device.type == "cpu" and has("numba")
        )

    def _pairwise(self, start: int, stop: int, step: int) -> tuple[Tensor, Tensor | None]:
        i = torch.arange(start, stop, step, device=self.device)
        j = torch.arange(self.m, device=self.device)
        s = self.score.at(self.q[..., start:stop:step, :], self.k, i, j)
        s = s.reshape(self.entries, len(i), self.m)
        return s, None if self.mask is None else self.allowed(start, stop, step)

    def blocks(
        self, start: int = 0, stop: int | None = None, step: int = 1
    ) -> Iterator[tuple[int, Float[Tensor, "B r m"]]]:
        """Every step-th row from start to stop, in blocks that keep memory bounded.

        With each block comes how many rows came before it.
        """
        stop = self.n if stop is None else stop
        count = len(range(start, stop, step))
        at_once = max(AT_A_TIME // max(self.entries * self.m * self.made(count, step), 1), 1)
        for done in range(0, count, at_once):
            more = min(at_once, count - done)
            first = start + done * step
            yield done, self(first, first + (more - 1) * step + 1, step)

    def made(self, count: int, step: int = 1) -> int:
        """How many numbers are made for a weight."""
        if self.look is not None and step == 1:
            return 1
        if self.call is None:
            return self.features
        if self.call.phi == "q * k" or (step == 1 and self._fused(self.call, count)):
            return 1
        return self.features  # the definition makes n x m x h

    def rectangle(self, first: int, last: int, left: int, right: int) -> Float[Tensor, "B r c"]:
        """The weights of the queries from first to last on the keys from left to right."""
        dtype = reference.widened(self.q[:0]).dtype
        out = torch.zeros(self.entries, last - first, right - left, dtype=dtype, device=self.device)
        made = self.made(last - first)
        at_once = max(AT_A_TIME // max(self.entries * self.m * made, 1), 1)
        for start in range(first, last, at_once):
            stop = min(start + at_once, last)
            if self.look is not None:
                found = self.look.weights(slice(start, stop), slice(left, right))
            else:
                found = self(start, stop)[..., left:right]
            out[:, start - first : stop - first] = found
        return out

    def whole(self, height: int, width: int, reduce: str) -> Tensor | None:
        """Sums or maxima over a grid of cells, where a GPU has a kernel for it."""
        return None if self.look is None else self.look.overview(height, width, reduce)

    def ends(self) -> Int[Tensor, "B n"]:
        """Behind the last key that each query may see."""
        if self._rule.dense is None and not self._rule.not_self:
            return self._rule.bounds()[1]
        out = torch.zeros(self.entries, self.n, dtype=torch.int64, device=self.device)
        if not out.numel() or not self.m:
            return out
        j = torch.arange(1, self.m + 1, device=self.device)
        at_once = max(AT_A_TIME // (self.entries * self.m), 1)
        for start in range(0, self.n, at_once):
            seen = self.allowed(start, min(start + at_once, self.n))
            out[:, start : start + at_once] = (seen * j).amax(-1)
        return out

    def allowed(self, start: int, stop: int, step: int = 1) -> Bool[Tensor, "B r m"]:
        """The mask of every step-th query from start to stop."""
        return self._rule.allowed(start, stop, step)

    def shaped(self, x: Tensor, *tail: int) -> Tensor:
        """A result for the caller: its batch axes and its dtype."""
        return x.reshape(*self.batch, *tail).to(self.dtype)


class _One(Rows):
    """One batch entry of a score that kernels do not know: all are worked out, one is kept."""

    def __init__(self, rows: Rows, b: int) -> None:
        vars(self).update(vars(rows))
        self._rows, self._b = rows, b
        self._rule = self._rule.entry(b)
        self.batch, self.entries = torch.Size((1,)), 1

    def __call__(self, start: int, stop: int, step: int = 1) -> Tensor:
        return self._rows(start, stop, step)[self._b : self._b + 1]

    def made(self, count: int, step: int = 1) -> int:
        return self._rows.entries * self._rows.made(count, step)


def _defined(call: Call, start: int, stop: int, step: int) -> Float[Tensor, "B r m"]:
    """By the definition, on the keys from the first to the last that one of the queries sees."""
    # on a GPU, where kernels take half precision as it is
    call = replace(call, q=reference.widened(call.q), k=reference.widened(call.k))
    if call.lo is None or call.hi is None:
        return reference.softmax(call.scores(start, stop, step), None)
    left = int(call.lo[:, start:stop:step].min())
    right = max(int(call.hi[:, start:stop:step].max()), left)
    s = call.scores(start, stop, step, left, right)
    w = reference.softmax(s, call.allowed(start, stop, step, left, right))
    return w if right - left == call.m else pad(w, (left, call.m - right))

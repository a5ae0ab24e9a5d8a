"""Rows of weights, some at a time: what every look at the weights is reduced from."""

from __future__ import annotations

import re
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

__all__ = ["Rows", "last_of"]

AT_A_TIME = 1 << 21  # weights in memory at once, in all batch entries together
# of these, so many are still in a processor's cache when the next step of their softmax comes, and
# in memory that need not be asked for anew: four times as fast
CACHED, FEWEST = 1 << 19, 16  # weights; and rows, so that keys are not read again for each
COMPILED_ROWS = 64  # at least: for each lot of them the kernels lay out all keys anew
# what a weight takes, in products of two numbers: its softmax, and beside a product of matrices
# a feature of a formula: compiled with functions in it (and, about, of a score nobody knows),
# compiled without, or step by step
SOFTMAX, COMPILED, SIMPLE, UNCOMPILED = 64, 12, 3, 100


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

    @property
    def work(self) -> int:
        """About what one weight takes, counted in products of two numbers."""
        if self.look is not None or (self.call is not None and self.call.phi == "q * k"):
            return SOFTMAX + self.features
        each = COMPILED
        if self.call is not None and not (self.device.type == "cpu" and has("numba")):
            each = UNCOMPILED
        elif self.call is not None and not re.search("[a-z]{3}", self.call.phi.replace("abs", "")):
            each = SIMPLE
        return SOFTMAX + self.features * each

    def __call__(self, start: int, stop: int, step: int = 1) -> Float[Tensor, "B r m"]:
        """The weights of every step-th query from start to stop."""
        count = len(range(start, stop, step))
        if not self.entries * count * self.m:
            return self.q.new_zeros(self.entries, count, self.m)
        with torch.no_grad():
            if self.look is not None and step == 1:
                return self.look.weights(slice(start, stop), slice(0, self.m))
            # a hidden key may hold anything, and softmax hides it; a seen NaN stays
            if self.call is None:  # what a score gives may be its own
                return reference.softmax(*self._pairwise(start, stop, step))
            if self._fused(self.call, count):
                return _softmax(*_compiled(self.call, start, stop, step))
            return _defined(self.call, start, stop, step)

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
        at_once = self._at_once(count, step)
        for done in range(0, count, at_once):
            more = min(at_once, count - done)
            first = start + done * step
            yield done, self(first, first + (more - 1) * step + 1, step)

    def _at_once(self, count: int, step: int = 1) -> int:
        """How many rows of so many to make at a time."""
        row = max(self.entries * self.m, 1)
        rows = max(AT_A_TIME // (row * self.made(count, step)), 1)
        if self.call is None or self.device.type != "cpu":
            return rows
        if self.call.phi == "q * k":
            return min(rows, max(CACHED // row, FEWEST))
        if self.entries == 1 and self._fused(self.call, count):
            return max(rows, COMPILED_ROWS)
        return rows

    def made(self, count: int, step: int = 1) -> int:
        """How many numbers are made for a weight."""
        if self.look is not None and step == 1:
            return 1
        if self.call is None:
            return self.features
        if self.call.phi == "q * k" or self._fused(self.call, count):
            return 1
        return self.features  # the definition makes n x m x h

    def rectangle(self, first: int, last: int, left: int, right: int) -> Float[Tensor, "B r c"]:
        """The weights of the queries from first to last on the keys from left to right."""
        dtype = reference.widened(self.q[:0]).dtype
        out = torch.zeros(self.entries, last - first, right - left, dtype=dtype, device=self.device)
        at_once = self._at_once(last - first)
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
        if self._rule.dense is None:
            lo, hi = self._rule.bounds()
            if not self._rule.not_self:
                return hi
            own = torch.arange(1, self.n + 1, device=self.device) == hi  # the last is its own
            hi = torch.where(own, hi - 1, hi)
            return torch.where(hi > lo, hi, 0)
        out = torch.zeros(self.entries, self.n, dtype=torch.int64, device=self.device)
        if not out.numel() or not self.m:
            return out
        at_once = max(AT_A_TIME // (self.entries * self.m), 1)
        for start in range(0, self.n, at_once):
            seen = self.allowed(start, min(start + at_once, self.n))
            out[:, start : start + at_once] = last_of(seen)
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

    @property
    def work(self) -> int:
        return self._rows.entries * self._rows.work

    def made(self, count: int, step: int = 1) -> int:
        return self._rows.entries * self._rows.made(count, step)


def _defined(call: Call, start: int, stop: int, step: int) -> Float[Tensor, "B r m"]:
    """By the definition, on the keys from the first to the last that one of the queries sees."""
    # on a GPU, where kernels take half precision as it is
    call = replace(call, q=reference.widened(call.q), k=reference.widened(call.k))
    if call.lo is None or call.hi is None:
        return _softmax(call.scores(start, stop, step), None)
    left = int(call.lo[:, start:stop:step].min())
    right = max(int(call.hi[:, start:stop:step].max()), left)
    s = call.scores(start, stop, step, left, right)
    w = _softmax(s, call.allowed(start, stop, step, left, right))
    return w if right - left == call.m else pad(w, (left, call.m - right))


def _compiled(call: Call, start: int, stop: int, step: int) -> tuple[Tensor, Tensor | None]:
    """The masked scores by a compiled kernel; what is still to be hidden comes with them."""
    from regard.attention import cpu  # noqa: PLC0415 - numba, when first needed

    if step == 1:
        return cpu.scores(call, start, stop), None
    # the kernels count queries one by one: here those between are left out, and with them what
    # depends on a query's place, which is added below
    some = slice(start, stop, step)
    lo, hi, dense = (None if x is None else x[:, some] for x in (call.lo, call.hi, call.dense))
    few = replace(call, q=call.q[:, some], lo=lo, hi=hi, dense=dense, table=None, not_self=False)
    s = cpu.scores(few, 0, few.n)
    if call.table is not None:
        s += call.bias(start, stop, step)
    return s, call.allowed(start, stop, step) if call.not_self else None


def _softmax(s: Tensor, allowed: Tensor | None) -> Tensor:
    """The reference's, to the last bit, without a derivative and in the memory of the scores."""
    finite = torch.finfo(s.dtype)
    if allowed is not None:
        s.masked_fill_(~allowed, -torch.inf)
    if not s.shape[-1]:
        return s
    s.clamp_max_(finite.max)
    top = s.amax(-1, keepdim=True).clamp_min_(finite.min)
    total = s.sub_(top).exp_().sum(-1, keepdim=True)
    return s.div_(torch.where(total > 0, total, 1))


def last_of(seen: Bool[Tensor, "*b m"]) -> Int[Tensor, "*b"]:
    """Behind the last True of each row, 0 where there is none."""
    m = seen.shape[-1]
    if not m:
        return seen.new_zeros(seen.shape[:-1], dtype=torch.int64)
    flags = seen.flip(-1).view(torch.uint8)  # read as bytes: several times as fast
    return torch.where(seen.any(-1), m - flags.argmax(-1), 0)

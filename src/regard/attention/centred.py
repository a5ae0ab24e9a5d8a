"""The Gaussian of many features as a dot product, which a GPU's matrix units multiply in tf32.

With p0 = -1 / (2 width^2), and whatever the centre c,

    sum_h p0 (q - k)^2  =  <-2 p0 (q - c), k - c>  +  sum_h p0 (k - c)^2  +  what is the query's own

and what is the query's own cancels in the softmax. The square of a key has columns of its own,
beside ones in the queries. All of it is made of torch's operations, so autograd carries the
gradients of the product's factors on to q, k and the widths.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from regard.attention.absent import anyone
from regard.attention.call import Call
from regard.attention.choice import WIDEST
from regard.scores import Gaussian, Score
from regard.scores.base import Biased

__all__ = ["applies", "centred"]

MANY = 16  # features, from which on a product should be worth its preparation
PIECES = 3  # of 11 bits, as many as tf32 has: the square keeps more digits than float32
ROUNDS, FAR = 2, 4.0  # of means; the squared distance from one, in mean ones, of what is left out
LARGEST = 1e38  # a factor or a square beyond float32 still has to compare


def applies(impl: str, score: Score, features: int, precision: str) -> bool:
    """Whether a call is computed as a dot product about a centre."""
    plain = score.score if isinstance(score, Biased) else score
    asked = impl == "triton" and precision == "tf32" and type(plain) is Gaussian
    return asked and MANY <= features <= WIDEST - PIECES


def centred(call: Call) -> Call:
    """The same Gaussian call as a dot product."""
    assert call.p0 is not None
    seen, seeing = (None, None) if call.lo is None else anyone(call)
    used_q, bad_q = _rows(call.q, seeing)
    used_k, bad_k = _rows(call.k, seen)
    # A query must not depend on a key that it does not see, not even by a rounding. The mean of the
    # keys will do where all queries see the same ones; elsewhere it is the mean of the queries.
    same = call.pattern in ("full", "lengths")
    centre = _centre(call.k, used_k) if same else _centre(call.q, used_q)
    q, k = _from(centre, call.q, used_q), _from(centre, call.k, used_k)
    p0 = call.p0.repeat(call.q.shape[0] // max(call.p0.shape[0], 1), 1).unsqueeze(1)
    square = (p0 * k.double().square()).sum(-1, keepdim=True).clamp(-LARGEST, LARGEST)
    q = (-2 * p0 * q.double()).clamp(-LARGEST, LARGEST).to(q.dtype)
    q = torch.cat((q, q.new_ones(*q.shape[:2], PIECES)), -1)
    k = torch.cat((k, *_pieces(square)), -1)
    q, k = torch.where(bad_q, torch.nan, q), torch.where(bad_k, torch.nan, k)
    return replace(call, q=q, k=k, phi="q * k", p0=None)


def _rows(x: Tensor, there: Tensor | None) -> tuple[Tensor, Tensor]:
    """Which of the rows that are seen, or see, are finite; and which are not, [B, r, 1] each."""
    finite = x.detach().isfinite().all(-1, keepdim=True)
    if there is None:
        return finite, ~finite
    there = there.unsqueeze(-1)
    return finite & there, ~finite & there


def _centre(x: Tensor, used: Tensor) -> Tensor:
    """About the middle of some rows, [B, 1, h]; of none it is 0. No weight depends on it.

    Of all the mean would do, but for a row far away: all others would lose digits to it. So the
    mean is taken twice more, of those that are not farther from it than most.
    """
    x = x.detach().double()
    found = _mean(x, used)
    for _ in range(ROUNDS):
        square = (x - found).square().sum(-1, keepdim=True)
        near = square <= FAR * _mean(square, used)
        found = _mean(x, used & near)
    return found.float()  # from there a near number has an exact difference


def _mean(x: Tensor, used: Tensor) -> Tensor:
    return torch.where(used, x, 0).sum(1, keepdim=True) / used.sum(1, keepdim=True).clamp_min(1)


def _from(centre: Tensor, x: Tensor, used: Tensor) -> Tensor:
    """From the centre to x; zeros for the other rows: their gradients would be 0 * NaN."""
    return (torch.where(used, x, centre) - centre).clamp(-LARGEST, LARGEST)


def _pieces(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """A float64 as the sum of three numbers of 11 bits.

    All three meet the same ones in the queries and so have the same gradient, that of x: it goes
    through the last alone.
    """
    first = _short(x.detach().float())
    second = _short((x.detach() - first).float())
    return first, second, (x - first - second).float()


def _short(x: Tensor) -> Tensor:
    """A float32 rounded to the 11 bits of tf32."""
    return ((x.view(torch.int32) + 0x1000) & -0x2000).view(torch.float32)

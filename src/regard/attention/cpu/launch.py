"""From tensors to kernels: layout, precision, and how the work is cut."""

from __future__ import annotations

from dataclasses import replace
from math import gcd
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.attention.absent import Cleaned, clean_call
from regard.attention.call import Call
from regard.attention.cpu.build import EXP_SUM, TANH_SUM, Kernels, kernels
from regard.attention.cpu.threads import share
from regard.attention.dropout import threshold
from regard.scores import Additive

__all__ = ["backward", "forward", "scores"]

Array = NDArray[Any]
fresh = np.empty  # for what a kernel must write whole; tests fill it with NaN

COLS = 128  # the tile widths of the template
ROWS = 32
PITCH = COLS + 8  # as in the drivers
# Pair-features up to which float32 is computed in float64: a fraction of a millisecond, and a
# result of a few numbers is then rounded once instead of having luck or not.
SMALL = 1 << 20
FAR = 1e18  # numbers beyond this are squared or multiplied in float64
NARROW = 16  # values with fewer features than this are summed along the keys
KEPT = 1 << 21  # weights a thread keeps at a time in the backward pass
REACH = 150.0  # how far exp(2 x) is taken: the product of two stays in float64's range


class Operands(NamedTuple):
    """A call laid out for the kernels, and what undoes the substitution of its inputs."""

    kernels: Kernels
    real: Any  # the numbers in general
    fine: Any  # the terms of a score
    q: Array  # [B, n, h], as k, p0 and p1 in what is finer of the two
    kt: Array  # [B, tiles, h, COLS]
    p0: Array
    p1: Array
    slope_q: Array | None  # d(what the kernel saw) / d(q)
    slope_k: Array | None
    beside: tuple[Any, ...]  # scale ... dense, in the kernels' order

    def scored(self) -> tuple[Array, ...]:
        """q, kt, p0 and p1 for the scores."""
        return tuple(x.astype(self.fine, copy=False) for x in (self.q, self.kt, self.p0, self.p1))

    def pulled(self) -> tuple[Array, ...]:
        """The same for the gradients."""
        return tuple(x.astype(self.real, copy=False) for x in (self.q, self.kt, self.p0, self.p1))


# The layout is done in numpy: torch's threads would wait for more work on the cores that the
# kernels need a moment later.
def _array(x: Tensor, real: Any = None) -> Array:  # noqa: ANN401 - a numpy dtype
    return np.ascontiguousarray(x.detach().numpy(), dtype=real)


def _tiles(x: Array) -> Array:
    """[B, m, h] as [B, tiles, h, COLS]: transposed within a tile, zeros behind the end."""
    batch, m, h = x.shape
    count = -(-m // COLS)
    tiles = np.zeros((batch, count, h, PITCH), x.dtype)
    whole = m // COLS
    tiles[:, :whole, :, :COLS] = (
        x[:, : whole * COLS].reshape(batch, whole, COLS, h).transpose(0, 1, 3, 2)
    )
    if whole < count:
        tiles[:, whole, :, : m - whole * COLS] = x[:, whole * COLS :].transpose(0, 2, 1)
    return tiles


def _untiled(x: Array, m: int) -> Array:
    batch, count, h, _ = x.shape
    rows: Array = x.transpose(0, 1, 3, 2).reshape(batch, count * COLS, h)[:, :m]
    return rows


def _substitute(q: Array, k: Array) -> tuple[str, Array, Array, Array, Array] | None:
    """tanh(q + k) by a formula without tanh, where the numbers allow it."""
    if not q.size or not k.size:
        return None
    q_low, q_high, k_low, k_high = (
        x.astype(np.float64) for x in (q.min((0, 1)), q.max((0, 1)), k.min((0, 1)), k.max((0, 1)))
    )
    if max(np.abs(x).max() for x in (q_low, q_high, k_low, k_high)) <= 1.0:
        a, b = np.tanh(q.astype(np.float64)), np.tanh(k.astype(np.float64))
        return TANH_SUM, a, b, 1 - a * a, 1 - b * b
    # tanh(q + k) = tanh((q - c) + (k + c)): the centre that keeps both exponentials small
    centre = (q_low + q_high - k_low - k_high) / 4
    most = max(
        *(np.abs(x - centre).max() for x in (q_low, q_high)),
        *(np.abs(x + centre).max() for x in (k_low, k_high)),
    )
    if most > REACH:
        return None
    a, b = np.exp(2 * (q - centre)), np.exp(2 * (k + centre))
    return EXP_SUM, a, b, 2 * a, 2 * b


def _lay_out(call: Call) -> Operands:
    batch, n, h = call.q.shape
    m, f = call.v.shape[1:]
    q, k = _array(call.q), _array(call.k)
    wide = call.q.dtype == torch.float64 or batch * n * m * (h + f) <= SMALL
    if not wide and q.size and k.size:
        wide = max(-q.min(), q.max(), -k.min(), k.max()) > FAR
    phi, slope_q, slope_k, fine = call.phi, None, None, wide
    if phi == Additive.PHI:
        fine = True  # a tanh, however it is computed, takes more roundings than float32 can hide
        if substitute := _substitute(q, k):
            phi, q, k, slope_q, slope_k = substitute
            wide = wide or max(q.max(), k.max()) > FAR
    real, finest = (np.float64 if x else np.float32 for x in (wide, fine))
    lo, hi = call.lo, call.hi
    if lo is None or hi is None:
        lo = torch.zeros(1, n, dtype=torch.int64)
        hi = torch.full_like(lo, m)
    p0, p1 = (
        np.zeros((1, h), finest) if p is None else _array(p, finest) for p in (call.p0, call.p1)
    )
    beside = (
        float(call.scale),
        np.zeros((1, 0), real) if call.table is None else _array(call.table, real),
        _array(lo),
        _array(hi),
        call.not_self,
        np.zeros((1, 0, 0), np.bool_) if call.dense is None else _array(call.dense),
    )
    q, kt = np.ascontiguousarray(q, finest), _tiles(np.asarray(k, finest))
    compiled = kernels(phi, 64 if wide else 32, 64 if fine else 32)
    return Operands(compiled, real, finest, q, kt, p0, p1, slope_q, slope_k, beside)


def _dropout(call: Call, real: Any) -> tuple[Any, Any, int]:  # noqa: ANN401 - a numpy dtype
    if not call.dropout or call.seed is None:
        return np.uint32(0), real(1.0), 0
    return np.uint32(threshold(call.dropout)), real(1 / (1 - call.dropout)), int(call.seed)


def _cleaned(call: Call) -> tuple[Call, Cleaned]:
    fine = clean_call(call)
    return replace(call, q=fine.q, k=fine.k, v=fine.v), fine


def forward(call: Call) -> tuple[Tensor, Tensor]:
    """The output, and the logarithm of each row's normaliser in float64."""
    batch, n = call.q.shape[:2]
    m, f = call.v.shape[1:]
    lse = np.full((batch, n), -np.inf)
    if not batch or not n or not m:
        return call.q.new_zeros(batch, n, f), torch.from_numpy(lse)
    call, fine = _cleaned(call)
    laid = _lay_out(call)
    real = laid.real
    v = _array(call.v, real)
    vt = _tiles(v) if f < NARROW else np.zeros((1, 0, 0, 0), real)
    out = fresh((batch, n, f), real)
    q, kt, p0, p1 = laid.scored()
    operands = (q, kt, v, vt, p0, p1, *laid.beside, *_dropout(call, real), out, lse)
    share(
        lambda first, step: laid.kernels.forward(first, step, *operands),
        batch * -(-n // ROWS),
    )
    result = torch.from_numpy(out).to(call.q.dtype)
    return fine.spoil(result), torch.from_numpy(lse)


def scores(call: Call, start: int, stop: int) -> Tensor:
    """The masked scores of the queries from start to stop, [B, stop - start, m]."""
    call, fine = _cleaned(call)
    laid = _lay_out(call)
    batch = call.q.shape[0]
    s = np.full((batch, stop - start, call.m), -np.inf, laid.real)
    operands = (*laid.scored(), *laid.beside, start, s)
    if s.size:
        share(
            lambda first, step: laid.kernels.scores(first, step, *operands),
            batch * -(-(stop - start) // ROWS),
        )
    result = torch.from_numpy(s).to(call.q.dtype)
    if fine.poisoned is None:
        return result
    return fine._replace(poisoned=fine.poisoned[:, start:stop]).spoil(result)


def backward(
    call: Call, out: Tensor, lse: Tensor, dout: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of q, k, v, p0, p1 and the table, each in its own dtype."""
    batch, n, h = call.q.shape
    m, f = call.v.shape[1:]
    learned = (call.p0, call.p1, call.table)
    if not batch or not n or not m:
        zeros = [None if x is None else torch.zeros_like(x) for x in learned]
        return (*(torch.zeros_like(x) for x in (call.q, call.k, call.v)), *zeros)  # type: ignore[return-value]
    call, fine = _cleaned(call)
    laid = _lay_out(call)
    real = laid.real
    vt = _tiles(_array(call.v, real))
    # A slot is a private set of sums. Only a batch too small to keep the threads busy is cut into
    # more slots than it has entries.
    threads = torch.get_num_threads()
    pieces = threads // gcd(batch, threads) if batch < 4 * threads else 1
    slots, tiles = batch * pieces, vt.shape[1]
    q, kt, p0, p1 = laid.pulled()
    table = laid.beside[1]
    dkt, dvt = np.zeros((slots, tiles, h, COLS)), np.zeros((slots, tiles, f, COLS))
    sums = [np.zeros((slots, x.shape[1])) for x in (p0, p1, table)]
    dq = fresh((batch, n, h), real)
    if fine.poisoned is not None:
        out = out.masked_fill(fine.poisoned.unsqueeze(-1), 0)
    fine_q, fine_kt, fine_p0, fine_p1 = laid.scored()
    operands = (
        *(fine_q, fine_kt, fine_p0, fine_p1, q, kt, vt, p0, p1),
        *(*laid.beside, *_dropout(call, real)),
        *(_array(out, real), _array(lse), _array(dout, real), dq, dkt, dvt, *sums),
    )
    linear = call.phi == "q * k"
    most = max(min(ROWS, KEPT // m), 4)
    share(
        lambda first, step: laid.kernels.backward(linear, first, step, pieces, most, *operands),
        slots,
    )

    def joined(x: Array) -> Array:
        return x.reshape(batch, pieces, *x.shape[1:]).sum(1) if pieces > 1 else x

    dk, dv = _untiled(joined(dkt), m), _untiled(joined(dvt), m)
    if laid.slope_q is not None and laid.slope_k is not None:
        dq, dk = dq * laid.slope_q, dk * laid.slope_k
    dtype = _number_type(call)
    found = [torch.from_numpy(np.ascontiguousarray(x, dtype)) for x in (dq, dk, dv)]
    for x, total, given in zip(learned, sums, (p0, p1, table), strict=True):
        if x is None:
            found.append(None)  # type: ignore[arg-type]
            continue
        whole, heads = joined(total), given.shape[0]
        shared = whole.reshape(whole.shape[0] // heads, heads, whole.shape[1]).sum(0)
        found.append(torch.from_numpy(np.ascontiguousarray(shared)))
    return tuple(found)  # type: ignore[return-value]


def _number_type(call: Call) -> Any:  # noqa: ANN401 - a numpy dtype
    """The numpy type of the caller's numbers."""
    return np.float64 if call.q.dtype == torch.float64 else np.float32

"""The operands of a sum over features: feature by feature, rows filled up.

Where pairs are many, tanh is substituted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

import torch
import triton
from torch import Tensor

from regard.attention.absent import anyone
from regard.attention.call import Call
from regard.attention.triton import beside, memory, substitution, tile
from regard.attention.triton.beside import power_of_two
from regard.attention.triton.build import kernels
from regard.attention.triton.fusion import FUSED
from regard.scores import Additive

__all__ = ["FEATURES", "Operands", "operands_of", "score_tile"]

FEATURES = 8  # up to here there are few: see ``features``
LARGEST = 128  # side of a tile: a panel may start anywhere
# pairs of an entry times features: roundings of so few do not average out
FEW = 1 << 16
CAREFUL = 1 << 18  # pairs of an entry: where there are more, the largest of their errors is no luck
WIDE = 64  # features: of fewer, what ``fours`` cuts off shows
SHORT = 64  # queries, or keys: of so few, half a tile of ``fours`` or more would be nothing
WIDEST = 256  # values that ``fours`` has room for
FITTING = 256  # values whose product the assembler can make with 128 registers
HOPPER = 9  # the first figure of the compute capability
# Gluon is an experiment of Triton's, and changes: ``fours`` was measured with the first of these,
# and compiled with 3.6, 3.7, 3.8 and 3.9; tests compile it with what is installed
HAS_GLUON = (3, 6) <= tuple(map(int, triton.__version__.split(".")[:2])) <= (3, 9)
FILL = 128  # rows laid out by feature end at a multiple of this: no tile reads behind the end


@dataclass(frozen=True)
class Operands:
    """q and k laid out feature by feature, and row by row where gradients want them."""

    kernels: ModuleType
    q: Tensor  # [B, h, n]
    k: Tensor  # [B, h, m]
    q_rows: Tensor  # [B, n, h], of the additive score filled up to ``row_width``
    k_rows: Tensor
    p0: Tensor  # [heads, h]
    p1: Tensor
    kind: Tensor  # [B]: how tanh was substituted
    heads: int
    additive: bool
    few: bool  # pairs: see ``features``; q and k are as they are then
    careful: bool  # then its sums are made with care
    fours: bool  # then entries that can be are left to ``fours``

    @property
    def wide(self) -> tuple[int, int]:
        """The numbers of queries and keys, filled up to whole tiles."""
        return self.q.shape[2], self.k.shape[2]

    @property
    def h(self) -> int:
        """How many features; of the additive score, if pairs are many, a multiple of four."""
        return self.q.shape[1]

    @property
    def score_kind(self) -> int:
        """Which sum a tile of scores is: see ``score_tile`` in ``features``."""
        if self.few:
            return 4
        if not self.additive:
            return 0
        return 2 if self.careful else 3 if self.fours else 1

    @property
    def row_width(self) -> int:
        """How many features where rows lie one after the other, filled up to a block of threads."""
        return self.q_rows.shape[2]


def operands_of(call: Call, *, rows: bool) -> Operands:
    """Lay a call out; rows: row by row as well."""
    batch, _, h = call.q.shape
    is_additive = call.phi == Additive.PHI
    p0, p1 = (
        call.q.new_zeros(1, h) if p is None else p.detach().float().contiguous()
        for p in (call.p0, call.p1)
    )
    heads = max(p0.shape[0], p1.shape[0])
    p0, p1 = (p.repeat(heads // p.shape[0], 1) for p in (p0, p1))
    q, k = call.q.detach().float(), call.k.detach().float()
    kind = torch.zeros(batch, dtype=torch.int32, device=q.device)
    few = _is_few(call)
    if is_additive and h and not few:
        p0, p1 = (_widened(p, _whole_fours(h)) for p in (p0, p1))
        by_feature, by_row, kind = _substituted(call, q, k, p0, rows=rows)
    else:
        by_feature, by_row = (_by_feature(q), _by_feature(k)), (q, k)
        if rows:
            width = _row_width(h) if is_additive else h
            by_row = (_widened(q, width).contiguous(), _widened(k, width).contiguous())
    return Operands(
        *(kernels(call.phi), *by_feature, *by_row, p0, p1, kind, heads),
        *(is_additive, few, _is_careful(call), is_additive and _may_go_by_fours(call)),
    )


def _widened(x: Tensor, width: int) -> Tensor:
    """With zeros for the features that it does not have."""
    return torch.nn.functional.pad(x, (0, width - x.shape[-1]))


def _whole_fours(h: int) -> int:
    """Features of the additive score, filled up: kernels take them four at a time."""
    return h + -h % 4


def _is_few(call: Call) -> bool:
    return call.m <= beside.LONG and call.n * call.m * max(call.q.shape[2], 1) <= FEW


def _is_careful(call: Call) -> bool:
    return call.n * call.m <= CAREFUL  # of an entry: its batch decides nothing


def _may_go_by_fours(call: Call) -> bool:
    """Whether ``fours`` may take entries: much to do, and little of it behind the end of a tile."""
    widest = WIDEST // 2 if call.m > beside.LONG else WIDEST  # sums are in float64 then
    if _is_careful(call) or call.q.shape[2] < WIDE or call.v.shape[2] > widest:
        return False
    if min(call.n, call.m) <= SHORT:
        return False
    return has_matrix_units(call.q.device)


@lru_cache
def has_matrix_units(device: torch.device) -> bool:
    """Those that ``fours`` is written for, Hopper's, and its language. The interpreter has both."""
    if device.type != "cuda":
        return True
    return HAS_GLUON and torch.cuda.get_device_capability(device)[0] == HOPPER


def _row_width(h: int) -> int:
    """Features of the additive score where rows lie one after the other: a feature a thread."""
    return power_of_two(h, 32) if h <= LARGEST else triton.cdiv(h, LARGEST) * LARGEST


def _filled(size: int) -> int:
    return -(-(size + LARGEST) // FILL) * FILL


def _by_feature(x: Tensor) -> Tensor:
    """[B, n, h] as [B, h, n], n filled up."""
    batch, n, h = x.shape
    out = memory.fresh(batch, h, _filled(n), dtype=x.dtype, device=x.device)
    out[..., :n] = x.transpose(1, 2)
    return out


def _substituted(
    call: Call, q: Tensor, k: Tensor, p0: Tensor, *, rows: bool
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor], Tensor]:
    batch, _, h = q.shape
    q, k = q.contiguous(), k.contiguous()
    wide, width = _whole_fours(h), _row_width(h)
    seen: tuple[Tensor | None, Tensor | None] = (None, None)
    if call.lo is not None:  # garbage that nobody sees must not choose the arithmetic
        keys, queries = anyone(call)
        seen = (queries.to(torch.uint8), keys.to(torch.uint8))
    found, chunks = [], []
    for x, who in zip((q, k), seen, strict=True):
        count = min(triton.cdiv(x.shape[1], 64), 64)
        least, most = (
            torch.empty(batch, count, h, dtype=torch.float32, device=q.device) for _ in range(2)
        )
        substitution.ranges[(batch * count,)](
            *(x, x if who is None else who, least, most, x.shape[1], h, count),
            ROWS=16,
            BH=power_of_two(h, 2),
            SEEN=who is not None,
            **FUSED,
        )
        found += [least, most]
        chunks.append(count)
    kind = torch.empty(batch, dtype=torch.int32, device=q.device)
    centre = torch.empty(batch, h, dtype=torch.float32, device=q.device)
    substitution.decide[(batch,)](
        *(*found, p0, kind, centre, h, wide, p0.shape[0], *chunks),
        BH=power_of_two(h, 2),
        FOURS=_may_go_by_fours(call),
        **FUSED,
    )
    by_feature, by_row = [], []
    for x, sign, who in ((q, 1.0, seen[0]), (k, -1.0, seen[1])):
        size = x.shape[1]
        feature = memory.fresh(batch, wide, _filled(size), dtype=torch.float32, device=q.device)
        row = x
        if rows:
            row = memory.fresh(batch, size, width, dtype=torch.float32, device=q.device)
        substitution.transform[(batch * triton.cdiv(size, 32),)](
            *(x, x if who is None else who, kind, centre, feature, row, size, _filled(size)),
            *(h, wide, width, sign),
            ROWS=32,
            BH=power_of_two(width if rows else wide, 2),
            TWICE=rows,
            SEEN=who is not None,
            **FUSED,
        )
        by_feature.append(feature)
        by_row.append(row)
    return (by_feature[0], by_feature[1]), (by_row[0], by_row[1]), kind


def score_tile(call: Call) -> dict[str, Any]:
    """A tile of scores: few features, queries across threads; many, keys. See ``features``."""
    narrow = call.q.shape[2] <= FEATURES
    if _is_few(call):  # of float64, which takes twice the room; what counts is how long one takes
        side, warps = (32, 4) if narrow else (16, tile.WARPS.value)
        return {"BM": side, "BN": 32, "KEYS_FIRST": narrow, "num_warps": warps, "num_stages": 1}
    if narrow:
        return {"BM": 64, "BN": 64, "KEYS_FIRST": True, "num_warps": 2, "num_stages": 1}
    many = {"KEYS_FIRST": False, "num_warps": tile.WARPS.value, "num_stages": 1}
    if power_of_two(call.v.shape[2]) <= FITTING:
        # two blocks fit a multiprocessor; what then does not fit registers is not in the loop
        many["maxnreg"] = 128
    return {"BM": 64, "BN": 128, **many}

"""The dot product in half precision on Hopper: what ``pipelined`` takes, and its launches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import Tensor

from regard.attention.call import Call
from regard.attention.triton import operands
from regard.attention.triton.beside import LOG2E, Beside
from regard.attention.triton.fusion import FUSED

__all__ = ["KEYS", "QUERIES", "WARPS", "First", "aligned", "forward", "laid_out", "takes"]
__all__ += ["to_keys", "to_queries"]

First = Callable[[Tensor], Any]  # launches a kernel that writes its notes there
QUERIES, KEYS, WARPS = 64, 64, 4  # of a tile, which is square
COLUMNS = 64  # of q, k and v
MOST = 1 << 24  # queries, or keys, whose rows a stride of 32 bits reaches
ALIGNED = 16  # bytes that are copied at a time
LEAST = 1e-37  # a scale: one that is 0 in float32 would take hidden scores for NaN


def takes(call: Call) -> bool:
    """Whether a call is one for them: spans, and nothing else beside q, k and v."""
    beside = (call.dense, call.table, call.p0, call.p1)
    if any(x is not None for x in beside) or call.not_self or call.dropout:
        return False
    if call.q.element_size() != 2 or call.scale < LEAST:  # noqa: PLR2004 - bytes
        return False
    if not call.q.shape[2] == call.v.shape[2] == COLUMNS:
        return False
    if min(call.n, call.m) < QUERIES or max(call.n, call.m) > MOST:
        return False
    return operands.has_matrix_units(call.q.device)


def laid_out(call: Call) -> Call:
    """The same, its rows next to each other, where 16 bytes can be copied at a time."""
    q, k, v = (aligned(x.contiguous()) for x in (call.q, call.k, call.v))
    return replace(call, q=q, k=k, v=v)


def aligned(x: Tensor) -> Tensor:
    """The same, or a copy that begins where torch's memory does.

    The stride of a batch of one may be anything; ``matrix`` has a kernel for some that are special.
    """
    x = x if x.data_ptr() % ALIGNED == 0 else x.clone()
    entry = x.shape[1] * x.shape[2]
    return x if x.stride(0) == entry else x.as_strided(x.shape, (entry, x.shape[2], 1))


def forward(call: Call, beside: Beside, out: Tensor, lse: Tensor) -> First:
    """Ready to write ``out`` and ``lse``."""
    return _ready("forward", call, call.n, beside, (), (out, lse), (call.scale * LOG2E,))


def to_queries(call: Call, beside: Beside, given: tuple[Tensor, ...], dq: Tensor) -> First:
    """Ready to write ``dq``; given: dout, norms and means."""
    numbers = (call.scale * LOG2E, call.scale)
    return _ready("to_queries", call, call.n, beside, given, (dq,), numbers)


def to_keys(call: Call, beside: Beside, given: tuple[Tensor, ...], dk: Tensor, dv: Tensor) -> First:
    """Ready to write ``dk`` and ``dv``; given: as above, and which queries see each tile."""
    numbers = (call.scale * LOG2E, call.scale)
    return _ready("to_keys", call, call.m, beside, given, (dk, dv), numbers)


def _ready(
    name: str,
    call: Call,
    rows: int,
    beside: Beside,
    given: tuple[Tensor, ...],
    written: tuple[Tensor, ...],
    numbers: tuple[float, ...],
) -> First:
    from regard.attention.triton import pipelined  # noqa: PLC0415 - not every Triton has Gluon

    tensors = (call.q, call.k, call.v, beside.lo, beside.hi, *given, *written)
    programs = call.q.shape[0] * -(-rows // QUERIES)

    def launch(notes: Tensor) -> Any:  # noqa: ANN401
        return getattr(pipelined, name)[(programs, 1, 1)](
            *(*tensors, notes, call.n, call.m, *numbers, beside.per_mask),
            BM=QUERIES,
            BN=KEYS,
            D=COLUMNS,
            WARPS=WARPS,
            SPANS=call.lo is not None,
            EVEN=not (call.n % QUERIES or call.m % KEYS),
            num_warps=WARPS,
            **FUSED,
        )

    return launch

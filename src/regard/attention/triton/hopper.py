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
QUERIES, KEYS, WARPS = 64, 64, 4  # of a tile
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


def _constants(call: Call) -> dict[str, Any]:
    return {
        "BM": QUERIES,
        "BN": KEYS,
        "D": COLUMNS,
        "WARPS": WARPS,
        "num_warps": WARPS,
        "SPANS": call.lo is not None,
        "EVEN": not (call.n % QUERIES or call.m % KEYS),
        **FUSED,
    }


def forward(call: Call, beside: Beside, q: Tensor, out: Tensor, lse: Tensor) -> First:
    """Ready to write ``out`` and ``lse``."""
    from regard.attention.triton import pipelined  # noqa: PLC0415 - not every Triton has Gluon

    programs = q.shape[0] * -(-call.n // QUERIES)

    def launch(notes: Tensor) -> Any:  # noqa: ANN401
        return pipelined.forward[(programs, 1, 1)](
            *(q, call.k, call.v, beside.lo, beside.hi, out, lse, notes),
            *(call.n, call.m, call.scale * LOG2E, beside.per_mask),
            **_constants(call),
        )

    return launch


def to_queries(call: Call, beside: Beside, given: tuple[Tensor, ...], dq: Tensor) -> First:
    """Ready to write ``dq``; given: q, dout, norms and means."""
    from regard.attention.triton import pipelined  # noqa: PLC0415

    q, dout, norms, means = given
    programs = q.shape[0] * -(-call.n // QUERIES)

    def launch(notes: Tensor) -> Any:  # noqa: ANN401
        return pipelined.to_queries[(programs, 1, 1)](
            *(q, call.k, call.v, dout, beside.lo, beside.hi, norms, means, dq, notes),
            *(call.n, call.m, call.scale * LOG2E, call.scale, beside.per_mask),
            **_constants(call),
        )

    return launch


def to_keys(
    call: Call, beside: Beside, given: tuple[Tensor, ...], found: Tensor, dk: Tensor, dv: Tensor
) -> First:
    """Ready to write ``dk`` and ``dv``; found: which queries see each tile of keys."""
    from regard.attention.triton import pipelined  # noqa: PLC0415

    q, dout, norms, means = given
    programs = q.shape[0] * -(-call.m // KEYS)

    def launch(notes: Tensor) -> Any:  # noqa: ANN401
        return pipelined.to_keys[(programs, 1, 1)](
            *(q, call.k, call.v, dout, beside.lo, beside.hi, norms, means, found, dk, dv, notes),
            *(call.n, call.m, call.scale * LOG2E, call.scale, beside.per_mask),
            **_constants(call),
        )

    return launch

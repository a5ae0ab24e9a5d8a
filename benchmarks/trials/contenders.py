"""What might take another's place, and how it is put there for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from regard.attention.call import Call

__all__ = ["CONTENDERS", "Contender"]

COLUMNS, WHOLE = 64, 256  # of rows, and of queries and keys, that the gradients in Gluon are for


@dataclass(frozen=True)
class Contender:
    """A name, the benchmark's case that it is for, and what puts it in its place."""

    name: str
    case: str
    installed: Callable[[], AbstractContextManager[Any]]


def expect(fits: bool) -> None:  # noqa: FBT001 - what it says
    """Whether a call is one that a contender is for: another kernel's time would not be its own."""
    if not fits:
        msg = "this contender is not for such a call"
        raise ValueError(msg)


class Pipelined:
    """In the place of ``looking.skim``: launched with other tiles."""

    def __init__(self, bm: int, bn: int, warps: int, share: int) -> None:
        self.bm, self.bn, self.warps, self.share = bm, bn, warps, share

    def __getitem__(self, _: tuple[int, ...]) -> Callable[..., None]:
        return self.launch

    def launch(self, *args: Any, **options: Any) -> None:  # noqa: ANN401
        """Take what ``looking.skim`` is given."""
        import triton  # noqa: PLC0415 - absent where there is no GPU

        from benchmarks.trials.pipelined import skim  # noqa: PLC0415 - Gluon

        q, count = args[0], args[-2]
        each, rest = divmod(options["EACH"] * options["BN"], self.bn)
        assert rest == 0, "a cell must be whole tiles"
        assert each % 2 == 0, "and an even number of them"
        del options["num_stages"]
        options |= {"BM": self.bm, "BN": self.bn, "EACH": each, "num_warps": self.warps}
        programs = q.shape[0] * triton.cdiv(count, self.bm)
        skim[(programs,)](*args, **options, WARPS=self.warps, SHARE=self.share)


@contextmanager
def pipelined(bm: int, bn: int, warps: int, share: int) -> Iterator[None]:
    """The overview's pass in Gluon."""
    from regard.attention.triton import looking  # noqa: PLC0415 - absent where there is no GPU

    with mock.patch.object(looking, "skim", Pipelined(bm, bn, warps, share)):
        yield


@contextmanager
def smaller_blocks() -> Iterator[None]:
    """The additive score's kernel with half the queries and half the threads in a block."""
    from regard.attention import triton  # noqa: PLC0415 - absent where there is no GPU
    from regard.attention.generated import loaded  # noqa: PLC0415
    from regard.attention.triton import fours  # noqa: PLC0415

    text = Path(fours.__file__).read_text(encoding="utf-8")
    sizes = "WARPS, ROWS, KEYS = tl.constexpr(8), tl.constexpr(128), tl.constexpr(64)"
    assert sizes in text
    text = text.replace(sizes, sizes.replace("8)", "4)", 1).replace("128", "64"))
    with mock.patch.object(triton, "fours", loaded(text, "trial")):
        yield


@contextmanager
def one_loop(*sizes: tuple[int, int, int, int]) -> Iterator[None]:
    """The dot product's kernels with one loop over all tiles a block visits, all of them masked.

    Sizes are tiles of ``forward``, ``to_queries`` and ``to_keys``: queries, keys, warps, stages.
    """
    from regard.attention.generated import loaded  # noqa: PLC0415 - absent where there is no GPU
    from regard.attention.triton import dot, matrix  # noqa: PLC0415

    text = Path(matrix.__file__).read_text(encoding="utf-8")
    found = (
        "start, stop, a, b, d0, d1 = tiles(first, last, rows, i0, n, m, BM, BN, NOT_SELF, DENSE)"
    )
    read = (
        "begin, end, whole, broken = tl.load(at), tl.load(at + 1), tl.load(at + 2), tl.load(at + 3)"
    )
    for old, new in (
        (found, f"{found}\n    a, b, d0, d1 = stop, stop, stop, stop"),
        ("for t in range((b - a) - (d1 - d0)):", "for t in range(0):"),
        (read, f"{read}\n    whole, broken = end, end"),
        ("for block in range(whole, broken):", "for block in range(0):"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    kernels = ("forward", "to_queries", "to_keys")
    chosen = {name: dot.Tiles(*size) for name, size in zip(kernels, sizes, strict=True)}
    real = dot._tiles  # noqa: SLF001

    def tiles(kernel: str, call: Call, *, fine: bool = False) -> Any:  # noqa: ANN401
        return real(kernel, call, fine=fine) if fine else chosen[kernel]

    with mock.patch.multiple(dot, matrix=loaded(text, "trial"), _tiles=tiles):
        yield


@contextmanager
def by_cudnn_forward() -> Iterator[None]:
    """A dot product of half precision: forward by cuDNN, its gradients by ours."""
    from regard.attention import cudnn  # noqa: PLC0415 - absent where there is no GPU
    from regard.attention.triton import dot  # noqa: PLC0415

    def forward(call: Call, *, values: bool) -> tuple[Tensor, Tensor]:
        plain = call.lo is None and call.dense is None and call.table is None and not call.dropout
        expect(values and plain and call.p0 is None and call.q.element_size() == 2)
        out, lse = cudnn.forward(call)
        return out, lse.double()

    with mock.patch.object(dot, "forward", forward):
        yield


@contextmanager
def causal_by_cudnn() -> Iterator[None]:
    """A causal dot product by cuDNN, and by ours, with care, where that is not finite."""
    from regard.attention.triton import dot  # noqa: PLC0415 - absent where there is no GPU

    real = dot.forward
    cudnn = torch.ops.aten._scaled_dot_product_cudnn_attention.default  # noqa: SLF001

    def forward(call: Call, *, values: bool) -> tuple[Tensor, Tensor]:
        q, k, v = (x.unsqueeze(0) for x in (call.q, call.k, call.v))
        out, lse, *_ = cudnn(q, k, v, None, True, 0.0, True, False, scale=call.scale)  # noqa: FBT003
        out, lse = out[0].contiguous(), lse.reshape(call.q.shape[:2]).double()

        def again(kernel: Any, programs: int, given: tuple[Any, ...], *rest: Any, **flags: Any):  # noqa: ANN202, ANN401
            # blocks of queries, the last ones first: see ``matrix.forward``
            bad = ~out.view(call.q.shape[0], -1, flags["BM"] * out.shape[-1]).isfinite().all(-1)
            notes = bad.flip(1).to(torch.int32).reshape(programs).contiguous()
            kernel[(programs,)](*given[:-2], out, lse, notes, *rest, CAREFUL=True, **flags)

        with mock.patch.object(dot, "_twice", again):
            real(call, values=values)
        return out, lse

    with mock.patch.object(dot, "forward", forward):
        yield


def _fits(call: Call) -> bool:
    """Whether a call is one that the dot product's kernels in Gluon are for."""
    beside = call.dense is not None or call.table is not None or call.p0 is not None
    whole = not (call.n % WHOLE or call.m % WHOLE)
    columns = call.q.shape[2] == call.v.shape[2] == COLUMNS
    half = call.q.element_size() == 2
    return (
        whole
        and columns
        and half
        and call.scale > 0
        and not (beside or call.dropout or call.not_self)
    )


@contextmanager
def forward_in_gluon(bm: int, bn: int, warps: int) -> Iterator[None]:
    """A dot product under spans: queries and keys of a tile, warps. Nothing is done twice."""
    import triton  # noqa: PLC0415 - absent where there is no GPU

    from benchmarks.trials.forward import forward as kernel  # noqa: PLC0415 - Gluon
    from regard.attention.triton import dot  # noqa: PLC0415
    from regard.attention.triton.beside import LOG2E, beside_of  # noqa: PLC0415
    from regard.attention.triton.fusion import FUSED  # noqa: PLC0415

    def forward(call: Call, *, values: bool) -> tuple[Tensor, Tensor]:
        expect(values and _fits(call))
        q, k, v = (x.contiguous() for x in (call.q, call.k, call.v))
        beside, (batch, n, _) = beside_of(call), q.shape
        out, lse = torch.empty_like(q), torch.empty(batch, n, dtype=torch.float64, device=q.device)
        kernel[(batch * triton.cdiv(n, bm),)](
            *(q, k, v, beside.lo, beside.hi, out, lse, n, call.m, call.scale * LOG2E),
            beside.per_mask,
            BM=bm,
            BN=bn,
            D=COLUMNS,
            WARPS=warps,
            SPANS=call.lo is not None,
            num_warps=warps,
            **FUSED,
        )
        return out, lse

    with mock.patch.object(dot, "forward", forward):
        yield


@contextmanager
def gradients_in_gluon(
    sizes_q: tuple[int, int, int], sizes_k: tuple[int, int, int]
) -> Iterator[None]:
    """A plain dot product's gradients; forward as it is. Sizes: queries, keys, warps of a tile."""
    from benchmarks.trials.backward import to_keys, to_queries  # noqa: PLC0415 - Gluon
    from regard.attention.triton import dot, matrix  # noqa: PLC0415 - absent where there is no GPU
    from regard.attention.triton.beside import LOG2E  # noqa: PLC0415
    from regard.attention.triton.fusion import FUSED  # noqa: PLC0415

    def backward(call: Call, out: Tensor, lse: Tensor, dout: Tensor) -> tuple[Any, ...]:
        q, k, v = call.q, call.k, call.v
        expect(call.lo is None and _fits(call))
        q, k, v, out, dout = (x.contiguous() for x in (q, k, v, out, dout.to(q.dtype)))
        batch, n, m = q.shape[0], call.n, call.m
        mean, norms = (torch.empty(batch, n, device=q.device) for _ in range(2))
        rows = batch * n
        matrix.deltas[(-(-rows // 64),)](
            *(out, dout, lse, mean, norms, COLUMNS, rows), BM=64, DV=COLUMNS, **FUSED
        )
        dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
        given, rest = (q, k, v, dout, norms, mean), (n, m, call.scale * LOG2E, call.scale)
        for kernel, to, count, (bm, bn, warps), side in (
            (to_queries, (dq,), n, sizes_q, sizes_q[0]),
            (to_keys, (dk, dv), m, sizes_k, sizes_k[1]),
        ):
            kernel[(batch * count // side,)](
                *(*given, *to, *rest),
                BM=bm,
                BN=bn,
                D=COLUMNS,
                WARPS=warps,
                num_warps=warps,
                **FUSED,
            )
        return dq, dk, dv, None, None, None

    with mock.patch.object(dot, "backward", backward):
        yield


@contextmanager
def _gluon_and_cudnn(*sizes: tuple[int, int, int]) -> Iterator[None]:
    with by_cudnn_forward(), gradients_in_gluon(*sizes):
        yield


def _of(case: str, **contenders: Callable[[], AbstractContextManager[Any]]) -> list[Contender]:
    """Of one case: what is in use first."""
    named = {"in use": nullcontext, **contenders}
    return [Contender(name, case, installed) for name, installed in named.items()]


def _in_gluon() -> dict[str, Callable[[], AbstractContextManager[Any]]]:
    """The dot product's forward, in tiles for which the assembler found registers enough."""
    sizes = ((128, 128, 8), (128, 64, 8), (64, 128, 4), (128, 64, 4), (64, 64, 4))
    return {f"forward in Gluon {each}": partial(forward_in_gluon, *each) for each in sizes}


CONTENDERS = (
    *_of(
        "overview",
        **{
            f"Gluon {sizes}, 1 in {share or 'none'} by polynomial": partial(
                pipelined, *sizes, share
            )
            for sizes in ((128, 64, 4), (64, 64, 4), (128, 128, 8))
            for share in (0, 8, 4)
        },
    ),
    *_of("additive", **{"blocks of 64 queries": smaller_blocks}),
    *_of("growth-additive", **{"blocks of 64 queries": smaller_blocks}),
    *_of(
        "dot",
        **{"forward by cuDNN": by_cudnn_forward},
        **_in_gluon(),
        **{
            f"gradients in Gluon {of_q}, {of_k}, forward by cuDNN": partial(
                _gluon_and_cudnn, of_q, of_k
            )
            for of_q, of_k in (
                ((64, 64, 4), (64, 64, 4)),
                ((128, 128, 8), (64, 128, 8)),
                ((64, 64, 4), (64, 128, 8)),
            )
        },
    ),
    *_of("dot-causal", **{"forward by cuDNN, mended": causal_by_cudnn}, **_in_gluon()),
    *_of("dot-lengths", **_in_gluon()),
    *_of(
        "dot-window",
        **_in_gluon(),
        **{
            f"one loop {sizes}": partial(one_loop, *sizes)
            for sizes in (
                ((128, 64, 4, 3), (128, 64, 4, 3), (32, 128, 4, 3)),
                ((128, 64, 4, 4), (128, 64, 4, 2), (32, 128, 4, 2)),
                ((64, 64, 4, 3), (64, 64, 4, 3), (64, 64, 4, 3)),
                ((128, 128, 8, 2), (128, 128, 8, 2), (64, 128, 8, 2)),
                ((128, 32, 4, 4), (128, 32, 4, 4), (32, 64, 4, 3)),
            )
        },
    ),
)

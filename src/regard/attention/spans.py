"""A mask as every kernel takes it; what positions alone decide is made once."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from regard.attention.modes import is_watched
from regard.masks import And, Causal, Mask, NotSelf, Window

__all__ = ["Laid", "lay_out"]

LONGEST = 1 << 16  # queries of a mask that is kept: for more, to make it is not what takes time
KEPT = 32  # masks at most, of 512 KiB each on a GPU
POSITIONAL = (Causal, NotSelf, Window)  # these very classes: one derived may go by anything


class Laid(NamedTuple):
    """The spans of a mask, with a leading axis M that divides the batch: see ``Call``."""

    lo: Tensor  # [M, n]
    hi: Tensor
    not_self: bool
    dense: Tensor | None  # [M, n, m]


def lay_out(mask: Mask, batch: torch.Size, n: int, m: int, device: torch.device) -> Laid:
    """Lay the spans of a mask out.

    A window is eight small operations, on a GPU as many launches; for the same few integers they
    are done once. Not for a CUDA graph: it would read memory that it does not keep. A stream has
    its own: others would have to wait for it.
    """
    if not _is_positional(mask) or n > LONGEST or is_watched() or _is_recorded(device):
        return _made(mask, batch, n, m, device)
    stream = torch.cuda.current_stream(device).cuda_stream if device.type == "cuda" else 0
    return _made_once(mask, n, m, device, stream)


def _is_recorded(device: torch.device) -> bool:
    return device.type == "cuda" and torch.cuda.is_current_stream_capturing()


def _is_positional(mask: Mask) -> bool:
    if type(mask) is And:
        return _is_positional(mask.first) and _is_positional(mask.second)
    return type(mask) in POSITIONAL


@lru_cache(KEPT)
def _made_once(mask: Mask, n: int, m: int, device: torch.device, stream: int) -> Laid:  # noqa: ARG001 - part of the key
    with torch.inference_mode(mode=False):  # or gradients could not go by it
        return _made(mask, torch.Size(), n, m, device)


def _made(mask: Mask, batch: torch.Size, n: int, m: int, device: torch.device) -> Laid:
    spans = mask.spans(batch, n, m, device)
    lo, hi = (_sequences_first(x, batch, (n,)) for x in (spans.lo, spans.hi))
    if device.type == "cuda":  # as the kernels there read them
        lo, hi = lo.int(), hi.int()
    dense = None if spans.dense is None else _sequences_first(spans.dense, batch, (n, m))
    return Laid(lo, hi, spans.not_self, dense)


def _sequences_first(x: Tensor, batch: torch.Size, tail: tuple[int, ...]) -> Tensor:
    """[M, *tail] from what broadcasts against [*b, *tail], kept small where it can be."""
    keep = x.ndim - len(tail)
    if not keep or all(axis == 1 for axis in x.shape[:keep]):
        return x.expand(*x.shape[:keep], *tail).reshape(1, *tail)
    if keep == len(batch) and all(axis == 1 for axis in x.shape[1:keep]):
        return x.expand(*x.shape[:keep], *tail).reshape(x.shape[0], *tail)
    size = 1
    for axis in batch:
        size *= axis
    return x.expand(*batch, *tail).reshape(size, *tail)

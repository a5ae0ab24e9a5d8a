"""One process of a training, or one of several that ``torchrun`` started."""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor

from regard.errors import ImplError, ValueRangeError

__all__ = ["World", "joined"]

PATIENCE = timedelta(minutes=30)  # others wait while the first validates


@dataclass(frozen=True)
class World:
    """Who takes part: this is process ``rank`` of ``size``, computing on ``device``.

    Every method is called by all of them, in the same order. What is sent are tensors and JSON,
    never pickled objects.
    """

    rank: int
    size: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this is the process that reads, writes and speaks."""
        return self.rank == 0

    def total(self, *numbers: int) -> list[int]:
        """Each number added up over all processes."""
        if self.size == 1:
            return list(numbers)
        sums = torch.tensor(numbers, dtype=torch.int64)  # on the CPU: no GPU has to wait for it
        dist.all_reduce(sums)
        return [int(x) for x in sums.tolist()]

    def each(self, number: float) -> list[float]:
        """The number every process has, by rank."""
        if self.size == 1:
            return [number]
        found = torch.zeros(self.size, dtype=torch.float64)
        found[self.rank] = number
        dist.all_reduce(found)
        return [float(x) for x in found.tolist()]

    def send(self, data: bytes) -> bytes:
        """What the first process has, for all."""
        if self.size == 1:
            return data
        length = torch.tensor([len(data)])
        dist.broadcast(length, 0)
        content = torch.zeros(int(length), dtype=torch.uint8)
        if self.first and data:
            content.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
        dist.broadcast(content, 0)
        return content.numpy().tobytes()

    def send_tensors(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Tensors of the first process, for all; on the CPU."""
        if self.size == 1:
            return dict(tensors)
        kinds = [(name, str(x.dtype)[6:], list(x.shape)) for name, x in tensors.items()]
        sent = {}
        for name, dtype, shape in json.loads(self.send(json.dumps(kinds).encode())):
            x = tensors[name].cpu() if self.first else torch.zeros(shape, dtype=_dtype(dtype))
            x = x.contiguous()
            dist.broadcast(x.view(torch.uint8) if x.dim() else x.view(1).view(torch.uint8), 0)
            sent[name] = x
        return sent


def _dtype(name: str) -> torch.dtype:
    found = getattr(torch, name)
    assert isinstance(found, torch.dtype)
    return found


@contextmanager
def joined(device: str = "auto") -> Iterator[World]:
    """Take part in the world ``torchrun`` described, or be one alone.

    Args:
        device: "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:1".

    """
    rank, size = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    chosen = _chosen(device, int(os.environ.get("LOCAL_RANK", "0")))
    if chosen.type == "cuda":
        torch.cuda.set_device(chosen)
    if size == 1:
        yield World(0, 1, chosen)
        return
    started = not dist.is_initialized()
    if started:
        backend = "cpu:gloo,cuda:nccl" if chosen.type == "cuda" else "gloo"
        dist.init_process_group(backend, timeout=PATIENCE)
    try:
        yield World(rank, size, chosen)
    except BaseException as error:
        # what the frames of the error hold must go before the group does, or its end may wait for
        # ever
        traceback.clear_frames(error.__traceback__)
        raise
    finally:
        if started:
            dist.destroy_process_group()


def _chosen(device: str, local: int) -> torch.device:
    try:
        asked = torch.device("cuda" if device == "auto" else device)
    except RuntimeError:
        msg = f"device must be 'auto', 'cpu', 'cuda' or 'cuda:1' and so on, got {device!r}"
        raise ValueRangeError(msg) from None
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "auto" and not count:
        return torch.device("cpu")
    if asked.type == "cpu":
        return asked
    if asked.type != "cuda":
        msg = f"device must be 'auto', 'cpu' or 'cuda', got {device!r}"
        raise ValueRangeError(msg)
    index = local if asked.index is None else asked.index
    if index >= count:
        have = f"{count} {'GPU' if count == 1 else 'GPUs'}" if count else "no GPU"
        msg = (
            f"device {device!r} needs GPU number {index}, and torch sees {have} here; "
            "give --device cpu, or start fewer processes"
        )
        raise ImplError(msg)
    return torch.device("cuda", index)

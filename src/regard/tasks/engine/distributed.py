"""One process of a training, or one of several that ``torchrun`` started."""

from __future__ import annotations

import json
import os
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from regard.errors import ImplError, RegardError, StateError, ValueRangeError
from regard.tasks.engine.ahead import ahead
from regard.tasks.engine.memory import is_of_memory
from regard.tasks.engine.stopping import Elsewhere

__all__ = ["LostError", "World", "heard", "joined"]

PATIENCE = timedelta(minutes=30)  # others wait while the first validates
REFUSED = 2  # what a command that refused something exits with
WORDS = re.compile(r"gloo|nccl|connection|peer|process ?group", re.IGNORECASE)

T = TypeVar("T")


class LostError(StateError):
    """Another process has ended without a word."""


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
        with heard():
            dist.all_reduce(sums)
        return [int(x) for x in sums.tolist()]

    def each(self, number: float) -> list[float]:
        """The number every process has, by rank."""
        if self.size == 1:
            return [number]
        found = torch.zeros(self.size, dtype=torch.float64)
        found[self.rank] = number
        with heard():
            dist.all_reduce(found)
        return [float(x) for x in found.tolist()]

    def send(self, data: bytes) -> bytes:
        """What the first process has, for all."""
        if self.size == 1:
            return data
        length = torch.tensor([len(data)])
        with heard():
            dist.broadcast(length, 0)
        content = torch.zeros(int(length), dtype=torch.uint8)
        if self.first and data:
            content.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
        with heard():
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
            with heard():
                dist.broadcast(x.view(torch.uint8) if x.dim() else x.view(1).view(torch.uint8), 0)
            sent[name] = x
        return sent

    def together(self, work: Callable[[], T]) -> T:
        """Do something in every process; if one of them refuses, all stop.

        Args:
            work: sends nothing to others.

        Raises:
            RegardError: as ``work`` did, in the first of the processes where it refused.
            OSError: likewise.
            Elsewhere: in all others.

        """
        if self.size == 1:
            return work()
        refused: Exception | None = None
        try:
            found = work()
        except (RegardError, OSError) as error:
            refused = error
        who = torch.tensor(self.size if refused is None else self.rank)
        with heard():
            dist.all_reduce(who, dist.ReduceOp.MIN)
        if refused is not None and int(who) == self.rank:
            raise refused
        if int(who) < self.size:
            msg = f"process {int(who)} refused to go on"
            raise Elsewhere(msg, REFUSED)
        return found


@contextmanager
def heard() -> Iterator[None]:
    """Tell a lost connection from other errors.

    Raises:
        LostError: another process has ended.

    """
    try:
        yield
    except RuntimeError as error:
        lost = isinstance(error, dist.DistError) or WORDS.search(str(error))
        if isinstance(error, RegardError) or is_of_memory(error) or not lost:
            raise
        msg = "another process of this training has ended"
        raise LostError(msg) from error


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
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if size == 1:
        yield World(0, 1, _taken(device, local))
        return
    started = not dist.is_initialized()
    if started:
        gpus = device != "cpu" and torch.cuda.is_available()
        backend = "cpu:gloo,cuda:nccl" if gpus else "gloo"
        # whoever waits for the others can be interrupted
        ahead(lambda: dist.init_process_group(backend, timeout=PATIENCE)).result()
    try:
        here = World(rank, size, torch.device("cpu"))
        yield World(rank, size, here.together(lambda: _taken(device, local)))
    except BaseException as error:
        _clear(error)
        raise
    finally:
        if started:
            dist.destroy_process_group()


def _clear(error: BaseException | None) -> None:
    """Let go of what the frames of an error hold, or the end of the group may wait for ever."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _taken(device: str, local: int) -> torch.device:
    chosen = _chosen(device, local)
    if chosen.type == "cuda":
        torch.cuda.set_device(chosen)
    return chosen


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

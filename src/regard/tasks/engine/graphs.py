"""Steps on a GPU, recorded once for each shape of a batch and replayed.

A step of a small model is some two thousand launches, and starting them takes several times as long
as they run. A CUDA graph starts them all at once. What changes from step to step (tokens, the
learning rate, how many tokens there are) lies in tensors that a replay reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.layers.unrolled import free_launches
from regard.tasks.engine.task import Batch

__all__ = ["Recorded"]

REHEARSALS = 2  # runs before a recording: kernels are compiled and workspaces made in them


class _Take(NamedTuple):
    """A recording, and where it reads a batch and leaves the loss."""

    graph: torch.cuda.CUDAGraph
    inputs: tuple[Tensor, ...]
    loss: Tensor


class Recorded:
    """Gradients and updates as CUDA graphs.

    Args:
        losses: from the tensors of a batch to its summed loss.
        parameters: what is learned; their ``grad`` is made here and stays where it is.
        update: moves the parameters by their gradients; waits for nothing.

    """

    def __init__(
        self,
        losses: Callable[..., Tensor],
        parameters: Sequence[Tensor],
        update: Callable[[], None],
    ) -> None:
        self._losses, self._update = losses, update
        for x in parameters:
            x.grad = torch.zeros_like(x)
        self._grads = [x.grad for x in parameters if x.grad is not None]
        self._per_token = torch.ones((), device=self._grads[0].device)
        self._takes: dict[tuple[torch.Size, ...], _Take] = {}
        self._updates: torch.cuda.CUDAGraph | None = None
        self._pool: Any = None

    def step(self, batches: Sequence[Batch], total_tokens: int) -> Tensor:
        """Gradients of the batches' loss over so many tokens, then the update; gives the loss."""
        self._per_token.fill_(1 / max(total_tokens, 1))
        torch._foreach_zero_(self._grads)
        total = torch.zeros_like(self._per_token)
        for batch in batches:
            parts = batch.parts
            key = tuple(x.shape for x in parts)
            take = self._takes.get(key) or self._record(key, parts)
            for there, x in zip(take.inputs, parts, strict=True):
                there.copy_(x, non_blocking=True)
            take.graph.replay()
            total += take.loss
        if self._updates is None:
            self._updates = self._record_update()
        else:
            self._updates.replay()
        return total

    def _pull(self, inputs: Sequence[Tensor]) -> Tensor:
        with free_launches():
            loss = self._losses(*inputs)
        (loss * self._per_token).backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    def _record(self, key: tuple[torch.Size, ...], parts: Sequence[Tensor]) -> _Take:
        """Run a batch of a new shape some times, record it; the gradients stay as they were."""
        device = self._per_token.device
        inputs = tuple(x.to(device, copy=True) for x in parts)
        before = [x.clone() for x in self._grads]
        drawn = torch.cuda.get_rng_state(device)
        aside = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(aside):
            for _ in range(REHEARSALS):
                self._pull(inputs)
        torch.cuda.current_stream(device).wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            loss = self._pull(inputs)
        self._pool = graph.pool()
        torch._foreach_copy_(self._grads, before)
        torch.cuda.set_rng_state(drawn, device)
        self._takes[key] = _Take(graph, inputs, loss)
        return self._takes[key]

    def _record_update(self) -> torch.cuda.CUDAGraph:
        """Do the first update, then record one: the optimiser's state exists from then on."""
        self._update()
        torch.cuda.synchronize(self._per_token.device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            self._update()
        return graph

"""One step of the optimiser: batches in, weights moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from regard.tasks.engine.graphs import Recorded
from regard.tasks.engine.halves import Halves
from regard.tasks.engine.settings import TrainingSettings
from regard.tasks.engine.sharding import shard
from regard.tasks.engine.task import Batch
from regard.tasks.engine.weights import spread, whole

__all__ = ["Stepper", "precision_of"]

MOMENTS = ("exp_avg", "exp_avg_sq")


def precision_of(settings: TrainingSettings, device: torch.device) -> torch.dtype:
    """What products are computed in; weights stay in float32.

    >>> import torch
    >>> precision_of(TrainingSettings(), torch.device("cpu"))
    torch.float32
    """
    if settings.precision == "auto":
        bf16 = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        bf16 = settings.precision == "bf16"
    return torch.bfloat16 if bf16 else torch.float32


class Stepper:
    """Moves a model's weights, one step a call.

    The gradient is that of the summed loss over ``total_tokens``, so a step does not depend on
    how its sentences were cut into batches or spread over processes. A gradient that is not
    finite moves nothing, and is counted in ``skipped``.

    Args:
        losses: a model with its loss, from the parts of a batch to the sum; on its device, and in
            a world of several processes the same in all.
        settings: the optimiser's.
        device: where batches are computed.
        world: how many processes step together.
        sharded: whether each process keeps a part of every weight only.
        graphs: whether batches have few shapes, so that recording steps pays.

    """

    def __init__(
        self,
        losses: nn.Module,
        settings: TrainingSettings,
        device: torch.device,
        world: int = 1,
        *,
        sharded: bool = False,
        graphs: bool = True,
    ) -> None:
        self.settings, self.device, self.world = settings, device, world
        self.graphs = (
            graphs
            and settings.graphs
            and device.type == "cuda"
            and world == 1
            and not settings.compile
        )
        self.skipped = torch.zeros((), dtype=torch.int64, device=device)
        self._recorded: Recorded | None = None
        self.sharded = sharded and world > 1
        if self.sharded:  # before the optimiser sees the weights
            shard(losses, device, world)
        self._named = dict(losses.named_parameters())
        matrices = [x for x in self._named.values() if x.dim() > 1]
        others = [x for x in self._named.values() if x.dim() <= 1]
        self.optimiser = torch.optim.AdamW(
            [
                {"params": matrices, "weight_decay": settings.weight_decay},
                {"params": others, "weight_decay": 0.0},
            ],
            lr=torch.zeros((), device=device) if self.graphs else 1e-3,
            betas=(0.9, 0.98),
            eps=1e-9,
            fused=True,
            capturable=self.graphs,
        )
        if settings.compile:
            losses = torch.compile(losses)  # type: ignore[assignment]
        if world > 1 and not self.sharded:
            losses = DistributedDataParallel(
                losses, device_ids=[device] if device.type == "cuda" else None
            )
        self._losses: Any = losses
        halved = self.graphs and precision_of(settings, device) is torch.bfloat16
        self._called: Any = Halves(losses) if halved else losses

    def step(self, batches: Sequence[Batch], lr: float, total_tokens: int, *, seed: int) -> Tensor:
        """Add up the gradients of the batches, and move the weights by them.

        Args:
            batches: this process's share.
            lr: how far.
            total_tokens: what the loss is a sum over, in all shares together.
            seed: of what dropout draws. A step depends on nothing drawn before, so there is no
                generator's state to keep.

        Returns:
            The summed loss of this share, on the device: reading it waits for the step.

        """
        torch.manual_seed(seed)
        for group in self.optimiser.param_groups:
            if self.graphs:
                group["lr"].fill_(lr)
            else:
                group["lr"] = lr
        if self.graphs:
            if self._recorded is None:
                parameters = list(self._named.values())
                self._recorded = Recorded(self._pulled, parameters, self._update)
            return self._recorded.step(batches, total_tokens)
        self.optimiser.zero_grad(set_to_none=True)
        total = torch.zeros((), device=self.device)
        for i, batch in enumerate(batches):
            with self._exchanging(last=i == len(batches) - 1):
                loss = self._pulled(*self._there(batch))
                # the processes' gradients are averaged, and their sum is wanted
                (loss * (self.world / max(total_tokens, 1))).backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        self._update()
        return total

    def _pulled(self, *parts: Tensor) -> Tensor:
        with self._autocast():
            return self._called(*parts)  # type: ignore[no-any-return]

    def _update(self) -> None:
        """Move the weights, or count that the gradient is not finite."""
        finite = torch.isfinite(self._clip())
        if self.graphs:  # nobody can ask: the optimiser looks for itself, on the GPU
            self.optimiser.found_inf = (~finite).float()  # type: ignore[attr-defined]
            self.optimiser.step()
        elif bool(finite):
            self.optimiser.step()
        self.skipped.copy_(torch.where(finite, 0, self.skipped + 1))

    def state_tensors(self) -> dict[str, Tensor]:
        """Everything the next step depends on beside the weights, on the CPU."""
        found = {"skipped": self.skipped.cpu()}
        for name, x in self._named.items():
            kept = self.optimiser.state.get(x, {})
            for key in ("step", *MOMENTS):
                if key in kept:
                    found[f"{key}.{name}"] = whole(kept[key])
        return found

    def load_state_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on from what ``state_tensors`` gave."""
        self.skipped = tensors["skipped"].to(self.device, copy=True)
        self._recorded = None  # it reads the state that was
        self.optimiser.state.clear()
        for name, x in self._named.items():
            if f"step.{name}" in tensors:
                kept = {key: spread(tensors[f"{key}.{name}"], x) for key in MOMENTS}
                step = tensors[f"step.{name}"]
                self.optimiser.state[x] = {"step": step.to(self.device, copy=True), **kept}

    def _there(self, batch: Batch) -> tuple[Tensor, ...]:
        return tuple(x.to(self.device, non_blocking=True) for x in batch.parts)

    def _autocast(self) -> AbstractContextManager[Any]:
        if precision_of(self.settings, self.device) is torch.float32:
            return nullcontext()
        # a recording must not read what was cast outside of it
        return torch.autocast(self.device.type, torch.bfloat16, cache_enabled=not self.graphs)

    def _exchanging(self, *, last: bool) -> AbstractContextManager[Any]:
        """Processes exchange gradients once a step, with the last batch."""
        if self.world == 1 or self.sharded or last:
            return nullcontext()
        return self._losses.no_sync()  # type: ignore[no-any-return]

    def _clip(self) -> Tensor:
        longest = self.settings.clip or float("inf")
        norm: Tensor = nn.utils.clip_grad_norm_(self._named.values(), longest)
        return whole(norm).to(self.device) if self.sharded else norm

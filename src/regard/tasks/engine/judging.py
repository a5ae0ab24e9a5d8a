"""Judging weights, which one process does for all."""

from __future__ import annotations

import json
from dataclasses import dataclass

from torch import nn

from regard.tasks.engine.distributed import World
from regard.tasks.engine.stopping import Asked
from regard.tasks.engine.task import Judge, Judged
from regard.tasks.engine.weights import load_weights, weights_of

__all__ = ["Judging"]


@dataclass(frozen=True)
class Judging:
    """Called by all processes, it gives all of them what the first one finds.

    Args:
        world: the processes.
        judge: of the first one.
        whole: what it judges, if the model it is called with is in parts.

    """

    world: World
    judge: Judge | None
    whole: nn.Module | None

    def __call__(self, model: nn.Module, asked: Asked, *, sharded: bool) -> Judged | None:
        """Judge a model; None if somebody asked to stop meanwhile."""
        judged_model = model if self.whole is None else self.whole
        weights = weights_of(model) if sharded else None
        found = b""
        if self.judge is not None:
            if weights is not None:
                load_weights(judged_model, weights)
            judged = self.judge(judged_model, self.world.device, lambda: asked.signal > 0)
            found = json.dumps(judged).encode()
        told = json.loads(self.world.send(found))
        return None if told is None else Judged(*told)

"""How fast to learn at each step."""

from __future__ import annotations

import math

from regard.tasks.engine.settings import TrainingSettings

__all__ = ["learning_rate"]


def learning_rate(settings: TrainingSettings, step: int, total: int) -> float:
    """The learning rate of a step, counted from 1, of a training of ``total``.

    It rises in a line for ``warmup`` steps; then it falls with the root of the step, or along a
    cosine to a hundredth at the end, or stays.

    >>> settings = TrainingSettings(learning_rate=1.0, warmup=100)
    >>> [learning_rate(settings, step, 1000) for step in (1, 50, 100, 400)]
    [0.01, 0.5, 1.0, 0.5]
    """
    warmup = settings.warmup
    if step < warmup:
        return settings.learning_rate * step / warmup
    if settings.schedule == "inverse_sqrt":
        return settings.learning_rate * math.sqrt(max(warmup, 1) / step)
    if settings.schedule == "cosine":
        done = min((step - warmup) / max(total - warmup, 1), 1.0)
        return settings.learning_rate * (0.505 + 0.495 * math.cos(math.pi * done))
    return settings.learning_rate

"""The settings every training has."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

__all__ = ["LARGE", "TrainingSettings", "setting"]

LARGE = 10**9


def setting(
    default: object,
    meaning: str,
    *,
    group: str = "the training",
    **limits: object,
) -> Any:  # noqa: ANN401 - of any type
    """A field of a class of settings; see ``regard.tasks.settings``."""
    return field(default=default, metadata={"help": meaning, "group": group, **limits})


_judge = partial(setting, group="judging, keeping and stopping")


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """What each task adds its own to; a task may give a field another default."""

    task: str = setting("", "what is trained", group="the task")

    batch_tokens: int = setting(4096, "places of a batch, padding included", low=8, high=LARGE)
    accumulate: int = setting(1, "batches to one step", low=1, high=10_000)
    epochs: int = setting(40, "at most", low=1, high=LARGE)
    steps: int = setting(0, "at most; 0: as many as the epochs have", low=0, high=LARGE)
    minutes: float = setting(
        0.0,
        "at most, of steps and validations, counted anew when it goes on; 0: any",
        low=0.0,
        high=1e6,
    )
    learning_rate: float = setting(1e-3, "at its highest", low=0.0, high=10.0)
    warmup: int = setting(500, "steps in which the learning rate rises", low=0, high=LARGE)
    schedule: str = setting(
        "inverse_sqrt",
        "how the learning rate falls",
        choices=("inverse_sqrt", "cosine", "constant"),
    )
    weight_decay: float = setting(0.01, "of matrices", low=0.0, high=10.0)
    clip: float = setting(1.0, "longest gradient; 0: any", low=0.0, high=1e9)
    label_smoothing: float = setting(
        0.1, "of the truth given to all answers alike", low=0.0, high=0.9
    )
    seed: int = setting(1, "of everything drawn", low=0, high=2**31 - 1)
    precision: str = setting(
        "auto",
        "auto: bf16 where the GPU has it, else float32",
        choices=("auto", "float32", "bf16"),
    )
    compile: bool = setting(False, "run the model through torch.compile")  # noqa: FBT003
    graphs: bool = setting(True, "replay steps as CUDA graphs, on a GPU")  # noqa: FBT003

    validate_every: int = _judge(0, "steps; 0: once an epoch", low=0, high=LARGE)
    save_every: int = _judge(500, "steps, and with every validation", low=1, high=LARGE)
    log_every: int = _judge(50, "steps between rows of metrics.jsonl", low=1, high=LARGE)
    average: int = _judge(5, "checkpoints of validations averaged at the end", low=1, high=1000)
    patience: int = _judge(
        8, "validations without a better score before it stops; 0: never", low=0, high=LARGE
    )

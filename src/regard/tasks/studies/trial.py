"""One training of a study, in a process of its own.

So its memory can be measured, and if it breaks it does not take the study with it.
``python -m regard.tasks.studies.trial`` reads what to do as JSON from standard input, and writes
what came of it as the last line of standard output.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from regard.errors import RegardError
from regard.tasks.engine.task import Lesson, Task
from regard.tasks.engine.training import train
from regard.tasks.engine.weights import load_weights
from regard.tasks.settings import read_settings
from regard.tasks.studies.cells import some_of

__all__ = ["Part", "main", "tried"]

MIB = 1 << 20
KIB_OF_PEAK = 1 if sys.platform == "darwin" else 1024  # what ru_maxrss counts in, in bytes


@dataclass(frozen=True)
class Part:
    """A task that is given a part of its data; everything else is the task's own."""

    whole: Task
    size: int
    seed: int

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the task has
        return getattr(self.whole, name)

    def read(self, data: Sequence[Path], valid: Path | None, settings: Any) -> Any:  # noqa: ANN401
        """The corpus with ``size`` of its examples to learn from."""
        corpus = self.whole.read(data, valid, settings)
        return replace(corpus, train=some_of(corpus.train, self.size, self.seed))


def tried(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Train one cell and judge it by the test data.

    Args:
        asked: the task's package and class of settings, the files, the cell, the settings, the
            folder and the device.

    Returns:
        Accuracy in percent, seconds of the training, MiB it took, and how many weights there are.

    """
    cls = getattr(import_module(f"regard.tasks.{asked['task']}.settings"), asked["class"])
    whole: Task = import_module(f"regard.tasks.{asked['task']}.training").TASK
    changes = asked["settings"] | {"encoder": asked["encoder"], "seed": asked["seed"]}
    config = None if asked["config"] is None else Path(asked["config"])
    settings = read_settings(cls, config, changes)
    data, out = [Path(x) for x in asked["data"]], Path(asked["out"])
    valid = None if asked["valid"] is None else Path(asked["valid"])
    task: Any = Part(whole, asked["size"], asked["seed"])
    before, start = _peak(), time.perf_counter()
    run = train(task, settings, data, valid, out, resume=True, device=asked["device"])
    seconds, after = time.perf_counter() - start, _peak()
    assert run is not None
    corpus = whole.read(data, Path(asked["test"]), settings)
    lesson = whole.lesson(corpus, run.vocabularies, settings)
    device = torch.device("cuda" if asked["device"] != "cpu" and _has_gpu() else "cpu")
    score, count = _judged(lesson, run.load_weights()[0], device)
    return {
        "score": score,
        "seconds": seconds,
        "mib": (after - before) / MIB if device.type == "cpu" else _gpu_peak() / MIB,
        "weights": count,
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
    }


def _judged(
    lesson: Lesson, tensors: Mapping[str, torch.Tensor], device: torch.device
) -> tuple[float, int]:
    model = lesson.model().to(device)
    load_weights(model, tensors)
    model.eval()
    judged = lesson.judge()(model, device, lambda: False)
    assert judged is not None
    return judged.score, sum(x.numel() for x in model.parameters())


def _peak() -> int:
    """The most memory this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB_OF_PEAK


def _has_gpu() -> bool:
    return torch.cuda.is_available()


def _gpu_peak() -> int:
    return torch.cuda.max_memory_allocated()


def main(read: Callable[[], str] = sys.stdin.read) -> int:
    """Do what standard input asks for; 2 if it cannot be done, with the reason in one line."""
    try:
        found = tried(json.loads(read()))
    except (RegardError, OSError) as error:
        sys.stderr.write(f"regard: {' '.join(str(error).split())}\n")
        return 2
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

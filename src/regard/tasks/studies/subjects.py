"""What can be studied: a task, and how each of its trainings is kept short and alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

__all__ = ["COMPARED", "SUBJECTS", "Subject"]

COMPARED = ("self-attention", "cnn", "rnn", "window")
DAYS = 10**9  # epochs: the steps decide when a training ends


@dataclass(frozen=True)
class Subject:
    """A task with the settings of a study.

    Every training of a study has the same number of steps, however little data it has: an encoder
    that is given less learns from it more often, and nobody wins by being trained for longer.

    Args:
        task: the package in ``regard.tasks``.
        settings: the name of its class of settings.
        unit: what is counted as data.
        what: the data, for the help text.
        fixed: settings the study needs to be so.
        usual: settings that may be given otherwise.

    """

    task: str
    settings: str
    unit: str
    what: str
    fixed: Mapping[str, object] = field(default_factory=dict)
    usual: Mapping[str, object] = field(default_factory=dict)

    def settings_class(self) -> Any:  # noqa: ANN401 - a class of settings
        """The class of its settings, without torch."""
        return getattr(import_module(f"regard.tasks.{self.task}.settings"), self.settings)

    def changes(self, told: Mapping[str, object]) -> dict[str, object]:
        """What a study changes of a task's defaults, and what it was told to.

        >>> SUBJECTS["speech"].changes({"steps": 100})["validate_every"]
        10
        """
        steps = told.get("steps") or self.usual["steps"]
        assert isinstance(steps, int)
        alike = {"epochs": DAYS, "patience": 0, "schedule": "cosine", "average": 1}
        often = {"validate_every": max(steps // 10, 1), "warmup": max(steps // 10, 1)}
        given = {name: value for name, value in told.items() if value is not None}
        return {**alike, **often, **self.usual, **given, **self.fixed}


SUBJECTS = {
    "tagging": Subject(
        "tagging",
        "TaggingSettings",
        "sentences",
        "words with their labels, as for `regard train tagging`",
        usual={"steps": 1000},
    ),
    "speech": Subject(
        "classification",
        "ClassificationSettings",
        "recordings",
        "a folder or a list of WAV files with labels",
        fixed={"input": "sound"},
        usual={"steps": 600},
    ),
    "images": Subject(
        "classification",
        "ClassificationSettings",
        "images",
        "a folder tree, an .npz or IDX files",
        fixed={"input": "images"},
        usual={"steps": 1000},
    ),
}

"""How much there is to learn from."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from regard.tasks.settings import read_settings

__all__ = ["examples_in"]


def examples_in(asked: Mapping[str, Any]) -> int:
    """How many examples a training of this study has, when those to choose by are held out."""
    cls = getattr(import_module(f"regard.tasks.{asked['task']}.settings"), asked["class"])
    task = import_module(f"regard.tasks.{asked['task']}.training").TASK
    config = None if asked["config"] is None else Path(asked["config"])
    settings = read_settings(cls, config, asked["settings"])
    valid = None if asked["valid"] is None else Path(asked["valid"])
    return len(task.read([Path(x) for x in asked["data"]], valid, settings).train)

"""Where a model lies and where it runs: folders and devices, or words about what is not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import torch

from regard.errors import FileError, KindError, ValueRangeError

__all__ = ["device_of", "folder_of"]


def device_of(device: torch.device | str) -> torch.device:
    """The device that is meant, if it is here.

    >>> device_of("cpu")
    device(type='cpu')
    """
    if not isinstance(device, (str, torch.device)):
        msg = f"device must be a str or a torch.device, got {type(device).__name__}"
        raise KindError(msg)
    try:
        place = torch.device(device)
    except RuntimeError:
        place = None
    if place is None or place.type not in ("cpu", "cuda"):
        msg = f"device must be cpu or cuda, got {str(device)!r}"
        raise ValueRangeError(msg)
    if place.type == "cuda" and not torch.cuda.is_available():
        msg = "device cuda: there is no GPU here, or this torch has no CUDA; take cpu"
        raise ValueRangeError(msg)
    if place.type == "cuda" and (place.index or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        msg = f"device {place}: GPUs are counted from 0, and there are {count} here"
        raise ValueRangeError(msg)
    return place


def folder_of(name_or_path: str | os.PathLike[str], shipped: Mapping[str, Path]) -> Path:
    """The folder of a shipped model by its name, or a run's own.

    A name is a str; a Path is always a folder.

    Args:
        name_or_path: what was asked for.
        shipped: the models that come with the package, by name.

    """
    if not isinstance(name_or_path, (str, os.PathLike)):
        msg = f"a model is found by a str or a Path, got {type(name_or_path).__name__}"
        raise KindError(msg)
    folder = Path(name_or_path)
    if isinstance(name_or_path, str) and name_or_path in shipped:
        if (folder / "run.json").exists():
            msg = (
                f"{name_or_path!r} is a model that comes with regard, and the folder of a run "
                f"here; say ./{name_or_path} for the run, {shipped[name_or_path]} for the model"
            )
            raise ValueRangeError(msg)
        return shipped[name_or_path]
    named = str(name_or_path) != ""  # which Path takes to be the folder one is in
    if named and folder.is_dir():
        return folder
    if named and folder.exists():
        msg = f"{folder}: must be the folder of a run, and is a file"
        raise FileError(msg)
    there = f"there are {', '.join(shipped)}" if shipped else "none came with this regard"
    msg = (
        f"there is no model and no folder {str(name_or_path)!r}; of models {there}, and a run is "
        "named by its folder"
    )
    raise ValueRangeError(msg)

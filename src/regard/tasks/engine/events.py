"""The log's numbers for TensorBoard, where it is installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.optional import has

__all__ = ["Events"]


class Events:
    """Writes rows of the log as TensorBoard's events; does nothing without TensorBoard.

    Args:
        folder: where.
        step: the last one of before, in a training that goes on: what came after is forgotten.

    """

    def __init__(self, folder: Path, step: int = 0) -> None:
        self._writer: Any = None
        if has("tensorboard"):
            from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - not everybody's

            self._writer = SummaryWriter(str(folder), purge_step=step + 1 if step else None)

    def add(self, row: Mapping[str, Any]) -> None:
        """Every number of a row, under its step."""
        if self._writer is None:
            return
        for name, value in row.items():
            if name != "step" and isinstance(value, (int, float)):
                self._writer.add_scalar(name, value, row["step"])

    def close(self) -> None:
        """Write what is left."""
        if self._writer is not None:
            self._writer.close()

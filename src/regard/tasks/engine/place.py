"""Where a training that stopped goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from shlex import quote

__all__ = ["Place"]


@dataclass
class Place:
    """A run folder and the step of its last checkpoint, None before the first; as half a sentence.

    >>> print(Place("tagging", Path("runs/x"), saved=1200))
    the checkpoint of step 1,200 is whole, go on with: regard train tagging --out runs/x --resume
    """

    kind: str
    folder: Path
    saved: int | None = None

    def __str__(self) -> str:
        if self.saved is None:
            return "nothing was saved yet"
        return (
            f"the checkpoint of step {self.saved:,} is whole, go on with: regard train {self.kind} "
            f"--out {quote(str(self.folder))} --resume"
        )

"""How two runs are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from regard.tasks.checkpoint import read_tensors
from regard.tasks.run import Run

CLOCK = ("seconds", "per_second", "crc")  # ends of what a row has that is not made again


def rows(folder: Path) -> list[dict[str, Any]]:
    """Of the log, without what a clock said."""
    kept = Run.open(folder).rows()
    return [{k: v for k, v in row.items() if not k.endswith(CLOCK)} for row in kept]


def assert_same(folder: Path, other: Path) -> None:
    """Every file of two runs, bit by bit, but what a clock said."""
    Run.open(folder).verify()
    names = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert names == {p.relative_to(other).as_posix() for p in other.rglob("*") if p.is_file()}
    for name in names - {"metrics.jsonl"}:
        assert (folder / name).read_bytes() == (other / name).read_bytes(), name
    assert rows(folder) == rows(other)


def assert_close_weights(folder: Path, other: Path) -> None:
    """The checkpoints of two runs, up to how sums are rounded."""
    found, about = read_tensors(folder / "last.safetensors")
    wanted, wanted_about = read_tensors(other / "last.safetensors")
    assert about["progress"]["tokens"] == wanted_about["progress"]["tokens"] > 0
    assert found.keys() == wanted.keys()
    for name in found.keys() - {"loss"}:
        # what is added to all keys changes no weight: its gradient is rounding and nothing else
        if not name.endswith("W_k.bias"):
            torch.testing.assert_close(found[name], wanted[name], rtol=1e-5, atol=1e-6, msg=name)


def assert_close(folder: Path, other: Path) -> None:
    """The same, and their logs."""
    assert_close_weights(folder, other)
    for row, same in zip(rows(folder), rows(other), strict=True):
        assert row == pytest.approx(same, rel=1e-5)

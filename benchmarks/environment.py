"""Where a measurement was taken: machine, versions, commit. No host names, no paths."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

__all__ = ["describe", "use_cores"]

PACKAGES = ("torch", "numpy", "numba", "triton", "regard", "pykeops")
ROOT = Path(__file__).parent.parent
MEASURED = ("src", "benchmarks/*.py", "pyproject.toml", "constraints.txt")


def use_cores(count: int) -> None:
    """Keep this process and its children on ``count`` cores, whoever's threads they are."""
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, set(allowed[:count]))
        count = min(count, len(allowed))
    torch.set_num_threads(count)


def describe() -> dict[str, Any]:
    """The columns that every row of a run shares."""
    now = datetime.now(timezone.utc)
    return {
        "run": now.strftime("%Y%m%dT%H%M%SZ"),
        "date": now.date().isoformat(),
        "commit": _git("rev-parse", "HEAD") or "unknown",
        "dirty": bool(_git("status", "--porcelain", "--", *MEASURED)),
        "machine": {
            "cpu": _cpu(),
            "cores": torch.get_num_threads(),
            "system": platform.system(),
            **({"gpu": torch.cuda.get_device_name()} if torch.cuda.is_available() else {}),
        },
        "versions": {"python": platform.python_version()} | {x: _version(x) for x in PACKAGES},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _git(*arguments: str) -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    command = [git, "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603 - our own words

"""Peak memory of one call, in a process that does nothing else.

``python -m benchmarks.memory CASE PROVIDER`` prints by how many MiB the peak of the resident set
grew over one call, after a warm-up at a small size that loads libraries and starts threads.
"""

from __future__ import annotations

import argparse
import ctypes
import resource
import subprocess
import sys
from pathlib import Path

import torch

from benchmarks.cases import CASES, Case
from benchmarks.environment import use_cores
from benchmarks.gate import once
from benchmarks.inputs import make_inputs
from benchmarks.providers import PROVIDERS

__all__ = ["forget_peak", "peak_in_new_process", "peak_mib", "resident_peak"]

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def resident_peak() -> float:
    """In MiB."""
    if STATUS.exists():
        for line in STATUS.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, the others KiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def forget_peak() -> None:
    """Give freed memory back, then let the peak start from what is in use now."""
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    if RESET.exists():
        RESET.write_text("5", encoding="ascii")


def peak_mib(case: Case, name: str) -> float:
    """By how much one call of a provider raises the peak of this process."""
    provider, small = PROVIDERS[name], case.small()
    tiny = make_inputs(small)
    once(small, tiny, provider.prepare(small, tiny))
    x = make_inputs(case)
    forward = provider.prepare(case, x)
    if name == "compiled":
        once(case, x, forward)  # it compiles for each size anew, and that is not the call's memory
    forget_peak()
    before = resident_peak()
    once(case, x, forward)
    return resident_peak() - before


def peak_in_new_process(case: Case, name: str, *, quick: bool) -> float | None:
    """The same from outside; None if the process failed, most likely for lack of memory."""
    command = [sys.executable, "-m", "benchmarks.memory", case.name, name]
    command += ["--cores", str(torch.get_num_threads()), *["--quick"] * quick]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    if done.returncode:
        print(done.stderr.strip().rpartition("\n")[2] or f"died: {done.returncode}")
        return None
    return float(done.stdout.split()[-1])  # KeOps greets first


def main() -> None:
    """One number on standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=[case.name for case in CASES])
    parser.add_argument("provider", choices=PROVIDERS)
    parser.add_argument("--quick", action="store_true", help="at the sizes of a smoke run")
    parser.add_argument("--cores", type=int, default=2, help="as many as the timing uses")
    asked = parser.parse_args()
    use_cores(asked.cores)
    case = next(case for case in CASES if case.name == asked.case)
    print(f"{peak_mib(case.quick() if asked.quick else case, asked.provider):.2f}")


if __name__ == "__main__":
    main()

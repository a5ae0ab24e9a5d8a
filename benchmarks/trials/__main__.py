"""Each contender beside what is in use, on the same case: checked first, then timed.

``python -m benchmarks.trials [--only CASE]``, on a GPU. Rows go to build/trials.jsonl: a trial is
no measurement of what regard does. What won goes into ``regard``; what lost goes, and leaves a line
in the kernels' README.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import torch

from benchmarks.environment import describe
from benchmarks.gpu import JOBS, Session
from benchmarks.gpu_cases import CASES
from benchmarks.gpu_records import GPU_DATA
from benchmarks.trials.contenders import CONTENDERS

OUT = GPU_DATA.parent.parent.parent / "build" / "trials.jsonl"
BY_NAME = {case.name: case for case in CASES}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    cases = sorted({x.case for x in CONTENDERS})
    parser.add_argument("--only", metavar="CASE", action="append", choices=cases, help="one case")
    parser.add_argument("--seconds", type=float, default=240, help="start nothing later than this")
    parser.add_argument("--out", type=Path, default=OUT, help="where rows are added")
    parser.add_argument("--dry", action="store_true", help="tiny sizes on the CPU: a smoke run")
    asked = parser.parse_args(arguments)
    if not asked.dry and not torch.cuda.is_available():
        parser.error("no CUDA GPU here; --dry tries the plumbing on the CPU")
    about = describe()
    session = Session(
        out=asked.out,
        device="cpu" if asked.dry else "cuda",
        about=about,
        deadline=perf_counter() + asked.seconds,
        rep=80.0,
        without=frozenset({name for case in CASES for name in case.providers} - {"ours"}),
    )
    for case in asked.only or cases:
        for contender in (x for x in CONTENDERS if x.case == case):
            print(f"{case}, {contender.name}:", flush=True)
            session.about = about | {"run": f"{about['run']}, {contender.name}"}
            with contender.installed():
                JOBS[BY_NAME[case].job](BY_NAME[case], session)
    return 0


if __name__ == "__main__":
    sys.exit(main())

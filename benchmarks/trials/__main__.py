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
from typing import Any
from unittest import mock

import torch

from benchmarks import gpu
from benchmarks.environment import describe
from benchmarks.gpu_cases import CASES, NORMALISERS
from benchmarks.gpu_peers import Problem, exact
from benchmarks.gpu_records import GPU_DATA
from benchmarks.trials.contenders import CONTENDERS

OUT = GPU_DATA.parent.parent.parent / "build" / "trials.jsonl"
BY_NAME = {case.name: case for case in CASES}
PROVIDERS = frozenset(name for case in CASES for name in (*case.providers, NORMALISERS))


class Exact:
    """The definition in float64, worked out once for a case: its inputs are always the same."""

    def __init__(self) -> None:
        self.found: dict[Any, Any] = {}

    def __call__(self, problem: Problem, *, grads: bool) -> Any:  # noqa: ANN401
        key = (problem.case.name, *problem.sizes.items(), grads)
        if key not in self.found:
            self.found = {key: exact(problem, grads=grads)}  # one at a time: they are large
        return self.found[key]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    cases = list(dict.fromkeys(x.case for x in CONTENDERS))
    parser.add_argument("--only", metavar="CASE", action="append", choices=cases, help="one case")
    parser.add_argument("--seconds", type=float, default=240, help="start nothing later than this")
    parser.add_argument("--out", type=Path, default=OUT, help="where rows are added")
    parser.add_argument("--dry", action="store_true", help="tiny sizes on the CPU: a smoke run")
    asked = parser.parse_args(arguments)
    if not asked.dry and not torch.cuda.is_available():
        parser.error("no CUDA GPU here; --dry tries the plumbing on the CPU")
    about = describe()
    session = gpu.Session(
        out=asked.out,
        device="cpu" if asked.dry else "cuda",
        about=about,
        deadline=perf_counter() + asked.seconds,
        rep=80.0,
    )
    with mock.patch.object(gpu, "exact", Exact()):
        for contender in CONTENDERS:
            if asked.only and contender.case not in asked.only:
                continue
            print(f"{contender.case}, {contender.name}:", flush=True)
            session.about = about | {"run": f"{about['run']}, {contender.name}"}
            case = BY_NAME[contender.case]
            # of what is handed to cuDNN, what ours would take
            asked_for = "ours, triton" if "ours, triton" in case.providers else "ours"
            session.without = PROVIDERS - {asked_for}
            with contender.installed():
                gpu.JOBS[case.job](case, session)
    return 0


if __name__ == "__main__":
    sys.exit(main())

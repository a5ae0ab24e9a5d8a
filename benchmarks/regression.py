"""Kernel regression beside its peers: ``python -m benchmarks.regression``.

Each answer is checked against every pair in float64, at 200 of the queries, before it is timed. A
peer runs the sizes it can: those that make all pairs stop at ten thousand. Rows go to
benchmarks/data/regression-cpu.jsonl, and ``python -m benchmarks.report`` puts them into REPORT.md.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from benchmarks.bars import Bar, Faster, Seconds
from benchmarks.environment import describe, use_cores
from benchmarks.records import DATA, Row, append, quantiles
from regard.regression import NadarayaWatson

__all__ = ["CASES", "RegressionCase", "main"]

DATA_FILE = DATA.with_name("regression-cpu.jsonl")
Predict = Callable[[np.ndarray, np.ndarray, np.ndarray, Any], np.ndarray]


@dataclass(frozen=True)
class RegressionCase:
    """Data of a size, a width, and who predicts."""

    name: str
    title: str
    n: int
    d: int = 1
    width: float = 0.05
    kernel: str = "gaussian"
    job: str = "predict"  # or "loo": choose the width
    error: float = 1e-9  # what ours may be off, as a share of the largest |y|
    peers: dict[str, Predict] = field(default_factory=dict)
    bars: tuple[Bar, ...] = ()


def _ours(x: np.ndarray, y: np.ndarray, q: np.ndarray, case: RegressionCase) -> np.ndarray:
    width: Any = "loo" if case.job == "loo" else case.width
    model = NadarayaWatson(case.kernel, bandwidth=width).fit(x, y)
    return model.bandwidth_ if case.job == "loo" else model.predict(q)


def _torch(x: np.ndarray, y: np.ndarray, q: np.ndarray, case: RegressionCase) -> np.ndarray:
    import torch  # noqa: PLC0415 - a peer, imported when it runs

    keys, values, queries = (torch.from_numpy(a) for a in (x, y, q))
    out = []
    for some in queries.split(512):
        away = ((some[:, None] - keys) / case.width).square().sum(-1)
        out.append((-away / 2).softmax(-1) @ values)
    return torch.cat(out).numpy()


def _keops(x: np.ndarray, y: np.ndarray, q: np.ndarray, case: RegressionCase) -> np.ndarray:
    import pykeops  # noqa: PLC0415
    from pykeops.numpy import LazyTensor  # noqa: PLC0415

    pykeops.set_verbose(False)
    i, j = LazyTensor(q[:, None] / case.width), LazyTensor(x[None] / case.width)
    k = (-((i - j) ** 2).sum(-1) / 2).exp()
    return ((k @ y[:, None]) / (k @ np.ones_like(y)[:, None]))[:, 0]


def _figtree(x: np.ndarray, y: np.ndarray, q: np.ndarray, case: RegressionCase) -> np.ndarray:
    from pyfigtree import figtree  # noqa: PLC0415

    rows = np.stack((np.ones_like(y), y - y.mean()))  # a row for each set of weights
    width = case.width * 2**0.5  # its kernel is exp(-(x / h)^2)
    below, above = figtree(x, q, rows, bandwidth=width, epsilon=1e-9).reshape(2, -1)
    return above / below + y.mean()


def _kdepy(x: np.ndarray, y: np.ndarray, q: np.ndarray, case: RegressionCase) -> np.ndarray:
    from KDEpy import FFTKDE  # noqa: PLC0415

    grid = np.linspace(x.min() - 1, x.max() + 1, 1 << 14)
    shift = y.min() - 1  # its weights have to be above 0
    low = FFTKDE(kernel="gaussian", bw=case.width).fit(x[:, 0]).evaluate(grid)
    weights = y - shift
    high = FFTKDE(kernel="gaussian", bw=case.width).fit(x[:, 0], weights).evaluate(grid)
    curve = high / np.maximum(low, 1e-300) * weights.mean() + shift
    return np.interp(q[:, 0], grid, curve)


def _statsmodels(x: np.ndarray, y: np.ndarray, q: np.ndarray, case: RegressionCase) -> np.ndarray:
    from statsmodels.nonparametric.kernel_regression import KernelReg  # noqa: PLC0415

    if case.job == "loo":
        return KernelReg(y, x, "c" * x.shape[1], reg_type="lc", bw="cv_ls").bw
    width = np.full(x.shape[1], case.width)
    return KernelReg(y, x, "c" * x.shape[1], reg_type="lc", bw=width).fit(q)[0]


def _fda(x: np.ndarray, y: np.ndarray, q: np.ndarray, case: RegressionCase) -> np.ndarray:
    from skfda.misc.hat_matrix import NadarayaWatsonHatMatrix  # noqa: PLC0415

    away = np.abs(q - x[:, 0])
    hat = NadarayaWatsonHatMatrix(bandwidth=case.width)
    return hat(delta_x=away, X_train=x[:, 0], X=q[:, 0]) @ y


SMALL = {"torch": _torch, "keops": _keops, "statsmodels": _statsmodels, "scikit-fda": _fda}

CASES = (
    RegressionCase("line-1e4", "Gaussian, 1 feature, n = m = 10,000", 10_000, peers=SMALL),
    RegressionCase(
        "line-1e6",
        "Gaussian, 1 feature, n = m = 1,000,000",
        1_000_000,
        peers={"pyfigtree": _figtree, "kdepy": _kdepy},
        bars=(Seconds(0.05), Faster("pyfigtree", 50)),
    ),
    RegressionCase(
        "line-1e7", "Gaussian, 1 feature, n = m = 10,000,000", 10_000_000, bars=(Seconds(0.5),)
    ),
    RegressionCase(
        "loo-1e3",
        "leave-one-out width, n = 1,000",
        1_000,
        job="loo",
        peers={"statsmodels": _statsmodels},
        bars=(Faster("statsmodels", 20),),
    ),
    RegressionCase(
        "loo-1e6", "leave-one-out width, n = 1,000,000", 1_000_000, job="loo", bars=(Seconds(1),)
    ),
    RegressionCase(
        "epanechnikov-1e6",
        "Epanechnikov, 1 feature, n = m = 1,000,000",
        1_000_000,
        kernel="epanechnikov",
        error=1e-12,
        bars=(Seconds(0.3),),
    ),
    RegressionCase(
        "plane-1e6",
        "Gaussian, 2 features, n = m = 1,000,000, width 0.3",
        1_000_000,
        d=2,
        width=0.3,
        bars=(Seconds(0.6),),
    ),
    RegressionCase(
        "five-1e4",
        "Gaussian, 5 features, n = m = 10,000, width 0.8",
        10_000,
        d=5,
        width=0.8,
        peers={"torch": _torch, "keops": _keops},
        bars=(Seconds(0.6), Faster("torch", 1), Faster("keops", 1)),
    ),
)


def _data(case: RegressionCase) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x, q = rng.uniform(0, 5, (2, case.n, case.d))
    y = 2 * np.sin(x[:, 0]) + x.sum(1) ** 0.8 + rng.normal(0, 0.5, case.n)
    return x, y, q


def _exact(x: np.ndarray, y: np.ndarray, q: np.ndarray, case: RegressionCase) -> np.ndarray:
    """Every pair, for a few queries."""
    out = np.empty(len(q))
    for i, here in enumerate(q):
        u = (here - x) / case.width
        if case.kernel == "gaussian":
            k = np.exp(-np.square(u).sum(1) / 2)
        else:
            k = np.maximum(1 - np.square(u), 0).prod(1)
        out[i] = k @ y / k.sum()
    return out


def _off(case: RegressionCase, name: str, found: np.ndarray, data: tuple[np.ndarray, ...]) -> str:
    """How far an answer is off; raises if ours is too far."""
    x, y, q = data
    if case.job == "loo":
        model = NadarayaWatson(bandwidth=float(np.ravel(found)[0])).fit(x, y)
        return f"width {float(np.ravel(found)[0]):.6g}, score {model.loo_score_:.10g}"
    some = np.random.default_rng(1).integers(0, len(q), 200)
    off = np.abs(found[some] - _exact(x, y, q[some], case)).max() / np.abs(y).max()
    if name == "ours" and off > case.error:
        msg = f"{case.name}: ours is off by {off:.2g}, {case.error:g} was allowed"
        raise AssertionError(msg)
    return f"error {off:.1e}"


def _rows(case: RegressionCase, about: dict[str, Any], seconds: float) -> list[Row]:
    data = _data(case)
    who: dict[str, Predict] = {"ours": _ours, **case.peers}
    notes, first = {}, {}
    for name, predict in list(who.items()):
        start = time.perf_counter()
        try:
            notes[name] = _off(case, name, predict(*data, case), data)
        except Exception as error:
            if name == "ours":
                raise
            print(f"{case.name}, {name}: {type(error).__name__}: {error}")
            del who[name]
            continue
        first[name] = time.perf_counter() - start
    total = sum(first.values())
    rounds = int(min(max(seconds / max(total, 1e-9), 3), 15))
    times: dict[str, list[float]] = {name: [] for name in who}
    for _ in range(rounds):
        for name, predict in who.items():
            gc.collect()  # a peer leaves gigabytes in cycles: whoever comes next would free them
            start = time.perf_counter()
            predict(*data, case)
            times[name].append(1e3 * (time.perf_counter() - start))
    rows = []
    for name, found in times.items():
        low, middle, high = quantiles(found)
        rows.append(
            Row(
                "layer",
                case=case.name,
                provider=name,
                direction=case.job,
                shape={"n": case.n, "d": case.d},
                ms=round(middle, 4),
                ms_p20=round(low, 4),
                ms_p80=round(high, 4),
                rounds=[round(x, 4) for x in found],
                repeats=rounds,
                note=notes[name],
                **about,
            )
        )
    return rows


def compile_seconds() -> tuple[float, float]:
    """The first call of a new user, and of a new process after it."""
    code = (
        "import time, numpy as np; from regard.regression import NadarayaWatson; "
        "x = np.random.rand(1000, 1); t = time.perf_counter(); "
        "NadarayaWatson(bandwidth=0.1).fit(x, x[:, 0]).predict(x); "
        "print(time.perf_counter() - t)"
    )
    found = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        for _ in range(2):
            done = subprocess.run(  # noqa: S603 - our own words
                [sys.executable, "-c", code],
                capture_output=True,
                text=True,
                check=True,
                env=environment,
            )
            found.append(float(done.stdout))
    return found[0], found[1]


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="NAME", action="append", choices=names, help="one case")
    parser.add_argument("--cores", type=int, default=2, help="how many to use (default: 2)")
    parser.add_argument("--seconds", type=float, default=30, help="a case (default: 30)")
    asked = parser.parse_args(arguments)
    use_cores(asked.cores)
    about = describe()
    for case in CASES:
        if asked.only and case.name not in asked.only:
            continue
        rows = _rows(case, about, asked.seconds)
        append(DATA_FILE, rows)
        for row in rows:
            print(f"{row.case:18} {row.provider:12} {row.ms:12.2f} ms  {row.note}", flush=True)
    if not asked.only:
        cold, warm = compile_seconds()
        row = Row(
            "layer",
            case="first-call",
            provider="ours",
            direction="predict",
            shape={"n": 1000, "d": 1},
            ms=1e3 * cold,
            note=f"{1e3 * median([warm]):.0f} ms in the next process",
            **about,
        )
        append(DATA_FILE, [row])
        print(f"first call: {cold:.1f} s; in the next process {warm:.2f} s")


if __name__ == "__main__":
    main()

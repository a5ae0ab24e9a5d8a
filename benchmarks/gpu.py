"""Attention on a GPU, ours beside each peer, in one process: ``python -m benchmarks.gpu``.

Every answer is held against the definition in float64, on the very inputs that are timed, before it
is timed. A time is the median of CUDA events around calls one by one, and again replayed from a
CUDA graph, where what starting kernels costs the CPU is gone. One measurement, or the reason why
there is none, is one line of JSON in benchmarks/data/attention-cuda.jsonl, written at once;
``python -m benchmarks.report`` takes the newest. ``--dry`` tries it all at tiny sizes on the CPU
and writes to build/, so no smoke run passes for a measurement.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from benchmarks.environment import describe
from benchmarks.gpu_cases import CASES, FLEX_MASK, LARGEST_MIB, LONGEST_MS, NORMALISERS, GpuCase
from benchmarks.gpu_peers import (
    Answer,
    CannotRunError,
    Peer,
    Problem,
    batches,
    exact,
    flex_mask,
    make_problem,
    once,
    peer,
)
from benchmarks.gpu_records import GPU_DATA, Reading, by_case, keep
from benchmarks.gpu_report import verdicts
from benchmarks.records import quantiles
from regard import Dot, overview

__all__ = ["Session", "main", "measure"]

DRY_DATA = GPU_DATA.parent.parent.parent / "build" / "bench-gpu-dry.jsonl"
TOLERANCE = {"float32": 1e-3, "bfloat16": 3e-2}  # of the largest: beyond, it computes another thing
SLOW = 0.25  # seconds a call: then three are enough, and nothing is launch bound
LEAST = 5  # calls in one measurement, unless they are slow
GRAPHED_MIB = 16 * 1024  # a graph keeps its memory beside the allocator's: not more than this
PATIENCE = 15.0  # seconds that one pass over the changing lengths may take
MIB = 2**20


class WrongAnswerError(RuntimeError):
    """What would be timed is not the case."""


class BrokenDeviceError(RuntimeError):
    """A kernel has left the GPU unusable: nothing after it could be trusted."""


@dataclass
class Session:
    """One run: where readings go, how long it may take, what was left out."""

    out: Path
    device: str
    about: dict[str, Any]
    deadline: float = float("inf")  # by perf_counter: nothing is started after it
    rep: float = 80.0  # milliseconds of calls in one measurement
    without: frozenset[str] = frozenset()
    readings: list[Reading] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    @property
    def dry(self) -> bool:
        """Whether there is no GPU, and only the plumbing is tried."""
        return self.device == "cpu"

    def attempt(self, about: dict[str, Any], taken: Callable[[], dict[str, Any]]) -> Reading | None:
        """Measure and keep, or keep why not; None if the time is over or nobody asked."""
        what = " ".join((about["case"], about["direction"], about["provider"]))
        if about["provider"] in self.without:
            return None
        if perf_counter() > self.deadline:
            # no row: it would take the place of one that was measured
            self.skipped.append(what)
            return None
        try:
            columns = taken()
        except CannotRunError as why:
            columns = {"note": str(why)}
        except Exception as why:  # noqa: BLE001 - whatever it was, the others go on
            columns = {"note": _in_a_line(why)}
        reading = Reading(**about, **columns, **self.about)
        keep(self.out, reading)
        self.readings.append(reading)
        print(_line(reading), flush=True)
        self.tidy(collect=reading.ms is None)
        return reading

    def tidy(self, *, collect: bool) -> None:
        """Give memory back, and make sure that the GPU still answers."""
        if self.dry:
            return
        if collect:  # tracebacks hold tensors; but it takes a third of a second
            gc.collect()
        try:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        except RuntimeError as why:
            raise BrokenDeviceError(_in_a_line(why)) from why


def _in_a_line(why: BaseException) -> str:
    lines = [line.strip() for line in str(why).splitlines() if line.strip()]
    return f"{type(why).__name__}: {lines[0] if lines else 'no words'}"[:300]


# Time and memory -------------------------------------------------------------------------------


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def _peak(call: Callable[[], object], device: str) -> tuple[float | None, float]:
    """By how much a warm call raises the memory in use, in MiB, and how many seconds it took."""
    _wait(device)
    before = 0
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    start = perf_counter()
    call()
    _wait(device)
    seconds = perf_counter() - start
    if device == "cpu":
        return None, seconds
    return round((torch.cuda.max_memory_allocated() - before) / MIB, 3), seconds


def _times(call: Callable[[], object], device: str, seconds: float, rep: float) -> list[float]:
    """The median, the 20th and the 80th percentile, in milliseconds."""
    if device == "cpu":
        taken = []
        for _ in range(3):
            start = perf_counter()
            call()
            taken.append((perf_counter() - start) * 1e3)
    elif seconds > SLOW:
        taken = [_between_events(call) for _ in range(3)]
    else:
        from triton.testing import do_bench  # noqa: PLC0415 - absent where there is no GPU

        rep = max(rep, LEAST * seconds * 1e3)
        found = do_bench(call, warmup=rep / 4, rep=rep, quantiles=[0.5, 0.2, 0.8])
        return [round(ms, 5) for ms in found]
    low, middle, high = quantiles(taken)
    return [round(ms, 5) for ms in (middle, low, high)]


def _between_events(call: Callable[[], object]) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end)


def _graphed(call: Callable[[], object]) -> torch.cuda.CUDAGraph:
    """A call recorded as a CUDA graph; raises if it looks at a number or waits."""
    torch.cuda.synchronize()
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):  # what is set up lazily may not be set up while recording
        for _ in range(2):
            call()
    torch.cuda.current_stream().wait_stream(aside)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph


def measure(call: Callable[[], object], device: str, rep: float) -> dict[str, Any]:
    """The columns of a reading about time and memory. The call has been made once before."""
    mib, seconds = _peak(call, device)
    middle, *spread = _times(call, device, seconds, rep)
    columns: dict[str, Any] = {"ms": middle, "spread": spread, "mib": mib}
    if device == "cpu":
        return columns
    if seconds > SLOW or mib is None or mib > GRAPHED_MIB:
        return columns | {"note": "no graph: too long or too large to be launch bound"}
    torch.cuda.empty_cache()
    try:
        graph = _graphed(call)
        middle, *spread = _times(graph.replay, device, seconds, rep)
    except Exception as why:  # noqa: BLE001 - the eager time stands
        return columns | {"note": f"no graph: {_in_a_line(why)}"}
    return columns | {"graph_ms": middle, "graph_spread": spread}


# The gate --------------------------------------------------------------------------------------


def errors(got: Answer, wanted: Answer, dtype: str, rows: Tensor | None = None) -> dict[str, Any]:
    """How wrong an answer is, as columns of a reading; raises if it is another answer."""
    found = {}
    for name, right in wanted.items():
        mine = got[name].detach()
        if name == "out" and rows is not None and len(rows) < mine.shape[-2]:
            mine = mine.index_select(-2, rows)
        if mine.shape != right.shape:
            msg = f"{name}: shape {list(mine.shape)}, not {list(right.shape)}; not timed"
            raise WrongAnswerError(msg)
        largest = right.abs().max().item()
        found[name] = (mine.double() - right).abs().max().item() / max(largest, 1e-300)
        if not found[name] <= TOLERANCE[dtype]:  # NaN is no agreement
            msg = f"{name}: wrong by {found[name]:.1e} of the largest value; not timed"
            raise WrongAnswerError(msg)
    return {"errors": found, "error": max(found.values())}


# The jobs --------------------------------------------------------------------------------------


def _about(case: GpuCase, sizes: dict[str, int], **more: str) -> dict[str, Any]:
    kind = "growth" if case.job == "growth" else "case"
    return {"kind": kind, "case": case.name, "shape": sizes, "dtype": case.dtype, **more}


def _sizes(case: GpuCase, session: Session) -> dict[str, int]:
    return case.dry if session.dry else case.sizes


def _checked(
    session: Session,
    problem: Problem,
    direction: str,
    someone: Peer,
    wanted: tuple[Answer, Tensor] | None,
) -> dict[str, Any]:
    """One call checked, then timed."""
    call = partial(once, problem, direction, someone.forward)
    columns: dict[str, Any] = {}
    with someone.within(), torch.set_grad_enabled(direction != "forward"):
        columns["impl"] = someone.impl()
        got = call()
        if wanted is not None:
            columns |= errors(
                got,
                {name: x for name, x in wanted[0].items() if name in got},
                problem.case.dtype,
                wanted[1],
            )
        del got
        return columns | measure(call, session.device, session.rep)


def _attend(case: GpuCase, session: Session) -> None:
    sizes = _sizes(case, session)
    problem = make_problem(case, sizes, session.device)
    wanted = exact(problem, grads="forward+backward" in case.directions)
    for provider in case.providers:
        ready: dict[str, Peer] = {}  # made once for both directions

        def taken(direction: str, name: str = provider, ready: dict = ready) -> dict[str, Any]:
            if name not in ready:
                ready[name] = peer(name, problem)
            return _checked(session, problem, direction, ready[name], wanted)

        for direction in case.directions:
            about = _about(case, sizes, provider=provider, direction=direction)
            session.attempt(about, partial(taken, direction))
        ready.clear()
        if provider == "FlexAttention" and provider not in session.without:
            build = flex_mask(problem)
            if build is not None:
                about = _about(case, sizes, provider=FLEX_MASK, direction="forward")
                session.attempt(about, partial(_built, build, session))


def _built(build: Callable[[], object], session: Session) -> dict[str, Any]:
    build()
    return measure(build, session.device, session.rep)


def _overview(case: GpuCase, session: Session) -> None:
    sizes = _sizes(case, session)
    x = make_problem(case, sizes, session.device)
    q, k = x.q.detach(), x.k.detach()
    cells, run = sizes["cells"], sizes["n"] // sizes["cells"]
    picked = sorted({0, cells // 2, cells - 1})  # rows of cells that are checked
    rows = torch.cat([torch.arange(c * run, (c + 1) * run, device=q.device) for c in picked])
    scores = q[0, rows].double() @ k[0].double().T / q.shape[-1] ** 0.5
    whole = scores.softmax(-1).reshape(len(picked), run, cells, -1).sum(-1).mean(1)
    norms = scores.logsumexp(-1)
    del scores

    def seen() -> dict[str, Any]:
        call = partial(overview, q, k, cells=cells)
        got = call()[0, torch.tensor(picked, device=q.device)]
        columns = errors({"out": got}, {"out": whole}, case.dtype)
        return columns | measure(call, session.device, session.rep)

    def normalised() -> dict[str, Any]:
        from regard.attention.call import make_call  # noqa: PLC0415 - inside: may have moved
        from regard.attention.triton import normalisers  # noqa: PLC0415

        form = Dot().form(q, k)
        asked = make_call(q, k, k.new_zeros(*k.shape[:-1], 0), form, None)
        call = partial(normalisers, asked)
        columns = errors({"out": call()[0, rows]}, {"out": norms}, case.dtype)
        return columns | measure(call, session.device, session.rep)

    for provider, taken in (("ours", seen), (NORMALISERS, normalised)):
        about = _about(case, sizes, provider=provider, direction="forward")
        session.attempt(about, taken)


def _changing(case: GpuCase, session: Session) -> None:
    sizes = _sizes(case, session)
    drawn = torch.Generator().manual_seed(1)
    lengths = torch.randint(sizes["least"], sizes["n"] + 1, (sizes["calls"],), generator=drawn)
    longest = sizes | {"n": sizes["n"] + 16, "m": sizes["n"] + 16}
    problem = make_problem(case, longest, session.device)
    data = list(batches(problem, lengths.tolist()))
    # lengths beyond those asked for, long and short, a multiple of 16 and not one: what is compiled
    # once and for all is compiled now, what is planned for a length is not
    ends = (sizes["least"] - 1, max(sizes["least"] - 4, 1), longest["n"], longest["n"] - 15)
    before = list(batches(problem, ends))
    wanted = exact(before[-1], grads=True)

    def through(provider: str) -> tuple[float, int]:
        """Seconds of one pass, and how far it came."""
        _wait(session.device)
        start, done = perf_counter(), 0
        for batch in data:
            someone = peer(provider, batch)
            with someone.within():
                once(batch, "forward+backward", someone.forward)
            done += 1
            if perf_counter() - start > PATIENCE:
                break
        _wait(session.device)
        return perf_counter() - start, done

    def taken(provider: str) -> dict[str, Any]:
        for batch in before:
            someone = peer(provider, batch)
            with someone.within():
                got = once(batch, "forward+backward", someone.forward)
        columns = errors(got, wanted[0], case.dtype) | {"impl": someone.impl()}
        seconds, done = through(provider)
        again, redone = through(provider)
        again *= done / redone
        note = f"first {seconds:.2f} s, again {again:.2f} s, {done} calls"
        if done < len(data):
            note += f": stopped after {PATIENCE:g} s"
        extra = {"seconds": round(seconds, 4), "again": round(again, 4), "calls": float(done)}
        return columns | {"ms": round(seconds / done * 1e3, 4), "extra": extra, "note": note}

    for provider in case.providers:
        about = _about(case, sizes, provider=provider, direction="forward+backward")
        session.attempt(about, partial(taken, provider))


def too_much(before: Sequence[Reading]) -> str:
    """Why the next doubling of n is left out, by what the last sizes took; empty if it is not."""
    if not before or before[-1].ms is None:
        return ""
    if (ms := 4 * before[-1].ms) > LONGEST_MS:
        return f"would take about {ms / 1e3:.1f} s"
    last = before[-1].mib or 0.0
    earlier = before[-2].mib if len(before) > 1 else None
    mib = last * (last / earlier if earlier else 4)  # twice for linear memory, 4 times for n x m
    return f"would need about {mib / 1024:,.0f} GiB" if mib > LARGEST_MIB else ""


def _growth(case: GpuCase, session: Session) -> None:
    first = _sizes(case, session)
    last = 4 * first["n"] if session.dry else case.up_to
    for provider in case.providers:
        done: list[Reading] = []
        n = first["n"]
        while n <= last:
            sizes = first | {"n": n, "m": n}

            def taken(sizes: dict[str, int] = sizes, name: str = provider) -> dict[str, Any]:
                problem = make_problem(case, sizes, session.device)
                someone = peer(name, problem)
                # the answer is checked at the first size; float64 at the last would take long
                wanted = exact(problem, grads=False) if sizes["n"] == first["n"] else None
                return _checked(session, problem, "forward", someone, wanted)

            about = _about(case, sizes, provider=provider, direction="forward")
            why = too_much(done)
            found = session.attempt(about, partial(_refuse, why) if why else taken)
            if found is None or found.ms is None:
                break
            done.append(found)
            n *= 2


def _refuse(why: str) -> dict[str, Any]:
    raise CannotRunError(why)


JOBS = {"attend": _attend, "overview": _overview, "changing": _changing, "growth": _growth}


# The command line ------------------------------------------------------------------------------


def _line(x: Reading) -> str:
    numbers = (
        "-" if value is None else format(value, shape)
        for value, shape in ((x.ms, ".3f"), (x.graph_ms, ".3f"), (x.mib, ",.1f"), (x.error, ".1e"))
    )
    ms, graph, mib, error = numbers
    size = f" n={x.shape['n']}" if x.kind == "growth" else ""
    way = "fwd" if x.direction == "forward" else "f+b"
    label = f"{x.case + size:24} {way} {x.provider:24}"
    return f"{label} {ms:>9} {graph:>9} {mib:>10} {error:>8} {x.impl} {x.note[:60]}".rstrip()


HEADER = f"{'case':24} {'':3} {'provider':24} {'ms':>9} {'graph ms':>9} {'MiB':>10} {'error':>8}"


def _summary(readings: Sequence[Reading]) -> str:
    """The bars only: what was reached, call by call and from a graph."""
    lines = []
    for case, direction, bar, *said in verdicts(by_case(readings)):
        reached, verdict, graph_reached, graph_verdict = said
        if verdict == "not measured":  # not asked for in this run
            continue
        graph = f" | graph: {graph_reached}, {graph_verdict}" if graph_reached else ""
        way = "fwd" if direction == "forward" else "f+b"
        found = ", ".join(filter(None, (reached, verdict)))
        lines.append(f"{case[:60]:60} {way} {bar[:32]:32} {found}{graph}")
    return "\n".join(lines)


def run(session: Session, cases: Iterable[GpuCase]) -> None:
    """Every job; one that cannot even be set up is a row too."""
    for case in cases:
        if perf_counter() > session.deadline:
            session.skipped.append(case.name)
            continue
        why = ""
        try:
            JOBS[case.job](case, session)
        except BrokenDeviceError:
            raise
        except Exception as error:  # noqa: BLE001 - the other cases go on
            why = _in_a_line(error)
        for direction in case.directions if why else ():
            about = _about(case, _sizes(case, session), provider="ours", direction=direction)
            session.attempt(about, partial(_refuse, f"not set up: {why}"))
        session.tidy(collect=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="NAME", action="append", choices=names, help="one case")
    providers = sorted({name for case in CASES for name in case.providers})
    parser.add_argument(
        "--without",
        metavar="PROVIDER",
        action="append",
        choices=providers,
        default=[],
        help=f"leave out one of: {', '.join(providers)}",
    )
    parser.add_argument(
        "--no-compile", action="store_true", help="leave the compiled textbook form out"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        help="start nothing later than this (default: 540, with --no-compile 220)",
    )
    parser.add_argument("--rep", type=float, default=80, help="ms of calls in one measurement")
    parser.add_argument("--out", type=Path, help="where rows are added")
    parser.add_argument("--dry", action="store_true", help="tiny sizes on the CPU: a smoke run")
    asked = parser.parse_args(arguments)
    if not asked.dry and not torch.cuda.is_available():
        parser.error("no CUDA GPU here; --dry tries the plumbing on the CPU")
    seconds = asked.seconds or (220 if asked.no_compile else 540)
    session = Session(
        out=asked.out or (DRY_DATA if asked.dry else GPU_DATA),
        device="cpu" if asked.dry else "cuda",
        about=describe(),
        deadline=perf_counter() + seconds,
        rep=asked.rep,
        without=frozenset(asked.without) | ({"compiled"} if asked.no_compile else set()),
    )
    started = perf_counter()
    print(HEADER)
    broken = ""
    try:
        run(session, [case for case in CASES if not asked.only or case.name in asked.only])
    except BrokenDeviceError as why:
        broken = f"stopped, the GPU does not answer any more: {why}"
    print("\n" + _summary(session.readings))
    if session.skipped:
        print(f"no time left for: {'; '.join(session.skipped)}")
    print(f"{len(session.readings)} rows in {perf_counter() - started:.0f} s, in {session.out}")
    if broken:
        print(broken, file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

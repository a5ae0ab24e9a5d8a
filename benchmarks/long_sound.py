"""Attention over long sound, truncated and full: ``python -m benchmarks.long_sound``.

An encoder's layer over the frames of a sound (a hundred a second; an hour has 360,000), forward +
backward, one sound at a time. Truncated, a frame looks at 64 on either side. The two must agree
where the window holds the whole sound before they are timed. Full attention is measured as far as
a call takes a reasonable time, and no farther: no figure here is extrapolated.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import torch
from torch import Tensor

from benchmarks.environment import describe, use_cores
from benchmarks.memory import forget_peak, resident_peak
from benchmarks.records import DATA, Row, append, quantiles
from regard.models.encoder import Encoder, EncoderConfig

__all__ = ["HOUR", "KINDS", "agree", "measure"]

HOUR = 360_000  # frames
SIZES = tuple(HOUR >> i for i in range(7, -1, -1))
KINDS = ("truncated", "self-attention")
REACH = 64
LONGEST = 60.0  # seconds that a call may be expected to take
MIB = 2**20


def _encoder(kind: str, reach: int = REACH) -> Encoder:
    torch.manual_seed(0)
    return Encoder(
        EncoderConfig(
            kind,
            width=64,
            heads=4,
            layers=1,
            hidden=128,
            reach=reach,
            dropout=0.0,
            positions="none",
        )
    )


def agree(device: torch.device) -> float:
    """The largest difference of outputs and gradients where the window holds all frames."""
    x = torch.randn(1, 300, 64, generator=torch.Generator().manual_seed(1))
    found = []
    for kind in KINDS:
        net = _encoder(kind, reach=300).to(device)
        given = x.to(device, copy=True).requires_grad_()
        out = net(given)
        out.square().sum().backward()
        assert given.grad is not None
        found.append(torch.cat((out.detach(), given.grad)))
    return float((found[0] - found[1]).abs().max() / found[1].abs().max())


def _call(net: Encoder, x: Tensor) -> Callable[[], None]:
    def run() -> None:
        net.zero_grad(set_to_none=True)
        net(x).square().mean().backward()
        if x.device.type == "cuda":
            torch.cuda.synchronize()

    return run


def measure(kind: str, n: int, device: torch.device, repeats: int) -> tuple[list[float], float]:
    """Milliseconds of each call, and the MiB that one adds at its peak."""
    net = _encoder(kind).to(device)
    _call(net, torch.randn(1, 512, 64, device=device))()  # libraries are loaded, kernels compiled
    run = _call(net, torch.randn(1, n, 64, device=device))
    if device.type == "cuda":
        run()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
    else:
        forget_peak()
        before = resident_peak()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        run()
        times.append(1e3 * (perf_counter() - start))
    if device.type == "cuda":
        return times, (torch.cuda.max_memory_allocated() - before) / MIB
    return times, resident_peak() - before


def main() -> None:
    """Measure, print, and keep the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, help="default: benchmarks/data/long-sound-DEVICE.jsonl")
    asked = parser.parse_args()
    use_cores(asked.cores)
    device = torch.device(asked.device)
    error = agree(device)
    assert error < 1e-5, f"truncated and full attention differ by {error}"
    path = asked.out or DATA.with_name(f"long-sound-{device.type}.jsonl")
    where = describe()
    for kind in KINDS:
        power, last = (1 if kind == "truncated" else 2), 0.0
        for n in SIZES:
            if last * 2**power > 1e3 * LONGEST and kind != "truncated":
                print(f"{kind:15} {n:8,}  not measured: about {last * 2**power / 1e3:.0f} s a call")
                break
            times, mib = measure(kind, n, device, asked.repeats)
            low, last, high = quantiles(times)
            print(f"{kind:15} {n:8,} {last:10.1f} ms {mib:8.1f} MiB", flush=True)
            shape = {"n": n, "reach": REACH, "width": 64, "heads": 4}
            row = Row(
                kind="growth",
                case="long-sound",
                provider=kind,
                direction="forward + backward",
                shape=shape,
                ms=last,
                ms_p20=low,
                ms_p80=high,
                rounds=times,
                repeats=len(times),
                peak_mib=mib,
                **where,
            )
            append(path, [row])


if __name__ == "__main__":
    main()

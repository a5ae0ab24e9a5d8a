"""Our layers beside the textbook's, a training step each: ``python -m benchmarks.layers``.

Both have the same weights and inputs; outputs and gradients are compared before anything is timed.
``--device cuda`` measures on a GPU. Rows go to benchmarks/data/layers-DEVICE.jsonl, and
``python -m benchmarks.report`` puts them into REPORT.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.bars import Bar, Seconds
from benchmarks.environment import describe, use_cores
from benchmarks.measure import Pace, race
from benchmarks.memory import forget_peak, resident_peak
from benchmarks.records import DATA, Row, append
from benchmarks.textbook import TextbookAdditive, TextbookDecoder
from regard.layers import AdditiveAttention, Seq2SeqAttentionDecoder

__all__ = ["CASES", "LayerCase", "main"]

PROVIDERS = ("ours", "textbook")


@dataclass(frozen=True)
class LayerCase:
    """A layer at a size, and how a training step of it is made."""

    name: str
    title: str
    sizes: dict[str, int]
    make: Callable[[str, dict[str, int], str], Callable[[], dict[str, Tensor]]]
    bars: tuple[Bar, ...] = ()  # on a GPU


def _seeded(*shape: int, seed: int = 0, device: str) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(device)


def _collected(net: nn.Module, out: Tensor) -> dict[str, Tensor]:
    return {"out": out.detach()} | {name: p.grad for name, p in net.named_parameters()}


def _additive(who: str, s: dict[str, int], device: str) -> Callable[[], dict[str, Tensor]]:
    torch.manual_seed(0)
    kind = AdditiveAttention if who == "ours" else TextbookAdditive
    net = kind(s["h"], s["h"], s["h"], 0.0).to(device)
    q, k = (_seeded(s["batch"], s[x], s["h"], seed=i, device=device) for i, x in enumerate("nm"))
    v = _seeded(s["batch"], s["m"], s["dv"], seed=2, device=device)
    pull = _seeded(s["batch"], s["n"], s["dv"], seed=3, device=device)

    def step() -> dict[str, Tensor]:
        net.zero_grad()
        out = net(q, k, v, None)
        (out * pull).sum().backward()
        return _collected(net, out)

    return step


def _decoder(who: str, s: dict[str, int], device: str) -> Callable[[], dict[str, Tensor]]:
    torch.manual_seed(0)
    kind = Seq2SeqAttentionDecoder if who == "ours" else TextbookDecoder
    net = kind(s["vocab"], s["h"], s["h"], s["layers"], 0.0).to(device)
    drawn = torch.Generator().manual_seed(1)
    tokens, wanted = torch.randint(s["vocab"], (2, s["batch"], s["steps"]), generator=drawn).to(
        device
    )
    lens = torch.randint(1, s["m"] + 1, (s["batch"],), generator=drawn).to(device)
    source = _seeded(s["m"], s["batch"], s["h"], device=device)
    states = _seeded(s["layers"], s["batch"], s["h"], seed=1, device=device)

    def step() -> dict[str, Tensor]:
        net.zero_grad()
        if isinstance(net, Seq2SeqAttentionDecoder):
            out, _ = net(tokens, net.init_state((source, states), lens))
        else:
            out, _ = net(tokens, (source.transpose(0, 1), states, lens))
        nn.functional.cross_entropy(out.flatten(0, 1), wanted.flatten()).backward()
        return _collected(net, out)

    return step


CASES = (
    LayerCase(
        "additive-layer",
        "AdditiveAttention, batch 16, n = m = 512, h = 256",
        {"batch": 16, "n": 512, "m": 512, "h": 256, "dv": 256},
        _additive,
    ),
    LayerCase(
        "decoder-layer",
        "Seq2SeqAttentionDecoder, 30 steps, batch 128, h = 256, 2 layers, vocabulary 10,000",
        {"batch": 128, "steps": 30, "m": 30, "h": 256, "layers": 2, "vocab": 10_000},
        _decoder,
        (Seconds(0.014),),
    ),
)


def _agree(case: LayerCase, ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> None:
    """Raise unless outputs and gradients are the same to float32 rounding."""
    for name, wanted in theirs.items():
        scale = wanted.abs().max().item()
        torch.testing.assert_close(
            ours[name],
            wanted,
            rtol=0,
            atol=1e-4 * scale,
            msg=lambda m, n=name: f"{case.name}, {n}: {m}",
        )


def _peak_mib(step: Callable[[], object], device: str) -> float:
    """By how much a step raises the peak of the memory in use."""
    step()
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        step()
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    forget_peak()
    before = resident_peak()
    step()
    return resident_peak() - before


def _in_new_process(case: LayerCase, provider: str, device: str) -> float | None:
    command = [sys.executable, "-m", "benchmarks.layers", "--device", device]
    command += ["--memory", case.name, provider]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    return None if done.returncode else float(done.stdout.split()[-1])


def _rows(case: LayerCase, device: str, about: dict[str, Any]) -> list[Row]:
    steps = {name: case.make(name, case.sizes, device) for name in PROVIDERS}
    _agree(case, *(step() for step in steps.values()))

    def waited(step: Callable[[], object]) -> Callable[[], None]:
        def call() -> None:
            step()
            if device == "cuda":
                torch.cuda.synchronize()

        return call

    for step in steps.values():
        waited(step)()
    times = race({name: waited(step) for name, step in steps.items()}, Pace(seconds=40))
    return [
        Row(
            "layer",
            case=case.name,
            provider=name,
            direction="forward+backward",
            shape=case.sizes,
            peak_mib=_in_new_process(case, name, device),
            **found.columns(),
            **about,
        )
        for name, found in times.items()
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default: cpu")
    parser.add_argument("--only", metavar="NAME", action="append", choices=names, help="one case")
    parser.add_argument("--cores", type=int, default=2, help="how many to use (default: 2)")
    parser.add_argument("--memory", nargs=2, metavar=("CASE", "PROVIDER"), help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.device == "cpu":
        use_cores(asked.cores)
    torch.backends.cudnn.allow_tf32 = False  # textbook recurrences would round to ten bits
    cases = {case.name: case for case in CASES}
    if asked.memory is not None:
        case, provider = asked.memory
        found = _peak_mib(cases[case].make(provider, cases[case].sizes, asked.device), asked.device)
        print(f"{found:.2f}")
        return
    about = describe()
    for case in CASES:
        if asked.only and case.name not in asked.only:
            continue
        rows = _rows(case, asked.device, about)
        append(DATA.with_name(f"layers-{asked.device}.jsonl"), rows)
        for row in rows:
            memory = "?" if row.peak_mib is None else f"{row.peak_mib:,.0f}"
            print(f"{row.case:16} {row.provider:10} {row.ms:10.2f} ms {memory:>8} MiB", flush=True)


if __name__ == "__main__":
    main()

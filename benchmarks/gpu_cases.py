"""What is measured on a GPU, beside whom, and what has to be reached there. Data only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from benchmarks.bars import AsFastAs, GpuBar, Novelty, Peak, Runs, Within

__all__ = ["CASES", "FLEX_MASK", "LARGEST_MIB", "LONGEST_MS", "NORMALISERS", "GpuCase"]

Direction = Literal["forward", "forward+backward"]
FORWARD: Direction = "forward"
BOTH: Direction = "forward+backward"
FLEX_MASK = "FlexAttention's mask"  # not a provider of the case: what it builds before the call
NORMALISERS = "ours, normalisers' pass"

# growth: a point that would take more is left out
LONGEST_MS = 2e3
LARGEST_MIB = 60 * 1024


@dataclass(frozen=True)
class GpuCase:
    """A call at a size; ``dry`` is the size for a machine without a GPU."""

    name: str
    title: str
    job: Literal["attend", "overview", "changing", "growth"]
    sizes: dict[str, int]
    dry: dict[str, int]
    providers: tuple[str, ...]
    score: Literal["dot", "additive", "gaussian"] = "dot"
    mask: Literal["none", "causal", "lengths", "window"] = "none"
    dtype: Literal["float32", "bfloat16"] = "float32"
    directions: tuple[Direction, ...] = (FORWARD,)
    checked: int | None = None  # rows held against float64, evenly taken; None: all
    up_to: int = 0  # growth: sizes n are doubled up to here
    bars: dict[Direction, tuple[GpuBar, ...]] = field(default_factory=dict)


def _dot(mask: str, words: str, peers: tuple[str, ...], beaten: tuple[str, ...]) -> GpuCase:
    return GpuCase(
        f"dot-{mask}" if mask != "none" else "dot",
        f"dot, batch 4, 16 heads, n = m = 8,192, d = 64, bf16{words}",
        "attend",
        {"batch": 4, "heads": 16, "n": 8192, "m": 8192, "d": 64, "dv": 64, "window": 256},
        {"batch": 2, "heads": 2, "n": 64, "m": 64, "d": 8, "dv": 8, "window": 5},
        # cuDNN is there by name, for who can do without equal gradients on every run
        ("ours", "ours, triton", *(("ours, cudnn",) if mask == "none" else ()), *peers),
        mask=mask,
        dtype="bfloat16",
        directions=(FORWARD, BOTH),
        # what a peer has to build before its call is not held against it
        bars={FORWARD: (AsFastAs(beaten),), BOTH: (AsFastAs(peers),)},
    )


_TORCH = ("SDPA cuDNN", "SDPA flash", "FlexAttention")
_MASKED = ("SDPA cuDNN", "FlexAttention")
_LITTLE = {"batch": 2, "n": 40, "m": 40, "d": 8, "dv": 4}

CASES = (
    GpuCase(
        "additive",
        "additive, batch 8, n = m = 2,048, h = 128, dv = 64, float32",
        "attend",
        {"batch": 8, "n": 2048, "m": 2048, "d": 128, "dv": 64},
        _LITTLE,
        ("ours", "eager", "compiled"),
        score="additive",
        directions=(FORWARD, BOTH),
        bars={FORWARD: (Within(1.4), Peak(30)), BOTH: (Within(7), Peak(150))},
    ),
    GpuCase(
        "additive-long",
        "additive, n = m = 16,384, h = 128, dv = 64, float32",
        "attend",
        {"batch": 1, "n": 16384, "m": 16384, "d": 128, "dv": 64},
        _LITTLE,
        ("ours", "eager"),
        score="additive",
        directions=(BOTH,),
        bars={BOTH: (Runs(), Peak(200))},
    ),
    _dot("none", "", _TORCH, _TORCH),
    _dot("causal", ", causal", _TORCH, _TORCH),
    _dot("lengths", ", random lengths from 256 on", _MASKED, ("FlexAttention",)),
    _dot("window", ", the last 256 keys and its own", _MASKED, ("FlexAttention",)),
    GpuCase(
        "gaussian",
        "Gaussian, 1 feature, n = m = 200,000, float32",
        "attend",
        {"batch": 1, "n": 200_000, "m": 200_000, "d": 1, "dv": 1},
        {"batch": 1, "n": 300, "m": 300, "d": 1, "dv": 1},
        ("ours", "torch in chunks"),
        score="gaussian",
        checked=512,
        # "O(n)" as a number: 168 bytes a point; n x m would be 149 GiB
        bars={FORWARD: (Within(25), Peak(64))},
    ),
    GpuCase(
        "overview",
        "overview 512 x 512 of one head, n = m = 131,072, d = 64, bf16",
        "overview",
        {"batch": 1, "n": 131_072, "m": 131_072, "d": 64, "cells": 512},
        {"batch": 1, "n": 64, "m": 64, "d": 8, "cells": 8},
        ("ours", NORMALISERS),
        dtype="bfloat16",
        bars={FORWARD: (Within(6),)},
    ),
    GpuCase(
        "changing",
        "200 calls, each of another length (100 to 1,200), batch 16, 8 heads, d = 64, bf16",
        "changing",
        {"batch": 16, "heads": 8, "n": 1200, "m": 1200, "d": 64, "dv": 64, "least": 100}
        | {"calls": 200},
        {"batch": 2, "heads": 2, "n": 20, "m": 20, "d": 8, "dv": 8, "least": 4, "calls": 5},
        ("ours", "SDPA", "SDPA cuDNN"),
        dtype="bfloat16",
        directions=(BOTH,),
        bars={BOTH: (Novelty(1.5),)},
    ),
    GpuCase(
        "growth-additive",
        "additive, one head, h = 64, float32",
        "growth",
        {"batch": 1, "n": 1024, "m": 1024, "d": 64, "dv": 64},
        {"batch": 1, "n": 16, "m": 16, "d": 8, "dv": 4},
        ("ours", "eager"),
        score="additive",
        up_to=65_536,
    ),
    GpuCase(
        "growth-dot",
        "dot, 16 heads, d = 64, bf16",
        "growth",
        {"batch": 1, "heads": 16, "n": 1024, "m": 1024, "d": 64, "dv": 64},
        {"batch": 1, "heads": 2, "n": 16, "m": 16, "d": 8, "dv": 8},
        ("ours", "SDPA flash", "SDPA cuDNN", "SDPA math"),
        dtype="bfloat16",
        up_to=65_536,
    ),
)

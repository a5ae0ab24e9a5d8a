"""Random attention calls, each held to the contract: ``python -m tests.battery --cases 20000``.

A case is a few numbers drawn from a seed. It must stay within the error budget in its output and in
every gradient, give the same bits twice, and give the same bits when what is hidden holds garbage.
A failure is shrunk: every number is made smaller and every option left out as long as it still
fails, and what remains is printed as a line that runs again.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import asdict, dataclass, replace

import torch

from regard.masks import Mask
from tests.cases import MASKS, SCORES, Case

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
LAYOUTS = ("plain", "transposed", "every-other", "expanded", "offset")
GARBAGE = (float("nan"), float("inf"), 3e38, 1e4)
SIZES = ("batch", "heads", "n", "m", "d", "v")
MOST = 1 << 20  # pair-features of a case: what the definition can do quickly


@dataclass(frozen=True)
class Spec:
    """A case as numbers and names."""

    batch: int = 1
    heads: int = 1
    n: int = 1
    m: int = 1
    d: int = 1
    v: int = 1
    score: str = "dot"
    mask: str = "none"
    dtype: str = "float32"
    impl: str = "cpu"
    layout: str = "plain"
    dropout: float = 0.0
    size: float = 1.0  # of the numbers
    away: float = 0.0  # how far from the origin
    seed: int = 0
    device: str = "cpu"

    def __str__(self) -> str:
        """As the line that makes it again, with what is not the default."""
        told = {k: x for k, x in asdict(self).items() if x != getattr(Spec(), k)}
        return f"Spec({', '.join(f'{k}={x!r}' for k, x in told.items())})"


def draw(rng: random.Random, device: str = "cpu") -> Spec:
    """A random case, small sizes and sizes around a tile's edge more often than others."""

    def size(most: int) -> int:
        kind = rng.random()
        if kind < 0.15:
            return rng.choice((1, 2, 31, 32, 33, 127, 128, 129))
        return min(int(2 ** rng.uniform(0, most.bit_length())), most)

    spec = Spec(
        batch=rng.choice((0, 1, 1, 2, 3, 5)),
        heads=rng.choice((1, 1, 2, 3)),
        n=0 if rng.random() < 0.02 else size(257),
        m=0 if rng.random() < 0.02 else size(1025),
        d=size(512),
        v=size(512),
        score=rng.choice(list(SCORES)),
        mask=rng.choice(list(MASKS)),
        dtype=rng.choice(("float32", "float32", "float32", "bfloat16", "float16")),
        impl=rng.choice(("cpu", "cpu", "cpu", "auto")),
        layout=rng.choice(LAYOUTS),
        dropout=rng.choice((0.0, 0.0, 0.0, 0.1, 0.5)),
        size=rng.choice((1.0, 1.0, 0.01, 3.0)),
        away=rng.choice((0.0, 0.0, 10.0)),
        seed=rng.randrange(1 << 30),
    )
    while spec.batch * spec.heads * spec.n * spec.m * (spec.d + spec.v) > MOST:
        largest = max(("n", "m", "d", "v"), key=lambda name: getattr(spec, name))
        spec = replace(spec, **{largest: getattr(spec, largest) // 2})
    # elsewhere than on the CPU, whatever is chosen there
    return spec if device == "cpu" else replace(spec, device=device, impl="auto")


def laid_out(x: torch.Tensor, layout: str) -> torch.Tensor:
    """The same numbers with other strides."""
    match layout:
        case "transposed":
            return x.transpose(-1, -2).contiguous().transpose(-1, -2)
        case "every-other":
            return x.repeat_interleave(2, -1)[..., ::2]
        case "offset":
            return torch.cat((x.new_zeros(*x.shape[:-1], 1), x), -1)[..., 1:]
        case "expanded":
            return x[..., :1, :, :].expand(x.shape) if x.shape[-3] else x
        case _:
            return x


def build(spec: Spec) -> tuple[Case, torch.dtype]:
    """The inputs of a case."""
    g = torch.Generator().manual_seed(spec.seed)

    def normal(rows: int, features: int, away: float) -> torch.Tensor:
        shape = (spec.batch, spec.heads, rows, features)
        x = torch.randn(shape, generator=g, dtype=torch.float64) * spec.size + away
        return laid_out(x, spec.layout)

    case = Case(
        normal(spec.n, spec.d, spec.away),
        normal(spec.m, spec.d, spec.away),
        normal(spec.m, spec.v, 0.0),
        SCORES[spec.score](spec.d, spec.heads),
        MASKS[spec.mask](spec.batch, spec.n, spec.m),
        spec.dropout,
        spec.seed,
        spec.device,
    )
    return case, DTYPES[spec.dtype]


def hidden(mask: Mask | None, spec: Spec) -> torch.Tensor:
    """The keys that no query of their batch entry sees, [batch, heads, m]."""
    shape = (spec.batch, spec.heads)
    if mask is None:
        return torch.zeros(*shape, spec.m, dtype=torch.bool)
    return ~mask.dense(spec.n, spec.m, batch=shape).any(-2)


def check(spec: Spec) -> float:
    """Raise AssertionError unless the contract holds; how much of the budget was used."""
    case, dtype = build(spec)
    case.agree(spec.impl, dtype)
    first, again = (case.run(spec.impl, dtype, dtype) for _ in range(2))
    assert torch.equal(first.out, again.out), "out changes on repeat"
    for name, g in first.grads.items():
        assert torch.equal(g, again.grads[name]), f"gradient of {name} changes on repeat"
    gone = hidden(case.mask, spec).unsqueeze(-1)
    if gone.any():
        garbage = GARBAGE[spec.seed % len(GARBAGE)]
        clean, spoiled = (  # both filled: the layout alone may change the bits of a matrix product
            replace(case, k=case.k.masked_fill(gone, x), v=case.v.masked_fill(gone, x)).run(
                spec.impl, dtype, dtype
            )
            for x in (0.0, garbage)
        )
        assert torch.equal(spoiled.out, clean.out), f"{garbage} in a hidden key changes out"
        for name, g in clean.grads.items():
            got = spoiled.grads[name]
            assert torch.equal(got, g), f"{garbage} in a hidden key changes gradient of {name}"
        for name in ("k", "v"):
            there = spoiled.grads[name].masked_select(gone.to(spec.device))
            assert not there.any(), f"a hidden key has a gradient of {name}"
    return max(case.used(spec.impl, dtype).values())


def failure(spec: Spec) -> str:
    """What is wrong with a case; empty if nothing is."""
    try:
        check(spec)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return f"{type(error).__name__}: {error}"
    return ""


def shrink(spec: Spec, seconds: float = 20.0) -> Spec:
    """The smallest case found in a while that still fails."""
    simplest, stop = Spec(), time.monotonic() + seconds
    if spec.device != "cpu":  # elsewhere the default is refused, which is no finding
        simplest = Spec(impl=spec.impl, device=spec.device)
    changed = True
    while changed and time.monotonic() < stop:
        changed = False
        for name in asdict(spec):
            value = getattr(spec, name)
            tries = [getattr(simplest, name)]
            if isinstance(value, int) and name != "seed":
                tries += [value // 2, value - 1]
            for smaller in tries:
                if smaller == value or (name in SIZES and smaller < min(value, 1)):
                    continue
                candidate = replace(spec, **{name: smaller})
                if failure(candidate):
                    spec, changed = candidate, True
                    break
    return spec


def run(cases: int, seed: int, seconds: float = float("inf"), device: str = "cpu") -> list[str]:
    """Draw and check cases; what failed, shrunk, one line each."""
    rng = random.Random(seed)
    found, used, start = [], [], time.monotonic()
    for number in range(cases):
        spec = draw(rng, device)
        try:
            used.append(check(spec))
        except Exception:  # noqa: BLE001 - whatever it is, it is a finding
            small = shrink(spec)
            found.append(f"case {number}: {small}: {failure(small)}")
            print(found[-1], flush=True)  # noqa: T201 - the battery's own report
        if time.monotonic() - start > seconds:
            break
        if sys.stderr.isatty() and number % 20 == 0:
            print(f"\r{number + 1:,} of {cases:,}, {len(found)} failed", end="", file=sys.stderr)  # noqa: T201
    used.sort()
    if used:
        high = used[min(int(len(used) * 0.999), len(used) - 1)]
        print(  # noqa: T201
            f"{len(used):,} cases within budget, {len(found)} failed, seed {seed}; "
            f"of the budget used: median {used[len(used) // 2]:.2f}, 99.9% {high:.2f}, "
            f"most {used[-1]:.2f}; {time.monotonic() - start:.0f} s"
        )
    return found


def main() -> int:
    """Run as many cases as asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=20_000, help="how many (%(default)s)")
    parser.add_argument("--seed", type=int, default=None, help="default: drawn, and printed")
    parser.add_argument("--device", default="cpu", help="where to run them (%(default)s)")
    told = parser.parse_args()
    if told.device.startswith("cuda") and not torch.cuda.is_available():
        parser.error("there is no GPU here")
    seed = random.SystemRandom().randrange(1 << 30) if told.seed is None else told.seed
    print(f"seed {seed}")  # noqa: T201
    return 1 if run(told.cases, seed, device=told.device) else 0


if __name__ == "__main__":
    sys.exit(main())

"""The inputs of a case on a GPU, the definition in float64, and everybody who computes it.

What a provider needs before the call, a compiler or a mask written out, is done when it is made
ready and not timed with the call; what FlexAttention builds is measured apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention, softmax

from benchmarks.gpu_cases import GpuCase
from regard import Additive, Causal, Dot, Gaussian, Lengths, Window, attend, explain
from regard.masks import Mask
from regard.scores import Score

__all__ = [
    "Answer",
    "CannotRunError",
    "Peer",
    "Problem",
    "batches",
    "exact",
    "flex_mask",
    "make_problem",
    "once",
    "peer",
]

Answer = dict[str, Tensor]  # the output and, if asked for, every gradient
AT_A_TIME = 2**27  # float64 in memory at once, times a few: what the definition may need
WIDTH = 0.1  # of the Gaussian: many neighbours in the middle, few at the ends
CHUNK = 2000  # rows that "torch in chunks" makes at a time


class CannotRunError(RuntimeError):
    """A provider cannot run a case, and why."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Inputs of a case at one size."""

    case: GpuCase
    sizes: dict[str, int]
    q: Tensor
    k: Tensor
    v: Tensor
    dout: Tensor
    w: Tensor | None  # of the additive score
    lens: Tensor | None  # of a mask by lengths

    @property
    def learns(self) -> dict[str, Tensor]:
        """What gradients are taken with respect to."""
        return {"q": self.q, "k": self.k, "v": self.v} | ({} if self.w is None else {"w": self.w})

    def score(self) -> Score:
        """As regard takes it."""
        if self.case.score == "additive":
            return Additive(self.w)
        return Gaussian(WIDTH) if self.case.score == "gaussian" else Dot()

    def mask(self) -> Mask | None:
        """As regard takes it."""
        match self.case.mask:
            case "causal":
                return Causal()
            case "lengths":
                return Lengths(self.lens)
            case "window":
                return Window(left=self.sizes["window"], right=0)
        return None

    def seen(self, sequence: int, rows: Tensor) -> Tensor | None:
        """Which keys some queries of a sequence see, [r, m]; None: all. Not by regard's masks."""
        if self.case.mask == "none":
            return None
        j = torch.arange(self.k.shape[-2], device=rows.device)
        if self.case.mask == "lengths":
            return (j < self.lens[sequence]).expand(len(rows), -1)
        behind = rows[:, None] - j
        if self.case.mask == "causal":
            return behind >= 0
        return (behind >= 0) & (behind <= self.sizes["window"])


def make_problem(case: GpuCase, sizes: dict[str, int], device: str) -> Problem:
    """Normal inputs, the same for the same sizes."""
    drawn = torch.Generator(device).manual_seed(0)
    dtype = getattr(torch, case.dtype)
    batch = (sizes["batch"], *((sizes["heads"],) if "heads" in sizes else ()))

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=drawn, device=device).to(dtype)

    q, k = normal(*batch, sizes["n"], sizes["d"]), normal(*batch, sizes["m"], sizes["d"])
    v, dout = (normal(*batch, sizes[x], sizes.get("dv", 1)) for x in "mn")
    w = normal(sizes["d"]) / sizes["d"] ** 0.5 if case.score == "additive" else None
    lens = None
    if case.mask == "lengths":  # drawn on the CPU: the same lengths on every machine
        of_lengths = torch.Generator().manual_seed(1)
        least = max(sizes["m"] // 32, 1)
        lens = torch.randint(least, sizes["m"] + 1, (sizes["batch"],), generator=of_lengths)
        lens = lens.to(device)
    problem = Problem(case, sizes, q, k, v, dout, w, lens)
    for x in problem.learns.values():
        x.requires_grad_()
    return problem


def once(problem: Problem, direction: str, forward: Callable[[], Tensor]) -> Answer:
    """One call in a direction: what is checked is what is timed."""
    if direction == "forward":
        with torch.no_grad():
            return {"out": forward()}
    out = forward()
    learns = problem.learns
    grads = torch.autograd.grad(out, tuple(learns.values()), problem.dout)
    return {"out": out.detach(), **dict(zip(learns, grads, strict=True))}


def _scores(score: str, q: Tensor, k: Tensor, w: Tensor | None) -> Tensor:
    """As textbooks write them: everything broadcast."""
    if score == "additive":
        return torch.tanh(q.unsqueeze(-2) + k.unsqueeze(-3)) @ w
    if score == "gaussian":
        return -(((q.unsqueeze(-2) - k.unsqueeze(-3)) / WIDTH) ** 2).sum(-1) / 2
    return q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5


def exact(problem: Problem, *, grads: bool) -> tuple[Answer, Tensor]:
    """The definition in float64, a few rows at a time, and which rows those are.

    Written out here and not taken from regard: neither side of a comparison checks the other.
    """
    case = problem.case
    n, m = problem.q.shape[-2], problem.k.shape[-2]
    count = n if case.checked is None or grads else min(case.checked, n)
    device = problem.q.device
    chosen = torch.linspace(0, n - 1, count, dtype=torch.float64, device=device).round().long()
    q, k, v, dout = (
        x.detach().double().flatten(0, -3) for x in (problem.q, problem.k, problem.v, problem.dout)
    )
    heads = q.shape[0] // problem.q.shape[0]
    learns = {"q": q, "k": k, "v": v}
    if problem.w is not None:
        learns["w"] = problem.w.detach().double()
    found = {name: torch.zeros_like(x) for name, x in learns.items()} if grads else {}
    outs = q.new_zeros(len(q), count, v.shape[-1])
    wide = 1 if case.score == "dot" else q.shape[-1]
    step = max(AT_A_TIME // (m * wide), 1)
    for b in range(len(q)):
        for start in range(0, count, step):
            rows = chosen[start : start + step]
            leaves = {name: x if name == "w" else x[b] for name, x in learns.items()}
            leaves["q"] = leaves["q"][rows]
            leaves = {name: x.detach().requires_grad_(grads) for name, x in leaves.items()}
            s = _scores(case.score, leaves["q"], leaves["k"], leaves.get("w"))
            allowed = problem.seen(b // heads, rows)
            if allowed is not None:
                s = s.masked_fill(~allowed, -torch.inf)
            out = softmax(s, -1) @ leaves["v"]
            outs[b, start : start + step] = out.detach()
            if not grads:
                continue
            pulled = torch.autograd.grad(out, tuple(leaves.values()), dout[b][rows])
            for name, grad in zip(leaves, pulled, strict=True):
                if name == "w":
                    found["w"] += grad
                elif name == "q":
                    found["q"][b, rows] = grad
                else:
                    found[name][b] += grad
    like = problem.learns
    answer = {"out": outs.reshape(*problem.q.shape[:-2], count, -1)}
    answer |= {name: x.reshape(like[name].shape) for name, x in found.items()}
    return answer, chosen


@dataclass(frozen=True)
class Peer:
    """Somebody ready to run a problem: the call, what it must run within, what it came to."""

    forward: Callable[[], Tensor]
    within: Callable[[], AbstractContextManager[object]] = nullcontext
    impl: Callable[[], str] = str


def _ours(x: Problem, impl: str) -> Peer:
    score, mask = x.score(), x.mask()
    return Peer(
        lambda: attend(x.q, x.k, x.v, score=score, mask=mask, impl=impl),
        impl=lambda: explain(x.q, x.k, x.v, score=score, mask=mask, impl=impl).impl,
    )


def _textbook(score: str, q: Tensor, k: Tensor, v: Tensor, w: Tensor | None) -> Tensor:
    return softmax(_scores(score, q, k, w), -1) @ v


def _eager(x: Problem) -> Peer:
    pairs = x.q.shape[:-1].numel() * x.k.shape[-2]
    wide = 1 if x.case.score == "dot" else x.q.shape[-1]
    size = pairs * wide * x.q.element_size()
    if x.q.is_cuda and 2 * size > torch.cuda.get_device_properties(x.q.device).total_memory:
        what = "the sum and its tanh" if x.case.score == "additive" else "scores and weights"
        msg = f"{what} would take {size / 2**30:,.0f} GiB each: more than the GPU has"
        raise CannotRunError(msg)
    return Peer(lambda: _textbook(x.case.score, x.q, x.k, x.v, x.w))


def _compiled(x: Problem) -> Peer:
    if not x.q.is_cuda:
        msg = "a compiler is not waited for without a GPU"
        raise CannotRunError(msg)
    torch._dynamo.reset()  # noqa: SLF001 - past 8 sizes it would run eagerly and not say so
    compiled = torch.compile(_textbook, dynamic=False, fullgraph=True)
    return Peer(lambda: compiled(x.case.score, x.q, x.k, x.v, x.w))


def _chunked(x: Problem) -> Peer:
    def forward() -> Tensor:
        pieces = (_textbook(x.case.score, q, x.k, x.v, x.w) for q in x.q.split(CHUNK, dim=-2))
        return torch.cat(list(pieces), -2)

    return Peer(forward)


def _sdpa(x: Problem, backend: SDPBackend | None) -> Peer:
    causal = x.case.mask == "causal"
    if backend is SDPBackend.FLASH_ATTENTION and x.case.mask in {"lengths", "window"}:
        msg = "takes no mask but the causal one"
        raise CannotRunError(msg)
    seen = None
    if x.case.mask in {"lengths", "window"}:
        n = x.q.shape[-2]
        rows = torch.arange(n, device=x.q.device)
        count = x.q.shape[0] if x.case.mask == "lengths" else 1
        seen = torch.stack([x.seen(b, rows) for b in range(count)]).unsqueeze(1)

    def forward() -> Tensor:
        return scaled_dot_product_attention(x.q, x.k, x.v, seen, is_causal=causal)

    def within() -> AbstractContextManager[object]:
        return nullcontext() if backend is None else sdpa_kernel(backend)

    return Peer(forward, within)


def flex_mask(x: Problem) -> Callable[[], object] | None:
    """What builds the mask that FlexAttention wants; None where it wants none."""
    from torch.nn.attention.flex_attention import create_block_mask  # noqa: PLC0415 - slow

    if x.case.mask == "none":
        return None
    # each closes over no more than it needs: torch's compiler traces what it finds
    lens, window = x.lens, x.sizes.get("window", 0)

    def by_length(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:  # noqa: ARG001 - Flex's
        return j < lens[b]

    def causal(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:  # noqa: ARG001
        return i >= j

    def near(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:  # noqa: ARG001
        return (i >= j) & (i - j <= window)

    seen = {"lengths": by_length, "causal": causal, "window": near}[x.case.mask]
    batch = x.q.shape[0] if x.case.mask == "lengths" else None
    n, m = x.q.shape[-2], x.k.shape[-2]
    return lambda: create_block_mask(seen, batch, None, n, m, device=x.q.device)


def _flex(x: Problem) -> Peer:
    from torch.nn.attention.flex_attention import flex_attention  # noqa: PLC0415 - slow

    run = flex_attention
    if x.q.is_cuda:
        torch._dynamo.reset()  # noqa: SLF001 - past 8 masks it would run eagerly
        run = torch.compile(flex_attention, dynamic=False, fullgraph=True)
    build = flex_mask(x)
    mask = None if build is None else build()

    def forward() -> Tensor:
        given = (x.q, x.k, x.v)
        if not x.q.is_cuda and not torch.is_grad_enabled():
            given = tuple(y.detach() for y in given)  # on a CPU it refuses what might learn
        with _quiet(x.q):
            return run(*given, block_mask=mask)

    return Peer(forward)


def _quiet(x: Tensor) -> AbstractContextManager[object]:
    """Without a GPU nothing is compiled, and Flex warns that it is slow: here it may be."""
    return nullcontext() if x.is_cuda else _unwarned()


@contextmanager
def _unwarned() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_BACKENDS = {
    "SDPA": None,
    "SDPA cuDNN": SDPBackend.CUDNN_ATTENTION,
    "SDPA flash": SDPBackend.FLASH_ATTENTION,
    "SDPA math": SDPBackend.MATH,
}


def peer(name: str, problem: Problem) -> Peer:
    """Make a provider ready for a problem, or raise CannotRunError."""
    if name in _BACKENDS:
        return _sdpa(problem, _BACKENDS[name])
    if name == "ours":
        # without a GPU this only tries the plumbing: no kernel is compiled for that
        return _ours(problem, "auto" if problem.q.is_cuda else "reference")
    if name.startswith("ours, "):
        return _ours(problem, name.removeprefix("ours, "))
    others = {"eager": _eager, "compiled": _compiled, "torch in chunks": _chunked}
    return {**others, "FlexAttention": _flex}[name](problem)


def batches(problem: Problem, lengths: list[int]) -> Iterator[Problem]:
    """The problem cut to each of some lengths, in memory of its own."""
    for n in lengths:
        q, k, v, dout = (
            x.detach()[..., :n, :].contiguous()
            for x in (problem.q, problem.k, problem.v, problem.dout)
        )
        cut = Problem(problem.case, problem.sizes | {"n": n, "m": n}, q, k, v, dout, None, None)
        for x in cut.learns.values():
            x.requires_grad_()
        yield cut

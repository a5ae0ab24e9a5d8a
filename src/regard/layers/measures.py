"""Four quantities of a layer: its time, operations, operations that wait, and longest path."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from time import perf_counter

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from regard.layers.compared import Layer

__all__ = ["longest_path", "operations", "seconds", "sequential_steps"]

ROUND = 0.01  # seconds a timed round takes at least, by calling several times


def seconds(
    calls: Sequence[Callable[[], object]], repeats: int, device: torch.device
) -> tuple[float, ...]:
    """What each call takes: the least over the rounds, as other work can only add to it.

    Every round times every call, so that a minute in which the machine is busy spoils a round of
    all of them and not all rounds of one.
    """

    def clock(call: Callable[[], object], times: int) -> float:
        start = perf_counter()
        for _ in range(times):
            call()
        if device.type != "cpu":
            torch.accelerator.synchronize(device)
        return perf_counter() - start

    for call in calls:
        clock(call, 1)  # the first allocates, and chooses its kernels
    loops = [min(max(math.ceil(ROUND / max(clock(call, 1), 1e-9)), 1), 1000) for call in calls]
    rounds = [
        [clock(call, times) / times for call, times in zip(calls, loops, strict=True)]
        for _ in range(repeats)
    ]
    return tuple(map(min, zip(*rounds, strict=True)))


def operations(layer: Layer, x: Float[Tensor, "b n d"]) -> int:
    """Multiplications and additions in the matrix products and convolutions of one forward call.

    Counted by torch as they are run. It sees nothing inside a fused operator, so give it attention
    with ``impl="reference"``. Exponentials and other work of one number each are not counted.

    >>> import torch
    >>> from regard.layers.compared import SelfAttention
    >>> operations(SelfAttention("reference"), torch.zeros(1, 5, 3))  # 2 products, 2 n n d each
    300
    """
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        layer(x)
    return int(counter.get_total_flops())


def sequential_steps(layer: Layer, x: Float[Tensor, "b n d"]) -> int:
    """The longest chain of operations that wait for each other, in the graph autograd recorded.

    An operation on whole tensors is one step: inside it, positions need not wait for each other.

    >>> import torch
    >>> from regard.layers.compared import Convolution
    >>> few, many = torch.zeros(1, 5, 3), torch.zeros(1, 9, 3)
    >>> sequential_steps(Convolution(3, 3), few) == sequential_steps(Convolution(3, 3), many)
    True
    """
    last = layer(x.detach().requires_grad_()).grad_fn
    depth: dict[torch.autograd.graph.Node, int] = {}
    waiting = [last]
    while waiting:  # not by recursion: a long sequence is deeper than python's stack
        node = waiting[-1]
        inputs = [before for before, _ in node.next_functions if before is not None]
        unknown = [before for before in inputs if before not in depth]
        if unknown:
            waiting += unknown
        else:
            waiting.pop()
            depth[node] = 1 + max((depth[before] for before in inputs), default=0)
    return depth[last]


def longest_path(layer: Layer, n: int, width: int = 2, ends: range | None = None) -> int:
    """Rounds until every position that can be felt at one of ``ends`` is felt there.

    A gradient that is not zero means that it is felt. It is sent back from the ends one round at a
    time (a layer deeper, or a step earlier) and noted where it arrives first. Weights and inputs
    are set so that nothing cancels, saturates or underflows: weights positive, inputs zero, and
    after each round only *whether* a gradient arrived goes on.

    Args:
        layer: its weights are replaced by their absolute values, in float64.
        n: positions.
        width: d of the layer.
        ends: positions to look from; None: the first and the last.

    Returns:
        The longest of the shortest ways.

    >>> from regard.layers.compared import Convolution
    >>> longest_path(Convolution(4, kernel=5), n=9, width=4)  # two positions a layer
    4

    """
    layer = layer.double()
    with torch.no_grad():
        for weight in layer.parameters():
            weight.abs_().add_(0.01)
    looking = torch.tensor([0, n - 1] if ends is None else list(ends))
    felt = torch.zeros(len(looking), n, dtype=torch.bool)
    new = torch.zeros_like(felt)
    new[torch.arange(len(looking)), looking] = True
    rounds = longest = 0
    seen = torch.zeros_like(felt)  # where a gradient has been: from there it need not go on again
    while new.any():
        rounds += 1
        seen |= new
        x, h = (
            torch.zeros(len(looking), n, width, dtype=torch.float64, requires_grad=True)
            for _ in range(2)
        )
        sent = new[..., None].expand_as(h).double()
        pulled = torch.autograd.grad(
            layer.round(x, h), (x, h), sent, allow_unused=True, materialize_grads=True
        )
        to_inputs, to_states = ((gradient != 0).any(-1) for gradient in pulled)
        arrived = to_states if layer.along == "depth" else to_inputs
        if (arrived & ~felt).any():
            longest = rounds
        felt |= arrived
        new = to_states & ~seen
    return longest

"""The loop where launches cost nothing: products over the batch, and kernels between them.

As ``definition.run`` and ``gradients.steps_back``, but everything is written where it is wanted at
once, and what is multiplied by the same numbers is one product: a top state makes the query and
its own part of the gates, and gets its gradient from both.
"""

from __future__ import annotations

import torch
import triton
from jaxtyping import Float
from torch import Tensor

from regard.attention.triton.fusion import FUSED
from regard.layers.unrolled.definition import LEAST, Arguments, Trace
from regard.layers.unrolled.gpu import on_its_gpu, some
from regard.layers.unrolled.gradients import Steps
from regard.layers.unrolled.stepwise_kernels import (
    gate_back_kernel,
    gate_kernel,
    look_back_kernel,
    look_kernel,
    pairs_kernel,
)

__all__ = ["keys_and_w", "run", "steps_back"]

# in a tile: tokens in registers, and features, four a thread of one warp and of four
TOKENS, NARROW, WIDE = 32, 128, 512


def run(given: Arguments) -> Trace:
    """All steps forward, as ``definition.run``."""
    with on_its_gpu(given):
        return _run(given)


def steps_back(given: Arguments, trace: Trace, d_outputs: Tensor, d_states: Tensor) -> Steps:
    """All steps backward, as ``gradients.steps_back``."""
    with on_its_gpu(given):
        return _steps_back(given, trace, d_outputs, d_states)


def keys_and_w(
    given: Arguments, queries: Float[Tensor, "T b a"], d_scores: Float[Tensor, "T b m"]
) -> tuple[Float[Tensor, "b m a"], Float[Tensor, " a"]]:
    """The gradients that are sums over all steps, as ``gradients.keys_and_w``."""
    (steps, b, a), m = queries.shape, given.keys.shape[1]
    few = 4  # tokens a program: their keys and two sums stay in registers through all steps
    wide = min(triton.next_power_of_2(a), WIDE)
    grid = b, triton.cdiv(m, few), triton.cdiv(a, wide)
    keys = given.keys.contiguous()
    d_keys, d_w = torch.empty_like(keys), keys.new_empty(*grid[:2], a)
    with on_its_gpu(given):
        pairs_kernel[grid](
            queries.contiguous(), keys, given.w_v.contiguous(), d_scores.contiguous(),
            d_keys, d_w, steps, b, m, A=a, BM=few, BA=wide, num_warps=4,
            **FUSED,
        )  # fmt: skip
    return d_keys, d_w.sum((0, 1))


def _looking(given: Arguments) -> dict[str, int]:
    """The sizes and tiles of the kernels that look."""
    m, a = given.keys.shape[1:]
    v = given.values.shape[-1]
    padded, wide = triton.next_power_of_2(m), min(triton.next_power_of_2(max(a, v)), WIDE)
    tiles = {"BM": padded, "BA": min(NARROW, wide), "BN": wide, "num_warps": 8}
    if padded < TOKENS and max(a, v) <= WIDE:  # all that is summed at once: nothing waits twice
        tiles |= {"BA": wide, "num_warps": 4}
    elif padded > TOKENS:
        tiles["BM"] = TOKENS // 2  # beside sums over the tiles
    return {"A": a, "V": v, "MP": padded, **tiles}


def _gates(given: Arguments) -> tuple[tuple[int, int], dict[str, int]]:
    """The grid, sizes and tiles of the kernels of the gates."""
    layers, b, h = given.states.shape
    wide = min(triton.next_power_of_2(h), WIDE)
    return (b, triton.cdiv(h, wide)), {"L": layers, "H": h, "BN": wide, "num_warps": 4}


def _run(given: Arguments) -> Trace:
    steps, (layers, b, h) = given.inputs.shape[0], given.states.shape
    m, a = given.keys.shape[1:]
    states = given.states.new_empty(layers, steps + 1, b, h)
    states[:, 0] = given.states
    gates = states.new_empty(layers, steps, b, 4 * h)
    contexts = states.new_empty(steps, b, given.values.shape[-1])
    weights, queries = states.new_empty(steps, b, m), states.new_empty(steps, b, a)
    dropped = given.keep_states is not None
    fed = states.new_empty(layers - 1, steps, b, h) if dropped else states[:-1, 1:]
    # the query and the top layer's gh; the other layers' gh; a layer's gi
    top, gh, gi = (states.new_empty(b, n) for n in (a + 3 * h, 3 * h, 3 * h))
    of_top = torch.cat((given.W_q, given.cells[-1].W_hh)).T
    keys, values, w_v = (x.contiguous() for x in (given.keys, given.values, given.w_v))
    allowed, keep_weights = some(given.allowed, states), some(given.keep_weights, states)
    inputs, keep_states = given.inputs.contiguous(), some(given.keep_states, states)
    looking, (grid, sizes) = _looking(given), _gates(given)
    for t in range(steps):
        torch.mm(states[-1, t], of_top, out=top)
        look_kernel[(b,)](
            top, keys, values, allowed, w_v, keep_weights, queries, weights, contexts, t, b, m,
            W=a + 3 * h, HAS_ALLOWED=given.allowed is not None,
            HAS_KEEP=given.keep_weights is not None, LEAST=LEAST, **looking,
            **FUSED,
        )  # fmt: skip
        x = contexts[t]
        for layer, cell in enumerate(given.cells):
            torch.mm(x, cell.W_ih.T, out=gi)
            made, first = (top, a) if layer == layers - 1 else (gh, 0)
            if made is gh:
                torch.mm(states[layer, t], cell.W_hh.T, out=gh)
            gate_kernel[grid](
                gi, made, some(cell.b_ih, inputs), cell.b_hh.contiguous(),
                keep_states, states, gates, fed, steps, t, b,
                layer=layer, W=made.shape[1], FIRST=first, HAS_KEEP=dropped, **sizes,
                **FUSED,
            )  # fmt: skip
            if layer < layers - 1:
                x = fed[layer, t]
    return Trace(states, gates, contexts, fed, weights, queries)


def _steps_back(given: Arguments, trace: Trace, d_outputs: Tensor, d_states: Tensor) -> Steps:
    steps, (layers, b, h) = given.inputs.shape[0], given.states.shape
    m, a = given.keys.shape[1:]
    carried = d_states.contiguous().clone()
    d_fed = carried.new_empty(b, h)
    # with a place for the query's gradient behind the top layer's: they are multiplied together
    found = carried.new_empty(layers, steps, b, 4 * h + a)
    d_contexts, d_scores = torch.empty_like(trace.contexts), torch.empty_like(trace.weights)
    # both sides of a product lie along what is summed, as a GPU's units for tf32 want it
    into = [torch.cat((x.W_ih[2 * h :].T, x.W_ih[: 2 * h].T), 1).T for x in given.cells]
    back = [x.W_hh.T.contiguous().T for x in given.cells[:-1]]
    of_top = torch.cat((given.cells[-1].W_hh.T, given.W_q.T), 1).T
    keys, values, w_v = (x.contiguous() for x in (given.keys, given.values, given.w_v))
    keep_weights, keep_states = (some(x, carried) for x in (given.keep_weights, given.keep_states))
    d_outputs, dropped = d_outputs.contiguous(), given.keep_states is not None
    looking, (grid, sizes) = _looking(given), _gates(given)
    for t in reversed(range(steps)):
        for layer in reversed(range(layers)):
            gate_back_kernel[grid](
                trace.states, trace.gates, keep_states,
                d_outputs if layer == layers - 1 else d_fed, carried, found, steps, t, b,
                layer=layer, W=4 * h + a, HAS_KEEP=dropped, **sizes,
                **FUSED,
            )  # fmt: skip
            grads = found[layer, t]
            torch.mm(grads[:, : 3 * h], into[layer], out=d_fed if layer else d_contexts[t])
            if layer < layers - 1:
                carried[layer].addmm_(grads[:, h : 4 * h], back[layer])
        look_back_kernel[(b,)](
            trace.queries, keys, values, w_v, keep_weights, trace.weights, d_contexts, d_scores,
            found, steps, t, b, m, L=layers, H=h, HAS_KEEP=given.keep_weights is not None,
            **looking,
            **FUSED,
        )  # fmt: skip
        carried[-1].addmm_(found[-1, t, :, h:], of_top)
    return Steps(found[..., : 4 * h], d_contexts, d_scores, found[-1, ..., 4 * h :], carried)

"""From tensors to the kernels of the recurrence: layout and launch."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
import triton
from torch import Tensor

from regard.attention.triton.fusion import FUSED
from regard.layers.unrolled.definition import LEAST, Arguments, Trace
from regard.layers.unrolled.gradients import Steps, candidate_first
from regard.layers.unrolled.kernels import backward_kernel, forward_kernel

__all__ = ["on_its_gpu", "run", "some", "steps_back"]

TILES = {"BK": 32, "BN": 256, "BM": 16, "num_warps": 16}


def _sizes(given: Arguments) -> tuple[int, int, int, dict[str, int]]:
    """T, b, m, and the sizes a kernel is compiled for."""
    layers, b, h = given.states.shape
    m, a = given.keys.shape[1:]
    fixed = {"L": layers, "H": h, "A": a, "V": given.values.shape[-1]}
    return given.inputs.shape[0], b, m, {**fixed, "MP": triton.next_power_of_2(m)}


def some(x: Tensor | None, other: Tensor) -> Tensor:
    """A kernel wants some pointer, also where it does not read."""
    return other if x is None else x.contiguous()


def run(given: Arguments) -> Trace:
    """All steps forward, as ``definition.run``."""
    with on_its_gpu(given):
        return _run(given)


def steps_back(given: Arguments, trace: Trace, d_outputs: Tensor, d_states: Tensor) -> Steps:
    """All steps backward, as ``gradients.steps_back``."""
    with on_its_gpu(given):
        return _steps_back(given, trace, d_outputs, d_states)


def on_its_gpu(given: Arguments) -> AbstractContextManager[object]:
    """Kernels start on the current GPU, which need not be the tensors'."""
    device = given.inputs.device
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def _run(given: Arguments) -> Trace:
    steps, b, m, sizes = _sizes(given)
    layers, h = sizes["L"], sizes["H"]
    states = given.states.new_empty(layers, steps + 1, b, h)
    states[:, 0] = given.states
    gates = states.new_empty(layers, steps, b, 4 * h)
    contexts, weights = states.new_empty(steps, b, sizes["V"]), states.new_empty(steps, b, m)
    queries = states.new_empty(steps, b, sizes["A"])
    dropped = given.keep_states is not None
    fed = states.new_empty(layers - 1, steps, b, h) if dropped else states[:-1, 1:]
    above = given.cells[1:]
    # products run along rows here, so the weights lie transposed
    forward_kernel[(b,)](
        given.inputs.contiguous(), states, given.keys.contiguous(), given.values.contiguous(),
        some(given.allowed, states), given.W_q.T.contiguous(), given.w_v.contiguous(),
        given.cells[0].W_ih.T.contiguous(),
        torch.stack([x.W_ih.T for x in above]) if above else states,
        torch.stack([x.W_hh.T for x in given.cells]),
        torch.stack([x.b_ih for x in above if x.b_ih is not None]) if above else states,
        torch.stack([x.b_hh for x in given.cells]),
        some(given.keep_weights, states), some(given.keep_states, states),
        gates, fed, contexts, weights, queries, steps, b, m, **sizes,
        HAS_ALLOWED=given.allowed is not None, HAS_KEEP=given.keep_weights is not None,
        HAS_KEEP_STATES=dropped, LEAST=LEAST, **TILES,
        **FUSED,
    )  # fmt: skip
    return Trace(states, gates, contexts, fed, weights, queries)


def _steps_back(given: Arguments, trace: Trace, d_outputs: Tensor, d_states: Tensor) -> Steps:
    steps, b, m, sizes = _sizes(given)
    h = sizes["H"]
    carried = d_states.contiguous().clone()
    passed = carried.new_empty(b, h)
    found, d_contexts = torch.empty_like(trace.gates), torch.empty_like(trace.contexts)
    d_scores, d_queries = torch.empty_like(trace.weights), torch.empty_like(trace.queries)
    above = given.cells[1:]
    backward_kernel[(b,)](
        trace.states, given.keys.contiguous(), given.values.contiguous(),
        given.W_q.contiguous(), given.w_v.contiguous(),
        candidate_first(given.cells[0].W_ih, h),
        torch.stack([candidate_first(x.W_ih, h) for x in above]) if above else carried,
        torch.stack([x.W_hh for x in given.cells]),
        some(given.keep_weights, carried), some(given.keep_states, carried),
        trace.gates, trace.weights, trace.queries, d_outputs.contiguous(),
        carried, passed, found, d_contexts, d_scores, d_queries, steps, b, m, **sizes,
        HAS_KEEP=given.keep_weights is not None,
        HAS_KEEP_STATES=given.keep_states is not None, **TILES,
        **FUSED,
    )  # fmt: skip
    return Steps(found, d_contexts, d_scores, d_queries, carried)

"""The way back through the steps, with as little as possible inside the recurrence.

What autograd would do at every step is done here once for all of them: the gradients of the
weights are single matrix products after the steps, and a step is a handful of products with
factors prepared for all steps together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from regard.layers.unrolled.definition import Arguments, Trace

__all__ = ["Steps", "candidate_first", "keys_and_w", "steps_back", "sums"]

KeysAndW = Callable[[Arguments, Tensor, Tensor], tuple[Tensor, Tensor]]

CHUNK = 1 << 23  # pair-features whose tanh is held at once


class Steps(NamedTuple):
    """The gradients that flow from step to step."""

    found: Float[Tensor, "L T b 4h"]  # of the sums c, r, z, and of gh_c
    contexts: Float[Tensor, "T b v"]
    scores: Float[Tensor, "T b m"]
    queries: Float[Tensor, "T b a"]
    states: Float[Tensor, "L b h"]  # before the first step


def steps_back(
    given: Arguments, trace: Trace, d_outputs: Float[Tensor, "T b h"], d_states: Tensor
) -> Steps:
    """From the last step to the first."""
    steps, (layers, b, h) = given.inputs.shape[0], given.states.shape
    factors = _factors(trace.states[:, :-1], trace.gates)
    into = [candidate_first(cell.W_ih, h) for cell in given.cells]
    found = torch.empty_like(trace.gates)
    d_contexts, d_scores = torch.empty_like(trace.contexts), torch.empty_like(trace.weights)
    d_queries = torch.empty_like(trace.queries)
    carried = list(d_states.unbind())
    for t in reversed(range(steps)):
        d = carried[-1] + d_outputs[t]
        for layer in reversed(range(layers)):
            grads = found[layer, t]
            torch.mul(d.unsqueeze(1), factors[layer, t, :, :4], out=grads.view(b, 4, h))
            straight = d * factors[layer, t, :, 4]
            carried[layer] = torch.addmm(straight, grads[:, h:], given.cells[layer].W_hh)
            if not layer:
                torch.mm(grads[:, : 3 * h], into[0], out=d_contexts[t])
            elif given.keep_states is None:
                d = torch.addmm(carried[layer - 1], grads[:, : 3 * h], into[layer])
            else:
                d_fed = grads[:, : 3 * h] @ into[layer]
                d = torch.addcmul(carried[layer - 1], d_fed, given.keep_states[t, layer - 1])
        d_weight = torch.bmm(given.values, d_contexts[t].unsqueeze(2)).squeeze(2)
        if given.keep_weights is not None:
            d_weight = d_weight * given.keep_weights[t]
        d_weight = d_weight * trace.weights[t]
        total = d_weight.sum(-1, keepdim=True)
        torch.addcmul(d_weight, trace.weights[t], total, value=-1, out=d_scores[t])
        # a row of d_scores sums to 0, so of tanh' = 1 - tanh^2 only the square remains
        squares = (trace.queries[t].unsqueeze(1) + given.keys).tanh_().square_()
        d_features = torch.bmm(d_scores[t].unsqueeze(1), squares).squeeze(1)
        torch.mul(d_features, -given.w_v, out=d_queries[t])
        carried[-1] = torch.addmm(carried[-1], d_queries[t], given.W_q)
    return Steps(found, d_contexts, d_scores, d_queries, torch.stack(carried))


def sums(
    given: Arguments, trace: Trace, back: Steps, pairs: KeysAndW | None = None
) -> tuple[Tensor, ...]:
    """The gradients of all arguments, listed as ``Arguments.tensors`` lists them.

    Those of the keys and of w_v by ``pairs``, or else by ``keys_and_w``.
    """
    h = given.states.shape[-1]
    before = trace.states[:, :-1].flatten(1, 2)  # [L, T * b, h]
    dropped = trace.weights
    if given.keep_weights is not None:
        dropped = dropped * given.keep_weights
    d_values = torch.bmm(dropped.permute(1, 2, 0), back.contexts.transpose(0, 1))
    d_keys, d_w = (pairs or keys_and_w)(given, trace.queries, back.scores)
    d_W_q = back.queries.flatten(0, 1).T @ before[-1]
    d_cells: list[Tensor] = []
    for layer, grads in enumerate(back.found.flatten(1, 2)):
        below = trace.fed[layer - 1] if layer else trace.contexts
        d_W_ih = _candidate_last(grads[:, : 3 * h].T @ below.flatten(0, 1), h)
        total = grads.sum(0)
        d_cells += [d_W_ih, grads[:, h:].T @ before[layer], total[h:]]
        if layer:
            d_cells.append(_candidate_last(total[: 3 * h], h))
    first = back.found[0]
    d_inputs = torch.cat((first[..., h : 3 * h], first[..., :h]), -1)
    return (d_inputs, back.states, d_keys, d_values, d_W_q, d_w, *d_cells)


def _factors(before: Float[Tensor, "L T b h"], gates: Float[Tensor, "L T b 4h"]) -> Tensor:
    """What the gradient of a new state is multiplied by: [L, T, b, 5, h].

    To get the gradients of the candidate's, r's and z's sums, of gh_c, and of the old state by the
    straight way.
    """
    r, z, c, gh_c = gates.chunk(4, -1)
    of_c = (1 - z) * (1 - c * c)
    of_r = of_c * gh_c * (r * (1 - r))
    of_z = (before - c) * (z * (1 - z))
    return torch.stack((of_c, of_r, of_z, of_c * r, z), 3)


def candidate_first(w: Tensor, h: int) -> Tensor:
    """Rows r, z, c in the order of the factors: c, r, z."""
    return torch.cat((w[2 * h :], w[: 2 * h]))


def _candidate_last(w: Tensor, h: int) -> Tensor:
    """Rows c, r, z in torch's order: r, z, c."""
    return torch.cat((w[h:], w[:h]))


def keys_and_w(
    given: Arguments, queries: Float[Tensor, "T b a"], d_scores: Float[Tensor, "T b m"]
) -> tuple[Float[Tensor, "b m a"], Float[Tensor, " a"]]:
    """The gradients that are sums over all steps, some steps at a time."""
    keys, w_v = given.keys, given.w_v
    queries, d_score = queries.transpose(0, 1), d_scores.transpose(0, 1)
    d_w = torch.zeros_like(w_v)
    total = torch.zeros_like(keys)
    at_once = max(CHUNK // max(keys.numel(), 1), 1)
    for start in range(0, queries.shape[1], at_once):
        some = slice(start, start + at_once)
        tanh = (queries[:, some].unsqueeze(2) + keys.unsqueeze(1)).tanh_()
        pulled = tanh * d_score[:, some].unsqueeze(-1)
        d_w += pulled.sum((0, 1, 2))
        total -= pulled.mul_(tanh).sum(1)
    total += d_score.sum(1).unsqueeze(-1)
    return total * w_v, d_w

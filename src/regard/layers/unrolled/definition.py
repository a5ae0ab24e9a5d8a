"""A recurrent decoder with attention, step by step: the definition.

Letters: T steps, b sequences, m source tokens, h hidden units, a units of the score, L layers. A
GRU computes, with the gates r and z and the candidate c,

    r, z = sigmoid(gi_rz + gh_rz),  c = tanh(gi_c + r * gh_c),  state' = c + z * (state - c)

where gi = W_ih x + b_ih and gh = W_hh state + b_hh. The order of the blocks is torch's: r, z, c.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

__all__ = ["LEAST", "Arguments", "Cell", "Trace", "Unrolled", "run"]

LEAST = -1e30  # scores of hidden keys: their weight is then exactly 0, and no row is empty


class Cell(NamedTuple):
    """The weights of one GRU layer. The first layer's W_ih sees the context only."""

    W_ih: Float[Tensor, "3h x"]
    W_hh: Float[Tensor, "3h h"]
    b_hh: Float[Tensor, " 3h"]
    b_ih: Float[Tensor, " 3h"] | None = None  # in the first layer it is part of the inputs


class Arguments(NamedTuple):
    """What a run is given.

    Args:
        inputs: what each step's input adds to the gates of the first layer.
        states: the states of the layers before the first step.
        keys: projected source tokens; scores are <w_v, tanh(W_q state + key)>.
        values: the source tokens.
        W_q: projects a state into a query.
        w_v: of the additive score.
        cells: the layers.
        allowed: which source tokens are real; a sequence without any has the context 0.
        keep_weights: dropout of the weights, as factors of 0 or 1 / (1 - p).
        keep_states: dropout between the layers, likewise.

    """

    inputs: Float[Tensor, "T b 3h"]
    states: Float[Tensor, "L b h"]
    keys: Float[Tensor, "b m a"]
    values: Float[Tensor, "b m v"]
    W_q: Float[Tensor, "a h"]
    w_v: Float[Tensor, " a"]
    cells: tuple[Cell, ...]
    allowed: Bool[Tensor, "b m"] | None = None
    keep_weights: Float[Tensor, "T b m"] | None = None
    keep_states: Float[Tensor, "T L-1 b h"] | None = None

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """What may want a gradient, in a fixed order."""
        weights = (x for cell in self.cells for x in cell if x is not None)
        return (*self[:6], *weights)

    def with_tensors(self, tensors: tuple[Tensor, ...]) -> Arguments:
        """The same call with other tensors, listed as ``tensors`` lists them."""
        first, rest = Cell(*tensors[6:9]), tensors[9:]
        others = (Cell(*rest[i : i + 4]) for i in range(0, len(rest), 4))
        return Arguments(*tensors[:6], (first, *others), *self[7:])  # type: ignore[call-arg, arg-type]


class Unrolled(NamedTuple):
    """What a run gives: the top layer's states, all last states, and the projected queries."""

    outputs: Float[Tensor, "T b h"]
    states: Float[Tensor, "L b h"]
    queries: Float[Tensor, "T b a"]


class Trace(NamedTuple):
    """What was computed on the way: the backward pass starts from it."""

    states: Float[Tensor, "L T+1 b h"]
    gates: Float[Tensor, "L T b 4h"]  # r, z, c, gh_c
    contexts: Float[Tensor, "T b v"]
    fed: Float[Tensor, "L-1 T b h"]  # to the layers above the first
    weights: Float[Tensor, "T b m"]  # before dropout
    queries: Float[Tensor, "T b a"]

    def unrolled(self) -> Unrolled:
        """What of this the caller gets."""
        return Unrolled(self.states[-1, 1:], self.states[:, -1], self.queries)


def run(given: Arguments) -> Trace:
    """Attend with the top state, feed the context and the input to the layers, T times.

    In operations torch can differentiate.
    """
    steps, (layers, b, h) = given.inputs.shape[0], given.states.shape
    states = [list(given.states.unbind())]  # [T + 1][L]
    gates, contexts, fed, weights, queries = [], [], [], [], []
    for t in range(steps):
        query = states[-1][-1] @ given.W_q.T
        weight = _weights(query, given)
        x = weight if given.keep_weights is None else weight * given.keep_weights[t]
        x = torch.bmm(x.unsqueeze(1), given.values).squeeze(1)
        queries.append(query)
        weights.append(weight)
        contexts.append(x)
        after: list[Tensor] = []
        for layer, cell in enumerate(given.cells):
            if layer:
                x = after[-1]
                if given.keep_states is not None:
                    x = x * given.keep_states[t, layer - 1]
                fed.append(x)
            added = given.inputs[t] if cell.b_ih is None else cell.b_ih
            gi = torch.addmm(added, x, cell.W_ih.T)
            gh = torch.addmm(cell.b_hh, states[-1][layer], cell.W_hh.T)
            rz = (gi[:, : 2 * h] + gh[:, : 2 * h]).sigmoid()
            gh_c = gh[:, 2 * h :]
            c = torch.addcmul(gi[:, 2 * h :], rz[:, :h], gh_c).tanh()
            gates.append(torch.cat((rz, c, gh_c), 1))
            after.append(torch.lerp(c, states[-1][layer], rz[:, h:]))
        states.append(after)

    def stacked(rows: list[Tensor], *shape: int) -> Tensor:
        """One array of what was collected; the axes T, L, ... in this order."""
        if not rows:
            return given.states.new_zeros(shape)
        return torch.stack(rows).view(shape)

    of_states = [x for step in states for x in step]
    return Trace(
        stacked(of_states, steps + 1, layers, b, h).transpose(0, 1),
        stacked(gates, steps, layers, b, 4 * h).transpose(0, 1),
        stacked(contexts, steps, b, given.values.shape[-1]),
        stacked(fed, steps, layers - 1, b, h).transpose(0, 1),
        stacked(weights, steps, b, given.keys.shape[1]),
        stacked(queries, steps, b, given.W_q.shape[0]),
    )


def _weights(query: Float[Tensor, "b a"], given: Arguments) -> Float[Tensor, "b m"]:
    """The weights of one query a sequence."""
    scores = (query.unsqueeze(1) + given.keys).tanh() @ given.w_v
    if given.allowed is None:
        return scores.softmax(-1)
    return scores.masked_fill(~given.allowed, LEAST).softmax(-1) * given.allowed

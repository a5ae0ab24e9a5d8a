import pytest
import torch
from torch import nn

from regard import Additive, Dense, attend
from regard.layers.unrolled.definition import run
from tests.layers.unrolled.calls import SIZES, arguments


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_a_step_is_attend_and_torchs_own_cells(sizes, masked):
    given = arguments(sizes, torch.float64, masked=masked)
    got = run(given).unrolled()
    states = list(given.states.unbind())
    for t in range(sizes.T):
        query = (states[-1] @ given.W_q.T)[:, None]
        mask = None if given.allowed is None else Dense(given.allowed[:, None])
        x = attend(query, given.keys, given.values, score=Additive(given.w_v), mask=mask)[:, 0]
        for i, cell in enumerate(given.cells):
            gru = nn.GRUCell(x.shape[1], sizes.h, dtype=torch.float64)
            gru.weight_hh.data, gru.bias_hh.data = cell.W_hh.data, cell.b_hh.data
            gru.weight_ih.data = cell.W_ih.data
            if i:
                gru.bias_ih.data = cell.b_ih.data
                states[i] = gru(x, states[i])
            else:  # the input's part differs from sequence to sequence
                rows = []
                for row in range(sizes.b):
                    gru.bias_ih.data = given.inputs.data[t, row]
                    rows.append(gru(x[row : row + 1], states[0][row : row + 1]))
                states[0] = torch.cat(rows)
            x = states[i]
        torch.testing.assert_close(got.outputs[t], states[-1], rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(got.queries[t], query[:, 0], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(got.states, torch.stack(states), rtol=1e-12, atol=1e-12)


def test_arguments_can_be_taken_apart_and_put_together():
    given = arguments(SIZES[0], torch.float64, masked=True, dropped=True)
    again = given._replace(cells=()).with_tensors(given.tensors)
    assert all(a is b for a, b in zip(again.tensors, given.tensors, strict=True))
    assert again.keep_states is given.keep_states

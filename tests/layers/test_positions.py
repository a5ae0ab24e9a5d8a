import math

import pytest
import torch
from benchmarks.textbook import TextbookPositions

from regard import ShapeError, ValueRangeError
from regard.layers import (
    LearnedPositions,
    MultiHeadAttention,
    PositionalEncoding,
    RelativeBias,
    Rotary,
)


def test_the_textbook_table():
    ours, theirs = PositionalEncoding(32, 0), TextbookPositions(32)
    assert ours.state_dict() == {}
    x = torch.randn(1, 60, 32)
    torch.testing.assert_close(ours.eval()(x), theirs(x), atol=5e-6, rtol=0)
    # the textbook's angles are float32: at position 999 they are 6e-5 off, ours are not
    assert (ours.P - theirs.P).abs().max() < 1e-4
    exact = math.sin(999 / 10000 ** (2 / 32))
    assert abs(ours.P[0, 999, 2].item() - exact) < 1e-7


@pytest.mark.parametrize("width", [1, 2, 5, 8])
def test_any_width_and_any_length(width):
    positions = PositionalEncoding(width, 0, max_len=4)
    found = positions(torch.zeros(2, 11, width, dtype=torch.float64))
    for i in range(11):
        for j in range(width):
            f = math.cos if j % 2 else math.sin
            angle = i / 10000 ** ((j - j % 2) / width)
            assert found[0, i, j].item() == pytest.approx(f(angle), abs=1e-12)
    longer = positions(torch.zeros(1, 9, width))
    torch.testing.assert_close(longer[0], found[0, :9].float())


def test_an_offset_continues_the_sequence():
    for positions in (PositionalEncoding(6, 0), LearnedPositions(6, 20)):
        x = torch.randn(2, 10, 6)
        whole = positions(x)
        assert torch.equal(positions(x[:, 4:], offset=4), whole[:, 4:])


def test_shift_is_a_rotation():
    """What the notes say of it: P[i + s] is a fixed linear map of P[i]."""
    table = PositionalEncoding(8, 0, 50)(torch.zeros(1, 50, 8, dtype=torch.float64))[0]
    here, there = table[:40], table[7:47]
    map_ = torch.linalg.lstsq(here, there).solution
    torch.testing.assert_close(here @ map_, there, atol=1e-10, rtol=0)


def test_the_table_keeps_its_digits():
    positions = PositionalEncoding(8, 0)
    before = positions.P.clone()
    assert torch.equal(positions.half().float().P, before)
    assert torch.equal(positions.double().P, before)


def test_half_precision_stays_half():
    assert (
        PositionalEncoding(4, 0)(torch.zeros(1, 3, 4, dtype=torch.bfloat16)).dtype is torch.bfloat16
    )


def test_dropout_while_training():
    positions = PositionalEncoding(4, 0.5)
    assert (positions(torch.ones(1, 200, 4)) == 0).float().mean() > 0.3
    assert (positions.eval()(torch.ones(1, 200, 4)) == 0).sum() == 0


def test_learned_positions_learn_and_end():
    positions = LearnedPositions(4, max_len=3)
    positions(torch.zeros(1, 2, 4)).sum().backward()
    assert positions.table.grad.tolist() == [[1.0] * 4, [1.0] * 4, [0.0] * 4]
    with pytest.raises(ValueRangeError) as raised:
        positions(torch.zeros(1, 4, 4))
    assert str(raised.value) == (
        "LearnedPositions: there are vectors for max_len=3 positions, position 3 was asked for; "
        "use PositionalEncoding for any length"
    )


@pytest.mark.parametrize("width", [1, 2, 5, 8])
def test_rotary_keeps_lengths_and_sees_distances_only(width):
    turn = Rotary(width)
    q, k = torch.randn(2, 2, 6, width, dtype=torch.float64)
    torch.testing.assert_close(turn(q).norm(dim=-1), q.norm(dim=-1))
    near, far = turn(q) @ turn(k).mT, turn(q, 100) @ turn(k, 100).mT
    torch.testing.assert_close(near, far)
    assert torch.equal(turn(q)[:, 0], q[:, 0])
    if width > 1:
        assert not torch.allclose(turn(q)[:, 1:], q[:, 1:])


def test_wrong_widths_are_named():
    with pytest.raises(
        ShapeError, match=r"Rotary: x must be \[\*b, n, 4\], got the shape \[2, 3\]"
    ):
        Rotary(4)(torch.zeros(2, 3))
    with pytest.raises(ShapeError, match=r"X must be \[b, n, 4\], got the shape \[1, 2, 3\]"):
        PositionalEncoding(4, 0)(torch.zeros(1, 2, 3))
    with pytest.raises(ValueRangeError, match=r"base must be above 1, got 1"):
        Rotary(4, base=1)


def test_a_bias_by_distance_soon_knows_the_neighbour():
    torch.manual_seed(0)
    bias = RelativeBias(1, 4)
    layer = MultiHeadAttention(8, 8, 8, 8, 1, 0.0, positions=bias)
    adam = torch.optim.Adam(layer.parameters(), lr=2e-3)
    for _ in range(150):
        x = torch.randn(32, 12, 8)
        loss = (layer(x, x, x)[:, 1:] - x[:, :-1]).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    assert bias.values.argmax() == 3  # one to the left of the middle
    near, *_, far = bias.values[0].sort(descending=True).values
    assert near - far > 3

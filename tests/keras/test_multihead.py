import numpy as np
import pytest

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.keras import MultiHeadAttention
from tests.keras.cases import LENGTHS, agree, array, inputs, made, near, tensor


@pytest.mark.parametrize("name", ["multihead", "multihead with bias"])
@pytest.mark.parametrize("valid_lens", LENGTHS.values(), ids=LENGTHS)
def test_equal_to_the_pytorch_layer_in_output_weights_and_gradients(name, valid_lens):
    agree(name, valid_lens)


def test_the_heads_lie_in_the_same_order_inside():
    mine, other, arrays = made("multihead")
    valid_lens = LENGTHS["one a query"]
    mine(*arrays, valid_lens)
    other(*(tensor(x).double() for x in arrays), tensor(valid_lens))
    assert tuple(mine.attention.attention_weights.shape) == (6, 4, 5)  # sequences x heads
    near(mine.attention.attention_weights, other.attention.attention_weights)


def test_a_query_that_sees_nothing_gets_what_the_last_projection_makes_of_zeros():
    for name in ("multihead", "multihead with bias"):
        layer, _, arrays = made(name)
        out = array(layer(*arrays, LENGTHS["zero and full"]))
        last = layer.torch_state().get("W_o.bias", np.zeros(8))
        assert out[0].tolist() == [last.tolist()] * 4
        assert out[1].tolist() != [last.tolist()] * 4


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            (3, 6, 2, 8, 3, 0.0),
            ValueRangeError,
            "num_hiddens must be a multiple of num_heads=3, got 8",
        ),
        ((3, 6, 2, 8, 0, 0.0), ValueRangeError, "num_heads must be at least 1, got 0"),
        ((3, 6, "2", 8, 2, 0.0), KindError, "value_size must be an integer, got '2'"),
        ((3, 6, 2, 8, 2, 2), ValueRangeError, "dropout must be at least 0 and below 1, got 2"),
    ],
)
def test_arguments_that_cannot_be_meant(arguments, error, message):
    with pytest.raises(error) as raised:
        MultiHeadAttention(*arguments)
    assert str(raised.value) == f"MultiHeadAttention: {message}"


@pytest.mark.parametrize(
    ("widths", "message"),
    [
        ((5, 3, 2), "queries must be [b, n, 6], got the shape [3, 4, 5]"),
        ((6, 4, 2), "keys must be [b, m, 3], got the shape [3, 5, 4]"),
        ((6, 3, 1), "values must be [b, m, 2], got the shape [3, 5, 1]"),
    ],
)
def test_wrong_widths_are_refused_on_every_call(widths, message):
    layer = MultiHeadAttention(3, 6, 2, 8, 2, 0.0)
    for _ in range(2):
        with pytest.raises(ShapeError) as raised:
            layer(*inputs(widths))
        assert f"MultiHeadAttention: {message}" in str(raised.value)
        layer(*inputs((6, 3, 2)))


def test_wrong_lengths_are_told_in_the_words_of_the_caller():
    with pytest.raises(ShapeError) as raised:
        MultiHeadAttention(3, 6, 2, 8, 2, 0.0)(*inputs((6, 3, 2)), np.array([1, 2]))
    assert "MultiHeadAttention: valid_lens must be [b] or [b, n] with b=3 and n=4" in str(
        raised.value
    )

import keras
import numpy as np
import pytest

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.keras import AdditiveAttention
from tests.keras.cases import LENGTHS, agree, array, inputs


@pytest.mark.parametrize("valid_lens", LENGTHS.values(), ids=LENGTHS)
def test_equal_to_the_pytorch_layer_in_output_weights_and_gradients(valid_lens):
    agree("additive", valid_lens)


def test_the_formula_by_hand():
    layer = AdditiveAttention(key_size=1, query_size=1, num_hiddens=2, dropout=0.0)
    layer.load_torch_state(
        {
            "W_k.weight": np.array([[1.0], [0.0]]),
            "W_q.weight": np.array([[0.0], [1.0]]),
            "w_v.weight": np.array([[2.0, 3.0]]),
        }
    )
    q, k = 0.7, np.array([0.1, -0.4])
    scores = 2 * np.tanh(k) + 3 * np.tanh(q)
    weights = np.exp(scores) / np.exp(scores).sum()
    out = layer(np.array([[[q]]]), k[None, :, None], np.array([[[1.0], [10.0]]]))
    assert array(out).item() == pytest.approx(weights @ [1, 10], abs=1e-6)


def test_names_of_the_weights_are_those_of_the_notes():
    layer = AdditiveAttention(3, 6, 8, 0.1)
    layer(*inputs((6, 3, 2)))
    assert [x.path.split("/")[-2] for x in layer.weights[:3]] == ["W_k", "W_q", "w_v"]
    assert [tuple(x.shape) for x in layer.weights[:3]] == [(3, 8), (6, 8), (8, 1)]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 6, 8, 0.0), ValueRangeError, "key_size must be at least 1, got 0"),
        ((3, 6.0, 8, 0.0), KindError, "query_size must be an integer, got 6.0"),
        ((3, 6, True, 0.0), KindError, "num_hiddens must be an integer, got True"),
        ((3, 6, 8, 1.0), ValueRangeError, "dropout must be at least 0 and below 1, got 1.0"),
        ((3, 6, 8, None), KindError, "dropout must be a number, got None"),
    ],
)
def test_arguments_that_cannot_be_meant(arguments, error, message):
    with pytest.raises(error) as raised:
        AdditiveAttention(*arguments)
    assert str(raised.value) == f"AdditiveAttention: {message}"


@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize(
    ("widths", "message"),
    [
        ((5, 3, 2), "queries must be [b, n, 6], got the shape [3, 4, 5]"),
        ((6, 4, 2), "keys must be [b, m, 3], got the shape [3, 5, 4]"),
    ],
)
def test_wrong_widths_are_refused_on_every_call(built, widths, message):
    layer = AdditiveAttention(3, 6, 8, 0.0)
    if built:
        layer(*inputs((6, 3, 2)))
    with pytest.raises(ShapeError) as raised:
        layer(*inputs(widths))
    assert f"AdditiveAttention: {message}" in str(raised.value)


def test_wrong_widths_are_refused_before_there_are_numbers():
    with pytest.raises(ShapeError, match=r"keys must be \[b, m, 3\], got the shape \[None, 5, 4\]"):
        AdditiveAttention(3, 6, 8, 0.0)(
            keras.Input((4, 6)), keras.Input((5, 4)), keras.Input((5, 2))
        )


def test_wrong_widths_are_refused_by_build_alone():
    layer = AdditiveAttention(3, 6, 8, 0.0)
    with pytest.raises(ShapeError) as raised:
        layer.build((None, 4, 6), (None, 5, 4), (None, 5, 2))
    assert str(raised.value) == (
        "AdditiveAttention: keys must be [b, m, 3], got the shape [None, 5, 4]"
    )

import numpy as np
import pytest

from regard.errors import ShapeError, ValueRangeError
from regard.keras import DotProductAttention
from tests.keras.cases import LENGTHS, agree, array, inputs


@pytest.mark.parametrize("valid_lens", LENGTHS.values(), ids=LENGTHS)
def test_equal_to_the_pytorch_layer_in_output_weights_and_gradients(valid_lens):
    agree("dot", valid_lens)


def test_the_formula_by_hand():
    q, k = np.array([1.0, 2.0, 2.0, 0.0]), np.array([[1.0, 1.0, 0.0, 5.0], [0.0, 0.0, 1.0, -3.0]])
    scores = np.array([3.0, 2.0]) / 2
    weights = np.exp(scores) / np.exp(scores).sum()
    out = DotProductAttention(0.0)(q[None, None], k[None], np.array([[[1.0], [10.0]]]))
    assert array(out).item() == pytest.approx(weights @ [1, 10], abs=1e-6)


def test_queries_and_keys_have_one_width_on_every_call():
    layer, message = DotProductAttention(0.0), "keys must be [b, m, 6], got the shape [3, 5, 7]"
    for _ in range(2):
        with pytest.raises(ShapeError) as raised:
            layer(*inputs((6, 7, 2)))
        assert f"DotProductAttention: {message}" in str(raised.value)
        layer(*inputs((6, 6, 2)))


def test_large_features_do_not_overflow_in_half_precision():
    q, k = np.full((1, 1, 64), 40.0), np.stack([np.full(64, 39.0), np.full(64, 40.0)])[None]
    values = np.array([[[1.0], [10.0]]])
    layer = DotProductAttention(0.0, dtype="float16")
    # both products are beyond float16, an eighth of them is not
    assert array(layer(q, k, values)).item() == 10
    # scores that do overflow still compare: with each other as equals, with others as larger
    assert array(layer(8 * q, k, values)).item() == 5.5
    k[0, 0] = 1
    assert array(layer(8 * q, k, values)).item() == 10


def test_dropout_must_be_a_part():
    with pytest.raises(ValueRangeError) as raised:
        DotProductAttention(-0.1)
    assert str(raised.value) == (
        "DotProductAttention: dropout must be at least 0 and below 1, got -0.1"
    )

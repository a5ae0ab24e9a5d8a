import keras
import numpy as np
import pytest
import torch
from keras import ops

from regard import layers
from regard.errors import ShapeError, ValueRangeError
from regard.keras import PositionalEncoding
from tests.keras.cases import array, near


@pytest.mark.parametrize("width", [1, 2, 7, 8])
@pytest.mark.parametrize("length", [0, 1, 12, 13, 1001])
def test_equal_to_the_pytorch_layer_at_any_length_and_width(width, length):
    X = np.random.default_rng(0).standard_normal((2, length, width), np.float32)
    found = PositionalEncoding(width, 0.0, max_len=12)(X)
    near(found, layers.PositionalEncoding(width, 0.0, max_len=12)(torch.tensor(X).double()))


def test_the_formula_by_hand():
    P = PositionalEncoding(4, 0.0).P
    assert P.shape == (1, 1000, 4)
    wanted = [np.sin(3), np.cos(3), np.sin(0.03), np.cos(0.03)]
    assert P[0, 3].tolist() == pytest.approx(wanted)


def test_a_length_not_known_yet_gives_the_same_numbers():
    # in a graph of TensorFlow, where only the run tells how long X is
    X = np.random.default_rng(0).standard_normal((2, 1500, 5), np.float32)
    layer = PositionalEncoding(5, 0.0, max_len=12)
    input_ = keras.Input((None, 5))
    model = keras.Model(input_, layer(input_))
    assert model.output_shape == (None, None, 5)
    near(model.predict(X, verbose=0), array(layer(X)), 1e-6)


def test_dropout_is_of_the_sums_and_while_training_only():
    layer, X = PositionalEncoding(8, 0.5, seed=3), np.full((1, 40, 8), 3.0)
    plain, dropped = array(layer(X)), array(layer(X, training=True))
    assert (plain != 0).all()
    assert 0.3 < (dropped == 0).mean() < 0.7
    kept = dropped != 0
    assert np.abs(dropped[kept] - 2 * plain[kept]).max() < 1e-5


def test_a_mask_of_keras_passes_through():
    words = keras.layers.Embedding(5, 4, mask_zero=True)(np.array([[1, 2, 0]]))
    found = PositionalEncoding(4, 0.0)(words)
    assert ops.convert_to_numpy(found._keras_mask).tolist() == [[True, True, False]]


@pytest.mark.parametrize("shape", [(2, 3, 5), (3, 4)])
def test_wrong_sizes(shape):
    with pytest.raises(ShapeError) as raised:
        PositionalEncoding(4, 0.0)(np.zeros(shape))
    wanted = f"PositionalEncoding: X must be [b, n, 4], got the shape {list(shape)}"
    assert wanted in str(raised.value)


def test_wrong_sizes_after_a_right_call():
    layer = PositionalEncoding(4, 0.0)
    layer(np.zeros((1, 2, 4)))
    with pytest.raises(ShapeError, match=r"X must be \[b, n, 4\], got the shape \[1, 2, 1\]"):
        layer(np.zeros((1, 2, 1)))  # would broadcast


def test_arguments_that_cannot_be_meant():
    with pytest.raises(ValueRangeError) as raised:
        PositionalEncoding(4, 0.0, max_len=0)
    assert str(raised.value) == "PositionalEncoding: max_len must be at least 1, got 0"

import copy

import keras
import numpy as np
import pytest
from keras import ops

from regard.errors import StateError
from tests.keras.cases import BACKEND, EACH, LENGTHS, PAIRS, array, inputs, made, near

MESSAGE = (
    "{} has no attention_weights: it has not been called yet, or last inside a compiled graph, as "
    "by fit and predict; call it eagerly, or with return_attention_weights=True, which does in both"
)


def traced(layer, arrays, valid_lens, **kwargs):
    """Call a layer inside a graph of the backend: its jit, or torch's stand-ins without numbers."""
    if BACKEND == "tensorflow":
        import tensorflow as tf

        return tf.function(lambda *xs: layer(*xs, **kwargs))(*arrays, valid_lens)
    if BACKEND == "jax":
        import jax

        return jax.jit(lambda *xs: layer(*xs, **kwargs))(*arrays, valid_lens)
    with keras.device("meta"):
        tensors = [ops.convert_to_tensor(x) for x in (*arrays, valid_lens)]
        return layer.call(*tensors, **kwargs)


@pytest.mark.parametrize("name", EACH)
def test_there_are_no_weights_before_the_first_call(name):
    layer = made(name)[0]
    with pytest.raises(StateError) as raised:
        _ = layer.attention_weights
    assert str(raised.value) == MESSAGE.format(type(layer).__name__)


@pytest.mark.parametrize("name", EACH)
def test_weights_are_kept_eagerly_and_never_from_inside_a_graph(name):
    layer, _, arrays = made(name)
    valid_lens = LENGTHS["one a query"].astype(np.int32)
    out, weights = layer(*arrays, valid_lens, return_attention_weights=True)
    assert array(layer.attention_weights).tolist() == array(weights).tolist()
    traced(layer, arrays, valid_lens)
    with pytest.raises(StateError):
        _ = layer.attention_weights  # a stand-in, outside of its graph
    layer(*arrays, valid_lens)
    assert array(layer.attention_weights).tolist() == array(weights).tolist()
    if BACKEND != "torch":
        compiled = traced(layer, arrays, valid_lens, return_attention_weights=True)
        for x, y in zip(compiled, (out, weights), strict=True):
            near(x, array(y), 1e-6)


@pytest.mark.parametrize("name", EACH)
def test_a_model_can_give_its_weights_as_an_output(name):
    layer, _, arrays = made(name)
    places = [keras.Input(x.shape[1:]) for x in arrays]
    lengths = keras.Input((), dtype="int32")
    model = keras.Model([*places, lengths], layer(*places, lengths, return_attention_weights=True))
    given = [*arrays, np.array([0, 5, 2], np.int32)]
    out, weights = model.predict(given, verbose=0)
    wanted, looked = layer(*given, return_attention_weights=True)
    near(out.astype(np.float64), array(wanted), 1e-6)
    near(weights.astype(np.float64), array(looked), 1e-6)


@pytest.mark.parametrize("name", EACH)
def test_kept_weights_hold_no_history(name):
    layer, _, arrays = made(name)
    layer(*arrays)
    if BACKEND == "torch":
        assert not layer.attention_weights.requires_grad
    assert copy.deepcopy(array(layer.attention_weights)).shape[-2:] == (4, 5)


@pytest.mark.parametrize("name", EACH)
def test_dropout_is_of_the_weights_while_training_and_follows_its_seed(name):
    arrays = inputs(PAIRS[name].widths, m=40)
    layers = [PAIRS[name].ours(dropout=0.5, seed=seed) for seed in (7, 7, 8)]
    for layer in layers:
        layer(*arrays)  # makes its weights
    if name != "dot":
        for layer in layers[1:]:
            layer.load_torch_state(layers[0].torch_state())
    plain = [array(layer(*arrays)) for layer in layers]
    assert plain[0].tolist() == plain[1].tolist() == plain[2].tolist()
    weights = array(layers[0].attention_weights)
    first, same, other = (array(layer(*arrays, training=True)) for layer in layers)
    assert first.tolist() == same.tolist()
    assert first.tolist() != other.tolist()
    assert first.tolist() != plain[0].tolist()
    assert array(layers[0].attention_weights).tolist() == weights.tolist()  # before dropout


def test_dropout_keeps_the_mean_and_a_dead_row_dead():
    from regard.keras import DotProductAttention

    layer = DotProductAttention(0.25, seed=1)
    zeros, ones = np.zeros((2, 300, 2)), np.ones((2, 40, 1))
    found = array(layer(zeros, np.zeros((2, 40, 2)), ones, np.array([40, 0]), training=True))
    assert abs(found[0].mean() - 1) < 0.03
    assert found[0].std() > 0.05
    assert (found[1] == 0).all()

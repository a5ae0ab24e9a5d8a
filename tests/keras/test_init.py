"""What holds for every layer: saving, compiling, symbols, precision, empty sizes."""

import keras
import numpy as np
import pytest
from keras import ops

from regard import keras as ours
from tests.keras.cases import BACKEND, EACH, LENGTHS, PAIRS, array, inputs, made, near

LAYERS = {
    "additive": ours.AdditiveAttention(3, 6, 8, 0.25, seed=5, name="a", dtype="mixed_bfloat16"),
    "dot": ours.DotProductAttention(0.25, seed=5, name="a", dtype="float16"),
    "multihead": ours.MultiHeadAttention(3, 6, 2, 8, 2, 0.25, bias=True, seed=5, trainable=False),
    "positions": ours.PositionalEncoding(6, 0.25, max_len=7, seed=5, name="a"),
    "regression": ours.NWKernelRegression(name="a"),
}


def test_all_is_complete_and_sorted():
    assert sorted(ours.__all__) == ours.__all__
    public = {
        key
        for key, x in vars(ours).items()
        if not key.startswith("_") and getattr(x, "__module__", "").startswith("regard")
    }
    assert public == set(ours.__all__)


@pytest.mark.parametrize("name", LAYERS)
def test_a_config_makes_the_same_layer(name):
    layer = LAYERS[name]
    config = layer.get_config()
    again = type(layer).from_config(config)
    assert again.get_config() == config
    written = keras.saving.serialize_keras_object(layer)
    assert written["registered_name"] == f"regard>{type(layer).__name__}"
    assert keras.saving.deserialize_keras_object(written).get_config() == config


def test_a_config_has_every_argument():
    def given(name, *arguments):
        return tuple(LAYERS[name].get_config()[argument] for argument in arguments)

    sizes = ("key_size", "query_size", "num_hiddens", "dropout", "seed", "name")
    assert given("additive", *sizes) == (3, 6, 8, 0.25, 5, "a")
    assert LAYERS["additive"].dtype_policy.name == "mixed_bfloat16"
    assert given("dot", "dropout", "seed") == (0.25, 5)
    sizes = ("key_size", "query_size", "value_size", "num_hiddens", "num_heads", "dropout", "bias")
    assert given("multihead", *sizes, "trainable") == (3, 6, 2, 8, 2, 0.25, True, False)
    assert given("positions", "num_hiddens", "dropout", "max_len", "seed") == (6, 0.25, 7, 5)


def model_of(layer, widths, *, lengths=(), positions=False, flexible=True):
    """A functional model around a layer: queries, keys, values and lengths to its output."""
    rows = (None, None, None) if flexible else (4, 5, 5)
    places = [keras.Input((n, width)) for n, width in zip(rows, widths, strict=True)]
    valid_lens = keras.Input(lengths, dtype="int32")
    queries = ours.PositionalEncoding(widths[0], 0.1)(places[0]) if positions else places[0]
    return keras.Model([*places, valid_lens], layer(queries, *places[1:], valid_lens))


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("lengths", ["zero and full", "one a query"])
def test_a_saved_model_gives_the_same_numbers(name, lengths, tmp_path):
    layer, _, arrays = made(name, dropout=0.3)
    valid_lens = LENGTHS[lengths].astype(np.int32)
    axes = () if valid_lens.ndim == 1 else (None,)
    model = model_of(layer, PAIRS[name].widths, lengths=axes, positions=True)
    before = model.predict([*arrays, valid_lens], verbose=0)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert again.predict([*arrays, valid_lens], verbose=0).tolist() == before.tolist()
    kinds = {type(x).__name__ for x in again.layers}
    assert {type(layer).__name__, "PositionalEncoding"} < kinds


def test_a_saved_regression_gives_the_same_numbers(tmp_path):
    places = [keras.Input(()), keras.Input((None,)), keras.Input((None,))]
    model = keras.Model(places, ours.NWKernelRegression()(*places))
    draw = np.random.default_rng(0)
    arrays = [draw.standard_normal(shape) for shape in ((6,), (6, 9), (6, 9))]
    before = model.predict(arrays, verbose=0)
    assert before.shape == (6,)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert again.predict(arrays, verbose=0).tolist() == before.tolist()
    assert array(again.weights[0].value) == array(model.weights[0].value)


@pytest.mark.parametrize("name", EACH)
def test_axes_may_be_unknown_and_change_from_call_to_call(name):
    layer = made(name)[0]
    widths = PAIRS[name].widths
    model = model_of(layer, widths)
    assert model.output_shape[:2] == (None, None)
    for b, n, m in ((3, 4, 5), (2, 1, 7)):
        arrays = inputs(widths, b, n, m, seed=b)
        valid_lens = np.arange(b, dtype=np.int32) % (m + 1)
        near(
            model.predict([*arrays, valid_lens], verbose=0).astype(np.float64),
            array(layer(*arrays, valid_lens)),
            1e-6,
        )


def test_some_axes_may_be_known_and_others_not():
    places = keras.Input((4, 6)), keras.Input((None, 3)), keras.Input((5, 2))
    lengths = keras.Input((None,), dtype="int32")
    for name, out, weights in (
        ("additive", (None, 4, 2), (None, 4, 5)),
        ("multihead", (None, 4, 8), (None, 2, 4, 5)),
    ):
        found = made(name)[0](*places, lengths, return_attention_weights=True)
        assert [tuple(x.shape) for x in found] == [out, weights]
        assert tuple(made(name)[0](*places, lengths).shape) == out


def test_the_shapes_foretold_are_those_that_come():
    arrays = inputs((6, 6, 2))
    places = [keras.Input(batch_shape=x.shape) for x in arrays]
    layer = ours.DotProductAttention(0.0, dtype="mixed_float16")
    told, come = (layer(*x, return_attention_weights=True) for x in (places, arrays))
    for x, y in zip(told, come, strict=True):
        assert tuple(x.shape) == tuple(y.shape)
        assert x.dtype == keras.backend.standardize_dtype(y.dtype)
    x = keras.Input(batch_shape=(5,)), keras.Input(batch_shape=(5, 3))
    told = ours.NWKernelRegression()(x[0], x[1], x[1], return_attention_weights=True)
    assert [tuple(x.shape) for x in told] == [(5,), (5, 3)]


@pytest.mark.skipif(BACKEND == "torch", reason="compiling with torch takes a C compiler")
@pytest.mark.parametrize(
    ("name", "flexible"), [("additive", False), ("dot", True), ("multihead", True)]
)
def test_a_compiled_model_trains_and_predicts(name, flexible):
    layer, _, arrays = made(name, dropout=0.1)
    model = model_of(layer, PAIRS[name].widths, positions=True, flexible=flexible)
    model.compile(optimizer="sgd", loss="mse", jit_compile=True)
    given = [*arrays, LENGTHS["zero and full"].astype(np.int32)]
    found = model.predict(given, verbose=0)
    near(found.astype(np.float64), array(model(given)), 1e-6)
    if name == "dot":
        return  # nothing to learn
    fitted = model.fit(given, np.zeros_like(found), epochs=2, verbose=0)
    assert np.isfinite(fitted.history["loss"]).all()


@pytest.mark.parametrize("name", ["additive", "multihead"])  # dot has nothing to learn
def test_training_lowers_the_loss(name):
    layer, _, arrays = made(name)
    model = model_of(layer, PAIRS[name].widths)
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
    given = [*arrays, LENGTHS["zero and full"].astype(np.int32)]
    losses = model.fit(given, array(model(given)) + 1, epochs=4, verbose=0).history["loss"]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize(
    ("policy", "dtype", "within"),
    [
        ("mixed_float16", "float16", 4e-3),
        ("bfloat16", "bfloat16", 3e-2),
    ],
)
def test_half_precision(name, policy, dtype, within):
    layer, other, arrays = made(name, dtype=policy)
    valid_lens = LENGTHS["zero and full"]
    wild = [x.copy() for x in arrays]
    wild[1][0], wild[2][0] = np.nan, np.inf
    out, weights = layer(*wild, valid_lens, return_attention_weights=True)
    for x in (out, weights):
        assert keras.backend.standardize_dtype(x.dtype) == dtype
    import torch

    exact = other(*(torch.tensor(x).double() for x in arrays), torch.tensor(valid_lens))
    near(out, exact, within)
    near(weights, other.attention_weights, within)
    assert (array(out)[0] == 0).all()
    kept = {keras.backend.standardize_dtype(x.dtype) for x in layer.trainable_variables}
    assert kept <= {"float32" if policy.startswith("mixed") else dtype}


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "float16"])
def test_half_precision_of_the_other_two(policy):
    dtype = policy.removeprefix("mixed_")
    found = ours.PositionalEncoding(5, 0.0, dtype=policy)(np.ones((1, 3, 5)))
    assert keras.backend.standardize_dtype(found.dtype) == dtype
    near(found, array(ours.PositionalEncoding(5, 0.0)(np.ones((1, 3, 5)))), 2e-2)
    x = np.linspace(0, 1, 5)
    layer = ours.NWKernelRegression(dtype=policy)
    found = layer(x, x, x, np.array([0, 1, 2, 5, 5]))
    assert keras.backend.standardize_dtype(found.dtype) == dtype
    assert array(found)[0] == 0


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize(("b", "n", "m"), [(0, 4, 5), (3, 0, 5), (3, 4, 0), (0, 0, 0)])
@pytest.mark.parametrize("lengths", [None, "one a sequence", "one a query"])
def test_empty_axes_give_empty_results_and_zeros(name, b, n, m, lengths):
    layer = made(name)[0]
    valid_lens = {
        None: None,
        "one a sequence": np.zeros(b, np.int32),
        "one a query": np.zeros((b, n), np.int32),
    }[lengths]
    out = array(layer(*inputs(PAIRS[name].widths, b, n, m), valid_lens))
    assert out.shape[:2] == (b, n)
    assert (out == 0).all()


@pytest.mark.parametrize("name", EACH)
def test_whole_numbers_are_taken_as_numbers(name):
    layer = made(name)[0]
    arrays = [np.round(x).astype(np.int32) for x in inputs(PAIRS[name].widths)]
    near(layer(*arrays), array(layer(*(x.astype(np.float32) for x in arrays))), 1e-6)


def test_the_layers_of_one_model_do_not_share_their_dropout():
    first, second = ours.DotProductAttention(0.5), ours.DotProductAttention(0.5)
    x = np.random.default_rng(0).standard_normal((2, 8, 4))
    a, b = (ops.convert_to_numpy(layer(x, x, x, training=True)) for layer in (first, second))
    assert a.tolist() != b.tolist()

import numpy as np
import pytest
import torch

from regard import layers
from regard.errors import ShapeError
from regard.keras import NWKernelRegression
from tests.keras.cases import array, gradients, near

draw = np.random.default_rng(0)
X = draw.uniform(0, 5, 6).astype(np.float32)
KEYS = draw.uniform(0, 5, (6, 9)).astype(np.float32)
VALUES = np.sin(KEYS)


def with_w(w):
    mine, other = NWKernelRegression(), layers.NWKernelRegression().double()
    mine.load_torch_state({"w": np.array([w], np.float32)})
    other.load_state_dict({"w": torch.tensor([w], dtype=torch.float64)})
    return mine, other


@pytest.mark.parametrize("w", [0.0, 0.5, -0.5, 4.0, 100.0])
@pytest.mark.parametrize("rows", [True, False])
def test_equal_to_the_pytorch_layer_in_output_weights_and_gradients(w, rows):
    keys, values = (KEYS, VALUES) if rows else (KEYS[0], VALUES[0])
    mine, other = with_w(w)
    leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (X, keys, values)]
    exact = other(*leaves)
    near(mine(X, keys, values), exact)
    near(mine.attention_weights, other.attention_weights)
    push = np.random.default_rng(2).standard_normal(6, np.float32)
    (exact * torch.tensor(push)).sum().backward()
    scale = max(1.0, w * w)  # gradients grow with the square of the sharpness
    for found, leaf in zip(
        gradients(mine, (X, keys, values), push), (*leaves, other.w), strict=True
    ):
        near(found / scale, leaf.grad / scale)


def test_the_formula_by_hand():
    mine, _ = with_w(2.0)
    scores = -(((np.array([1.0, 3.0]) - 1.5) * 2) ** 2) / 2
    weights = np.exp(scores) / np.exp(scores).sum()
    out = mine(np.array([1.5]), np.array([[1.0, 3.0]]), np.array([[10.0, 20.0]]))
    assert array(out).tolist() == pytest.approx([weights @ [10, 20]], rel=1e-6)


def test_the_width_starts_between_0_and_1_and_is_all_there_is_to_learn():
    layer = NWKernelRegression()
    layer(X, KEYS, VALUES)
    (w,) = layer.trainable_variables
    assert (w.name, tuple(w.shape)) == ("w", (1,))
    assert 0 <= array(w.value).item() < 1


def test_lengths_say_how_many_keys_of_a_query_are_real():
    mine, _ = with_w(0.7)
    lengths = np.array([9, 1, 0, 4, 9, 2])
    wild, wilder = KEYS.copy(), VALUES.copy()
    for i, length in enumerate(lengths):
        wild[i, length:], wilder[i, length:] = np.nan, np.inf
    found, weights = mine(X, wild, wilder, lengths, return_attention_weights=True)
    for i, length in enumerate(lengths):
        alone = mine(X[i : i + 1], KEYS[i : i + 1, :length], VALUES[i : i + 1, :length])
        near(found[i : i + 1], array(alone), 1e-6)
        assert (array(weights)[i] > 0).sum() == length
    assert array(found)[2] == 0
    push = np.ones(6, np.float32)
    assert all(np.isfinite(x).all() for x in gradients(mine, (X, wild, wilder), push, lengths))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((6, 1), (6, 9), (6, 9)), "queries must be [n], got the shape [6, 1]"),
        (
            ((6,), (5, 9), (5, 9)),
            "keys and values must both be [m] or [n, m] with n=6, got the shapes [5, 9] and [5, 9]",
        ),
        (
            ((6,), (6, 9), (6, 8)),
            "keys and values must both be [m] or [n, m] with n=6, got the shapes [6, 9] and [6, 8]",
        ),
        (
            ((6,), (9,), (6, 9)),
            "keys and values must both be [m] or [n, m] with n=6, got the shapes [9] and [6, 9]",
        ),
    ],
)
def test_wrong_sizes_are_refused_on_every_call(shapes, message):
    layer = NWKernelRegression()
    for _ in range(2):
        with pytest.raises(ShapeError) as raised:
            layer(*(np.zeros(shape) for shape in shapes))
        assert f"NWKernelRegression: {message}" in str(raised.value)
        layer(X, KEYS, VALUES)


def test_lengths_are_one_a_query():
    with pytest.raises(ShapeError, match=r"valid_lens must be \[b\] or \[b, n\] with b=6 and n=1"):
        NWKernelRegression()(X, KEYS, VALUES, np.array([3, 3]))

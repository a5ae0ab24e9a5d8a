"""Every layer of regard.keras beside its PyTorch layer, on the same numbers and weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import keras
import numpy as np
import torch
from keras import ops

from regard import keras as ours
from regard import layers as theirs

BACKEND = keras.backend.backend()
B, N, M = 3, 4, 5
# nobody sees anything, everybody everything, and both in one batch; one a sequence, one a query
LENGTHS = {
    "none": None,
    "one a sequence": np.array([2, 5, 4]),
    "zero and full": np.array([0, 5, 1]),
    "all zero": np.array([0, 0, 0]),
    "one a query": np.array([[1, 2, 3, 4], [5, 5, 0, 1], [0, 0, 0, 0]]),
}


class Pair(NamedTuple):
    """How to make a layer here and there, and the widths of queries, keys and values."""

    ours: Callable[..., keras.layers.Layer]
    theirs: Callable[[], torch.nn.Module]
    widths: tuple[int, int, int]


PAIRS = {
    "additive": Pair(
        lambda dropout=0.0, **kwargs: ours.AdditiveAttention(3, 6, 8, dropout, **kwargs),
        lambda: theirs.AdditiveAttention(3, 6, 8, 0.0),
        (6, 3, 2),
    ),
    "dot": Pair(
        lambda dropout=0.0, **kwargs: ours.DotProductAttention(dropout, **kwargs),
        lambda: theirs.DotProductAttention(0.0),
        (6, 6, 2),
    ),
    "multihead": Pair(
        lambda dropout=0.0, **kwargs: ours.MultiHeadAttention(3, 6, 2, 8, 2, dropout, **kwargs),
        lambda: theirs.MultiHeadAttention(3, 6, 2, 8, 2, 0.0),
        (6, 3, 2),
    ),
    "multihead with bias": Pair(
        lambda dropout=0.0, **kwargs: ours.MultiHeadAttention(
            3, 6, 2, 8, 4, dropout, bias=True, **kwargs
        ),
        lambda: theirs.MultiHeadAttention(3, 6, 2, 8, 4, 0.0, bias=True),
        (6, 3, 2),
    ),
}

EACH = ("additive", "dot", "multihead")  # where a bias makes no difference


def inputs(widths, b=B, n=N, m=M, seed=0):
    """Queries [b, n, d], keys [b, m, e] and values [b, m, v] in float32."""
    draw = np.random.default_rng(seed)
    shapes = zip(((b, n), (b, m), (b, m)), widths, strict=True)
    return tuple(draw.standard_normal((*rows, width), np.float32) for rows, width in shapes)


def made(name, **kwargs):
    """A layer, the PyTorch layer with the same weights in float64, and inputs for both."""
    pair = PAIRS[name]
    torch.manual_seed(1)
    keras.utils.set_random_seed(1)
    mine, other = pair.ours(**kwargs), pair.theirs().double().eval()
    if state := other.state_dict():
        mine.load_torch_state({key: x.float() for key, x in state.items()})
        other.load_state_dict({key: x.float() for key, x in state.items()})
    return mine, other, inputs(pair.widths)


def array(x):
    """As an array of numpy, in float64."""
    return np.asarray(ops.convert_to_numpy(ops.cast(x, "float32")), np.float64)


def doubles(*arrays):
    return tuple(torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in arrays)


def tensor(lengths):
    return None if lengths is None else torch.tensor(lengths)


def gradients(layer, arrays, push, valid_lens=None):
    """The gradients of sum(push * output) in the arrays and in the layer's weights, as arrays."""
    weights = layer.trainable_variables if layer.built else _built(layer, arrays, valid_lens)
    push = ops.convert_to_tensor(push)
    if BACKEND == "torch":
        found = _by_torch(layer, arrays, push, valid_lens, weights)
    elif BACKEND == "tensorflow":
        found = _by_tensorflow(layer, arrays, push, valid_lens, weights)
    else:
        found = _by_jax(layer, arrays, push, valid_lens, weights)
    return [np.asarray(x, np.float64) for x in found]


def _built(layer, arrays, valid_lens):
    layer(*arrays, valid_lens)
    return layer.trainable_variables


def _by_torch(layer, arrays, push, valid_lens, weights):
    leaves = [torch.tensor(x, requires_grad=True) for x in arrays]
    for x in weights:
        x.value.grad = None
    (layer(*leaves, valid_lens) * push).sum().backward()
    return [x.grad.numpy() for x in leaves] + [x.value.grad.numpy() for x in weights]


def _by_tensorflow(layer, arrays, push, valid_lens, weights):
    import tensorflow as tf

    leaves = [tf.constant(x) for x in arrays]
    with tf.GradientTape() as tape:
        tape.watch(leaves)
        loss = tf.reduce_sum(layer(*leaves, valid_lens) * push)
    return tape.gradient(loss, leaves + [x.value for x in weights])


def _by_jax(layer, arrays, push, valid_lens, weights):
    import jax

    rest = layer.non_trainable_variables

    def loss(leaves, values):
        out, _ = layer.stateless_call(values, rest, *leaves, valid_lens)
        return (out * push).sum()

    leaves, values = jax.grad(loss, (0, 1))(
        [jax.numpy.asarray(x) for x in arrays], [x.value for x in weights]
    )
    return [*leaves, *values]


def agree(name, valid_lens):
    """Hold a layer to its PyTorch layer: output, weights and every gradient, to 1e-5."""
    mine, other, arrays = made(name)
    leaves = doubles(*arrays)
    exact = other(*leaves, tensor(valid_lens))
    out = mine(*arrays, valid_lens)
    near(out, exact)
    near(mine.attention_weights, other.attention_weights)
    push = np.random.default_rng(2).standard_normal(tuple(exact.shape), np.float32)
    (exact * torch.tensor(push)).sum().backward()
    found = gradients(mine, arrays, push, valid_lens)
    for x, leaf in zip(found, leaves, strict=False):
        near(x, leaf.grad)
    names = {id(x): key for key, x in mine.torch_names().items()} if found[3:] else {}
    learned = dict(other.named_parameters())
    assert len(found) == 3 + len(learned)
    for x, weight in zip(found[3:], mine.trainable_variables, strict=True):
        near(x.T, learned[names[id(weight)]].grad)


def near(got, exact, within=1e-5):
    """Raise unless every number is there and close."""
    got = got if isinstance(got, np.ndarray) else array(got)
    exact = exact.detach().numpy() if isinstance(exact, torch.Tensor) else exact
    assert got.shape == tuple(exact.shape)
    assert np.isfinite(got).all()
    wrong = float(np.abs(got - exact).max(initial=0.0))
    assert wrong <= within, f"off by {wrong:.2e}"

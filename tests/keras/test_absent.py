"""A masked key is absent, forward and backward, in every layer."""

import numpy as np
import pytest

from tests.keras.cases import BACKEND, EACH, array, gradients, made

LENGTHS = [np.array([2, 0, 5]), np.array([[1, 2, 3, 3], [0, 0, 0, 0], [5, 0, 1, 2]])]


def push(layer, arrays):
    shape = tuple(layer(*arrays).shape)
    return np.random.default_rng(3).standard_normal(shape, np.float32)


def hidden(lengths):
    """Which keys nobody sees [b, m], and which queries see none [b, n]."""
    lengths = lengths if lengths.ndim == 2 else np.repeat(lengths[:, None], 4, 1)
    return np.arange(5) >= lengths.max(1, keepdims=True), lengths == 0


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("lengths", LENGTHS, ids=["one a sequence", "one a query"])
@pytest.mark.parametrize("garbage", [np.nan, np.inf, 3e38])
def test_garbage_nobody_sees_changes_no_number_and_no_gradient(name, lengths, garbage):
    layer, _, (queries, keys, values) = made(name)
    unseen, blind = hidden(lengths)
    wild = [x.copy() for x in (queries, keys, values)]
    wild[0][blind], wild[1][unseen], wild[2][unseen] = garbage, garbage, garbage
    p = push(layer, (queries, keys, values))
    tame, tamed = array(layer(queries, keys, values, lengths)), layer.attention_weights
    assert array(layer(*wild, lengths)).tolist() == tame.tolist()
    assert array(layer.attention_weights).tolist() == array(tamed).tolist()
    before = gradients(layer, (queries, keys, values), p, lengths)
    after = gradients(layer, wild, p, lengths)
    for x, y in zip(before, after, strict=True):
        assert x.tolist() == y.tolist()
    assert (after[0][blind] == 0).all()
    assert (after[1][unseen] == 0).all()
    assert (after[2][unseen] == 0).all()


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("where", [0, 1, 2], ids=["queries", "keys", "values"])
@pytest.mark.parametrize("garbage", [np.nan, np.inf])
def test_what_is_seen_reaches_those_who_see_it_and_nobody_else(name, where, garbage):
    layer, _, arrays = made(name)
    lengths = np.array([[0, 1, 2, 3], [5, 5, 5, 5], [3, 3, 0, 0]])
    tame, tamed = layer(*arrays, lengths, return_attention_weights=True)
    wild = [x.copy() for x in arrays]
    wild[where][0, 1, 0] = garbage  # of the first sequence: the second query, key or value
    found, weights = layer(*wild, lengths, return_attention_weights=True)
    sees = np.zeros((3, 4), bool)
    sees[0] = [False, True, False, False] if where == 0 else lengths[0] > 1
    assert np.isnan(array(found)).all(-1).tolist() == sees.tolist()
    assert array(found)[~sees].tolist() == array(tame)[~sees].tolist()
    # whom a value reaches does not depend on it, so the weights stay
    rows, before = (
        np.moveaxis(array(x), -3, 0) if x.ndim == 4 else array(x)[None] for x in (weights, tamed)
    )
    for head, head_before in zip(rows, before, strict=True):
        blurred = sees if where < 2 else np.zeros_like(sees)
        assert np.isnan(head).all(-1).tolist() == blurred.tolist()
        assert head[~blurred].tolist() == head_before[~blurred].tolist()


@pytest.mark.parametrize("name", EACH)
def test_a_seen_nan_spoils_no_gradient_of_those_who_do_not_see_it(name):
    layer, _, arrays = made(name)
    lengths = np.array([[0, 1, 1, 3], [5, 5, 5, 5], [3, 3, 0, 0]])
    p = push(layer, arrays)
    p[0, 3] = 0  # the one query that sees the third key of the first sequence
    before = gradients(layer, arrays, p, lengths)
    wild = [x.copy() for x in arrays]
    wild[1][0, 2], wild[2][0, 2] = np.nan, np.inf
    after = gradients(layer, wild, p, lengths)
    for x, y in zip(before, after, strict=True):
        assert np.abs(x - y).max() <= 1e-6


@pytest.mark.parametrize("name", EACH)
def test_without_lengths_a_nan_reaches_all_of_its_sequence(name):
    layer, _, arrays = made(name)
    wild = [x.copy() for x in arrays]
    wild[1][0, 1, 0] = np.nan
    found = np.isnan(array(layer(*wild)))
    assert found[0].all()
    assert not found[1:].any()


def test_the_backend_is_the_one_asked_for():
    import os

    assert os.environ["KERAS_BACKEND"] == BACKEND

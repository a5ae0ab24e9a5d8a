import keras
import numpy as np
import pytest
import torch
from keras import ops

from regard import layers
from regard.errors import KindError, ShapeError, ValueRangeError
from regard.keras import masked_softmax
from tests.keras.cases import BACKEND, LENGTHS, array, near, tensor

SCORES = np.random.default_rng(0).standard_normal((3, 4, 5), np.float32) * 5


@pytest.mark.parametrize("valid_lens", LENGTHS.values(), ids=LENGTHS)
def test_equal_to_the_pytorch_function(valid_lens):
    exact = layers.masked_softmax(torch.tensor(SCORES).double(), tensor(valid_lens))
    near(masked_softmax(SCORES, valid_lens), exact)


def test_what_is_hidden_is_exactly_zero_and_a_dead_row_is_all_zeros():
    found = array(masked_softmax(SCORES, [[0, 1, 2, 5], [5, 5, 5, 5], [3, 0, 0, 1]]))
    assert found[0, 0].tolist() == [0] * 5
    assert found[0, 1].tolist() == [1, 0, 0, 0, 0]
    assert (found[0, 2] > 0).tolist() == [True, True, False, False, False]
    assert found.sum(-1).round(5).tolist() == [[0, 1, 1, 1], [1, 1, 1, 1], [1, 0, 0, 1]]


def test_hidden_scores_may_hold_anything():
    wild = SCORES.copy()
    wild[:, :, 3:] = [np.nan, np.inf]
    wild[0, 0, 3] = -np.inf
    tame = array(masked_softmax(SCORES, [3, 0, 2]))
    assert array(masked_softmax(wild, [3, 0, 2])).tolist() == tame.tolist()


def test_a_score_of_minus_infinity_is_a_key_that_is_not_there():
    scores = np.array([[[-np.inf, 0.0, 0.0], [-np.inf] * 3]])
    assert array(masked_softmax(scores)).tolist() == [[[0, 0.5, 0.5], [0, 0, 0]]]


def test_a_nan_that_is_seen_spreads_in_its_row_only():
    scores = np.zeros((1, 2, 3))
    scores[0, 0, 1] = np.nan
    assert np.isnan(array(masked_softmax(scores, [3]))).tolist() == [[[True] * 3, [False] * 3]]


def test_large_scores_neither_overflow_nor_lose_their_order():
    scores = np.array([[[1e38, -1e38, 0.0], [np.inf, 0.0, -np.inf]]], np.float32)
    assert array(masked_softmax(scores)).tolist() == [[[1, 0, 0], [1, 0, 0]]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_rounded_once(dtype):
    scores = ops.cast(ops.convert_to_tensor(SCORES), dtype)
    found = masked_softmax(scores, [5, 0, 3])
    exact = layers.masked_softmax(torch.tensor(array(scores)), torch.tensor([5, 0, 3])).numpy()
    eps = {"float16": 2**-11, "bfloat16": 2**-8}[dtype]
    assert keras.backend.standardize_dtype(found.dtype) == dtype
    assert (np.abs(array(found) - exact) <= eps * exact * 1.01 + 1e-7).all()


@pytest.mark.skipif(BACKEND == "jax", reason="JAX has float64 only when its whole process has")
def test_float64_stays_float64():
    found = ops.convert_to_numpy(masked_softmax(ops.convert_to_tensor(SCORES.astype(np.float64))))
    assert found.dtype == np.float64
    exact = torch.softmax(torch.tensor(SCORES).double(), -1).numpy()
    assert np.abs(found - exact).max() < 1e-15


@pytest.mark.parametrize("shape", [(0, 4, 5), (3, 0, 5), (3, 4, 0)])
@pytest.mark.parametrize("valid_lens", [None, "zeros"])
def test_empty_scores_give_empty_weights(shape, valid_lens):
    valid_lens = valid_lens and np.zeros(shape[0], np.int32)
    assert tuple(masked_softmax(np.zeros(shape), valid_lens).shape) == shape


@pytest.mark.parametrize(
    ("X", "valid_lens", "error", "message"),
    [
        (SCORES[0], None, ShapeError, "X must be [b, n, m], got the shape [4, 5]"),
        (
            SCORES,
            [1, 2],
            ShapeError,
            "valid_lens must be [b] or [b, n] with b=3 and n=4, got the shape [2]",
        ),
        (
            SCORES,
            np.ones((3, 5), int),
            ShapeError,
            "valid_lens must be [b] or [b, n] with b=3 and n=4, got the shape [3, 5]",
        ),
        (
            SCORES,
            np.ones((3, 4, 1), int),
            ShapeError,
            "valid_lens must be [b] or [b, n] with b=3 and n=4, got the shape [3, 4, 1]",
        ),
        (
            SCORES,
            np.array([1.0, 2.0, 3.0], np.float32),
            KindError,
            "valid_lens must hold integers, got float32; cast it to int32",
        ),
        (
            SCORES,
            [1, 6, 2],
            ValueRangeError,
            "valid_lens must be from 0 to m=5, the number of keys, got 6",
        ),
        (
            SCORES,
            [1, -1, 6],
            ValueRangeError,
            "valid_lens must be from 0 to m=5, the number of keys, got -1",
        ),
    ],
)
def test_message(X, valid_lens, error, message):
    with pytest.raises(error) as raised:
        masked_softmax(X, valid_lens)
    assert str(raised.value) == f"masked_softmax: {message}"

import numpy as np
import pytest
from keras import ops

from regard.errors import ShapeError, ValueRangeError
from regard.keras import DotProductAttention
from regard.keras.checks import check_inputs, lengths_of
from tests.keras.cases import inputs


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((4, 6), (3, 5, 6), (3, 5, 2)), "queries must be [b, n, d], got the shape [4, 6]"),
        (
            ((3, 4, 6), (3, 2, 5, 6), (3, 5, 2)),
            "keys must be [b, m, e], got the shape [3, 2, 5, 6]",
        ),
        (((3, 4, 6), (3, 5, 6), (5, 2)), "values must be [b, m, v], got the shape [5, 2]"),
        (
            ((3, 4, 6), (1, 5, 6), (1, 5, 2)),
            "keys must have as many sequences as queries, b=3, got b=1; "
            "repeat keys before the call, regard never broadcasts",
        ),
        (
            ((3, 4, 6), (3, 5, 6), (2, 5, 2)),
            "values must have as many sequences as queries, b=3, got b=2; "
            "repeat values before the call, regard never broadcasts",
        ),
        (
            ((3, 4, 6), (3, 5, 6), (3, 1, 2)),
            "keys and values must have one row a key: keys have m=5, values have m=1 "
            "(keys [3, 5, 6], values [3, 1, 2])",
        ),
    ],
)
def test_message(shapes, message):
    with pytest.raises(ShapeError) as raised:
        check_inputs("layer", *shapes)
    assert str(raised.value) == f"layer: {message}"
    with pytest.raises(ShapeError) as raised:  # and by way of a layer
        DotProductAttention(0.0)(*(np.zeros(shape) for shape in shapes))
    assert f"DotProductAttention: {message}".replace("[b, m, e]", "[b, m, 6]") in str(raised.value)


def test_what_is_not_known_yet_is_not_refused():
    check_inputs("layer", (None, None, 6), (3, None, 6), (None, 5, None), (6, 6, 2))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.int64])
def test_lengths_of_any_integers_and_of_lists(dtype):
    for given in (np.array([1, 2], dtype), ops.convert_to_tensor(np.array([1, 2], dtype)), [1, 2]):
        found = ops.convert_to_numpy(lengths_of("layer", given, 2, 3, 4))
        assert found.dtype == np.int32
        assert found.tolist() == [[1], [2]]
    both = np.array([[1, 2, 3], [4, 0, 1]], dtype)
    assert ops.convert_to_numpy(lengths_of("layer", both, 2, 3, 4)).tolist() == both.tolist()


def test_a_length_out_of_range_is_refused_by_a_layer():
    with pytest.raises(ValueRangeError) as raised:
        DotProductAttention(0.0)(*inputs((6, 6, 2)), np.array([1, 6, 2]))
    assert "valid_lens must be from 0 to m=5, the number of keys, got 6" in str(raised.value)

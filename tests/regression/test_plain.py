import numpy as np

from regard.regression.plain import is_one, ones


def test_ones_fill_no_memory_and_are_known_again():
    found = ones(10**9)
    assert found.shape == (10**9,)
    assert is_one(found)
    assert is_one(found[:5])
    assert not is_one(np.ones(3))  # they may be changed, one by one
    assert not is_one(np.broadcast_to(2.0, (3,)))

import numpy as np

from regard.regression.distinct import merged


def test_equal_places_become_one():
    x = np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0], [1.0, 3.0]])
    y = np.array([[1.0], [5.0], [4.0], [7.0]])
    weight = np.array([1.0, 1.0, 2.0, 3.0])
    places, values, weights, of = merged(x, y, weight)
    np.testing.assert_array_equal(of, [1, 0, 1, 2])
    np.testing.assert_array_equal(places, [[0.0, 2.0], [1.0, 2.0], [1.0, 3.0]])
    np.testing.assert_allclose(values, [[5.0], [3.0], [7.0]])
    np.testing.assert_array_equal(weights, [1.0, 3.0, 3.0])


def test_different_places_stay_as_they_are():
    x, y, weight = np.array([[2.0], [1.0]]), np.ones((2, 1)), np.ones(2)
    assert all(a is b for a, b in zip(merged(x, y, weight), (x, y, weight, None), strict=True))


def test_points_without_weights_stay_so_where_places_differ():
    x, y = np.array([[2.0], [1.0], [2.0]]), np.array([[1.0], [2.0], [5.0]])
    assert merged(x[:2], y[:2], None).weight is None
    places = merged(x, y, None)
    np.testing.assert_array_equal(places.weight, [1.0, 2.0])
    np.testing.assert_array_equal(places.y, [[2.0], [3.0]])
    np.testing.assert_array_equal(places.x[places.of], x)

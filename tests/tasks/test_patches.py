"""Squares of a picture: nothing lost, each at its place."""

import numpy as np
import pytest
import torch

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.tasks.patches import patches


def slowly(image, size):
    """Square by square, pixel by pixel."""
    height, width, channels = image.shape
    squares, places = [], []
    for row in range(-(-height // size)):
        for column in range(-(-width // size)):
            square = []
            for y in range(row * size, (row + 1) * size):
                for x in range(column * size, (column + 1) * size):
                    for c in range(channels):
                        pixel = image[min(y, height - 1), min(x, width - 1), c]
                        square.append(pixel / np.float32(255))
            squares.append(square)
            places.append([row, column])
    return np.array(squares, np.float32), np.array(places)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 28])
@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 9), (8, 6), (7, 13)])
def test_it_is_what_it_says(height, width, channels, size):
    draw = np.random.default_rng(height * 100 + width)
    image = draw.integers(0, 256, (height, width, channels), np.uint8)
    squares, places = patches(image, size)
    expected, where = slowly(image, size)
    assert squares.dtype == torch.float32
    assert places.dtype == torch.int64
    assert np.array_equal(squares.numpy(), expected)
    assert np.array_equal(places.numpy(), where)


def test_many_at_once_are_each_alone():
    images = np.random.default_rng(0).integers(0, 256, (2, 3, 5, 7, 3), np.uint8)
    squares, places = patches(images, 2)
    assert squares.shape == (2, 3, 12, 12)
    for i in range(2):
        for j in range(3):
            alone, where = patches(images[i, j], 2)
            assert torch.equal(squares[i, j], alone)
            assert torch.equal(places, where)


def test_fractions_stay_what_they_are():
    image = torch.tensor([[[0.25], [-3.0]]], dtype=torch.float64)
    assert patches(image, 1)[0].tolist() == [[0.25], [-3.0]]


@pytest.mark.parametrize(
    ("image", "size", "error", "message"),
    [
        (torch.zeros(2, 2, 1), 0, ValueRangeError, "size must be at least 1 pixel, got 0"),
        (torch.zeros(2, 2, 1), 1.5, KindError, "size must be a whole number of pixels, got 1.5"),
        (torch.zeros(2, 2, 1), True, KindError, "size must be a whole number of pixels, got True"),
        (
            torch.zeros(2, 2),
            1,
            ShapeError,
            "image must be [*b, h, w, c] with at least one pixel, got [2, 2]",
        ),
        (
            torch.zeros(0, 2, 1),
            1,
            ShapeError,
            "image must be [*b, h, w, c] with at least one pixel, got [0, 2, 1]",
        ),
    ],
)
def test_what_is_refused(image, size, error, message):
    with pytest.raises(error) as raised:
        patches(image, size)
    assert str(raised.value) == message

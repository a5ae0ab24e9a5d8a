"""Pictures behind weights: the patches lie where the keys say."""

import base64
import io

import numpy as np
import pytest

from regard.errors import ShapeError
from regard.viewing.backdrop import over_image, over_sound, png

image = pytest.importorskip("PIL.Image")


def pixels(data):
    return np.asarray(image.open(io.BytesIO(data)))


def picture(backdrop):
    head, _, data = backdrop["image"].partition(",")
    assert head == "data:image/png;base64"
    found = pixels(base64.b64decode(data))
    assert found.shape[:2] == (backdrop["height"], backdrop["width"])
    return found


@pytest.mark.parametrize("channels", [1, 3])
def test_a_png_is_what_was_written(channels):
    x = np.random.default_rng(0).integers(0, 256, (5, 7, channels)).astype(np.uint8)
    assert (pixels(png(x)).reshape(x.shape) == x).all()


def test_an_image_is_filled_up_to_whole_patches():
    x = np.arange(5 * 7 * 3).reshape(5, 7, 3)
    found = over_image(x, 4, offset=1)
    assert (found["rows"], found["cols"], found["offset"]) == (2, 2, 1)
    drawn = picture(found)
    assert drawn.shape == (8, 8, 3)
    assert (drawn[:5, :7] == x).all()
    assert (drawn[5:] == 255).all()
    with pytest.raises(ShapeError, match="pixels must be"):
        over_image(np.zeros((3, 3)), 2)


def test_a_sound_is_dark_where_it_is_loud_and_low_below():
    x = np.zeros((10, 4))
    x[2, 0] = 9.0
    found = over_sound(x, 4)
    assert (found["rows"], found["cols"], found["width"]) == (1, 3, 12)
    drawn = picture(found)
    assert np.unravel_index(drawn.argmin(), drawn.shape) == (3, 2)
    assert (drawn[:, 10:] == 255).all()
    long = over_sound(np.random.default_rng(0).normal(size=(4100, 4)), 10)
    assert (long["width"], long["cols"]) == (1367, 410)
    with pytest.raises(ShapeError, match="frames must be"):
        over_sound(np.zeros(3), 2)

"""What a user gives becomes contents, or is refused in words."""

import numpy as np
import pytest
import torch

from regard.errors import FileError, KindError, ShapeError, ValueRangeError
from regard.tasks.classification.forms import Images
from regard.tasks.classification.taken import taken
from regard.tasks.wav import Sound
from tests.tasks.classification.tiny import form_of, small, write_sounds

SOUNDS = form_of("sound", small())
GREY, COLOURED = Images(2, [0.0], [1.0]), Images(2, [0.0] * 3, [1.0] * 3)
SAMPLES = np.random.default_rng(0).uniform(-1, 1, 900).astype(np.float32)


def test_a_text_is_itself():
    form = form_of("text", small())
    assert taken(form, "a text") == "a text"
    with pytest.raises(KindError, match="a text must be a str, got int"):
        taken(form, 3)


def test_all_ways_to_give_a_sound(tmp_path):
    wanted = SOUNDS.mel(SAMPLES).numpy()
    for what in (SAMPLES, torch.from_numpy(SAMPLES), SAMPLES.astype(float), Sound(SAMPLES, 8000)):
        assert np.array_equal(taken(SOUNDS, what), wanted)
    path = next(write_sounds(tmp_path / "s", 1).rglob("*.wav"))
    assert np.array_equal(taken(SOUNDS, path), taken(SOUNDS, str(path)))


def test_a_sound_of_another_rate():
    found = taken(SOUNDS, SAMPLES, rate=16000)
    assert len(found) == SOUNDS.mel.frames(900, 16000) < len(taken(SOUNDS, SAMPLES))
    assert np.array_equal(taken(SOUNDS, Sound(SAMPLES, 16000)), found)


@pytest.mark.parametrize(
    ("what", "error"),
    [
        (3, KindError),
        ([0.1, 0.2], KindError),
        (np.zeros((2, 2), np.float32), ShapeError),
        (np.zeros(4, np.int16), KindError),
        (np.zeros(0, np.float32), ValueRangeError),
        (np.array([0.0, np.nan]), ValueRangeError),
    ],
    ids=repr,
)
def test_what_is_no_sound(what, error):
    with pytest.raises(error):
        taken(SOUNDS, what)


def test_all_ways_to_give_an_image(tmp_path):
    image = pytest.importorskip("PIL.Image")
    pixels = np.array([[0, 51], [255, 102]], np.uint8)
    picture = image.fromarray(pixels)
    picture.save(tmp_path / "x.png")
    for what in (
        pixels,
        pixels[..., None],
        pixels.astype(int),
        pixels / 255,
        (pixels / 255).astype(np.float32),
        torch.from_numpy(pixels),
        picture,
        tmp_path / "x.png",
        str(tmp_path / "x.png"),
    ):
        found = taken(GREY, what)
        assert found.dtype == np.uint8
        assert np.array_equal(found, pixels[..., None])
    assert taken(COLOURED, pixels).shape == (2, 2, 3)
    assert taken(GREY, np.array([[True]])).tolist() == [[[255]]]


@pytest.mark.parametrize(
    ("what", "error"),
    [
        (3, KindError),
        (np.array([["x"]]), KindError),
        (np.zeros(4), ShapeError),
        (np.zeros((2, 2, 4)), ShapeError),
        (np.zeros((0, 2)), ShapeError),
        (np.full((2, 2), 1.5), ValueRangeError),
        (np.full((2, 2), -1), ValueRangeError),
        (np.full((2, 2), 256), ValueRangeError),
        (np.full((2, 2), np.nan), ValueRangeError),
    ],
    ids=repr,
)
def test_what_is_no_image(what, error):
    with pytest.raises(error):
        taken(GREY, what)


def test_files_that_are_none(tmp_path):
    (tmp_path / "x").write_bytes(b"nothing of the kind")
    for form in (SOUNDS, GREY):
        with pytest.raises(FileError):
            taken(form, tmp_path / "x")
        with pytest.raises(FileNotFoundError):
            taken(form, tmp_path / "y")

"""Contents become numbers, and numbers what the network takes."""

import numpy as np
import pytest
import torch

from regard.tasks.classification.forms import Given, Images, Sounds, all_given, stacked
from regard.tasks.mel import Mel
from regard.tasks.vocabulary import UNK
from tests.tasks.classification.tiny import form_of, small

KINDS = ("text", "sound", "images")


@pytest.fixture(scope="module")
def forms():
    return {kind: form_of(kind, small()) for kind in KINDS}


def test_an_empty_text_is_unknown(forms):
    assert forms["text"].given(forms["text"].prepared("  ")).x.tolist() == [UNK]


def test_frames_have_a_mean_of_0_and_a_deviation_of_1():
    rng = np.random.default_rng(0)
    sounds = [rng.normal([3, -8], [2, 0.1], (n, 2)).astype(np.float32) for n in (50, 9)]
    form = Sounds.learn(Mel(features=2), iter(sounds))
    given = np.concatenate([form.given(x).x for x in sounds])
    assert given.dtype == np.float32
    np.testing.assert_allclose(given.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(given.std(0), 1, atol=1e-5)


def test_what_never_changes_is_not_divided_by_nothing():
    form = Images.learn(2, 1, iter([np.full((2, 2, 1), 255, np.uint8)]))
    assert form.deviation.tolist() == [1.0]
    assert form.given(np.full((2, 2, 1), 255, np.uint8)).x.tolist() == [[0, 0, 0, 0]]


def test_patches_of_an_image_know_their_places():
    form = Images(2, [0.0], [1.0])
    image = np.arange(12, dtype=np.uint8).reshape(3, 4, 1)
    assert (form.length(image.shape), form.size) == (4, 4)
    given = form.given(image)
    np.testing.assert_allclose(given.x[0] * 255, [0, 1, 4, 5], atol=1e-4)
    assert given.places.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_images_of_one_size_are_cut_together():
    form = Images(2, [0.1, 0.2, 0.3], [1.0, 2.0, 3.0])
    rng = np.random.default_rng(0)
    alike = [rng.integers(0, 256, (3, 5, 3)).astype(np.uint8) for _ in range(3)]
    for images in (alike, [*alike, alike[0][:2]], []):
        found = all_given(form, images)
        assert len(found) == len(images)
        for one, image in zip(found, images, strict=True):
            alone = form.given(image)
            assert np.array_equal(one.x, alone.x)
            assert np.array_equal(one.places, alone.places)


def test_images_are_made_grey_or_coloured():
    grey, coloured = Images(1, [0.0], [1.0]), Images(1, [0.0] * 3, [1.0] * 3)
    red = np.array([[[255, 0, 0]]], np.uint8)
    assert grey.prepared(red).tolist() == [[[76]]]
    assert coloured.prepared(grey.prepared(red)).tolist() == [[[76, 76, 76]]]
    assert grey.shape((1, 1, 3)) == (1, 1, 1)


def test_pitches_rise_to_half_the_rate():
    pitches = Sounds(Mel(features=3), [0.0] * 3, [1.0] * 3).pitches
    assert len(pitches) == 3
    assert 0 < pitches[0] < pitches[1] < pitches[2] < 4000
    assert pitches[1] == pytest.approx(700 * ((1 + 4000 / 700) ** 0.5 - 1))  # the middle, in mel


def test_examples_side_by_side():
    form = Images(1, [0.0], [1.0])
    rows = [
        Given(np.full((2, 1), 5, np.float32), np.array([[0, 0], [0, 1]])),
        Given(np.full((1, 1), 7, np.float32), np.array([[3, 4]])),
    ]
    x, lens, places = stacked(rows, form, 3, 2)
    assert x[..., 0].tolist() == [[5, 5], [7, 0], [0, 0]]
    assert lens.tolist() == [2, 1, 1]
    assert places.tolist() == [[[0, 0], [0, 1]], [[3, 4], [0, 0]], [[0, 0], [0, 0]]]


def test_tokens_side_by_side(forms):
    x, lens = stacked([Given(np.array([4, 5]))], forms["text"], 1, 3)
    assert (x.dtype, x.tolist(), lens.tolist()) == (torch.int64, [[4, 5, 0]], [2])

"""Examples are changed a little, as the draws say, and never cut."""

import numpy as np
import pytest

from regard.tasks.classification.augmentation import augmentation_of, drawn
from regard.tasks.vocabulary import UNK
from tests.tasks.classification.tiny import form_of, small

NOTHING = {
    "shift": 0, "gain": 0.0, "stretch": 0.0, "edges": 0, "mask_features": 0, "mask_frames": 0.0,
    "mask_words": 0.0,
}  # fmt: skip
NUMBERS = {
    "text": np.arange(4, 40),
    "sound": np.random.default_rng(0).standard_normal((30, 8)).astype(np.float32),
    "images": np.arange(63, dtype=np.uint8).reshape(7, 9, 1),
}


def made(kind, **changes):
    settings = small(**changes)
    return augmentation_of(settings, form_of(kind, settings))


@pytest.mark.parametrize("kind", NUMBERS)
def test_it_can_be_left_out_or_do_nothing(kind):
    assert made(kind, augment=False) is None
    augmentation = made(kind, **NOTHING)
    for u in drawn(augmentation, 1, 0, 20):
        assert augmentation.shape(NUMBERS[kind].shape, u) == NUMBERS[kind].shape
        np.testing.assert_allclose(augmentation.changed(NUMBERS[kind], u), NUMBERS[kind], rtol=1e-6)


@pytest.mark.parametrize("kind", NUMBERS)
def test_shapes_are_known_before_and_nothing_else_changes(kind):
    augmentation = made(kind)
    numbers = NUMBERS[kind].copy()
    seen = set()
    for u in drawn(augmentation, 1, 0, 200):
        changed = augmentation.changed(numbers, u)
        assert changed.shape == augmentation.shape(numbers.shape, u)
        assert changed.dtype == numbers.dtype
        assert np.array_equal(changed, augmentation.changed(numbers, u))
        seen.add(changed.tobytes())
    assert np.array_equal(numbers, NUMBERS[kind])
    assert len(seen) > 20


def test_draws_are_of_the_seed_and_the_epoch():
    augmentation = made("images")
    one = drawn(augmentation, 1, 5, 7)
    assert one.shape == (7, augmentation.draws)
    assert np.array_equal(one, drawn(augmentation, 1, 5, 7))
    assert not np.array_equal(one, drawn(augmentation, 1, 6, 7))
    assert not np.array_equal(one, drawn(augmentation, 2, 5, 7))


@pytest.mark.parametrize("frames", [1, 2, 3, 400])
def test_a_sound_of_any_length(frames):
    augmentation = made("sound", stretch=0.9, mask_frames=1.0, mask_features=8)
    x = np.ones((frames, 8), np.float32)
    lengths = set()
    for u in drawn(augmentation, 1, 0, 100):
        changed = augmentation.changed(x, u)
        assert len(changed) == augmentation.shape(x.shape, u)[0] >= 1
        assert np.isfinite(changed).all()
        lengths.add(len(changed))
    assert len(lengths) > 5


def test_a_sound_is_stretched_with_its_ends_where_they_are():
    augmentation = made("sound", **(NOTHING | {"stretch": 0.5}))
    x = np.repeat(np.arange(11.0, dtype=np.float32)[:, None], 8, 1)
    longest, shortest = np.zeros(augmentation.draws), np.zeros(augmentation.draws)
    longest[0] = 1.0
    changed = augmentation.changed(x, longest)
    np.testing.assert_allclose(changed[:, 0], np.linspace(0, 10, 16), atol=1e-5)
    changed = augmentation.changed(x, shortest)
    np.testing.assert_allclose(changed[:, 0], np.linspace(0, 10, 6), atol=1e-5)


def test_a_sound_gets_edges_and_louder():
    augmentation = made("sound", **(NOTHING | {"edges": 3, "gain": 10.0}))
    x = np.arange(24, dtype=np.float32).reshape(3, 8)
    u = np.full(augmentation.draws, 0.5)
    u[1], u[2], u[3] = 0.999, 0.3, 1.0  # 3 before, 1 behind, all of the gain
    changed = augmentation.changed(x, u)
    wanted = np.concatenate([x[:1]] * 3 + [x, x[-1:]]) + np.log(10)  # 10 dB are ten times
    np.testing.assert_allclose(changed, wanted, rtol=1e-6)


def test_what_is_hidden_of_a_sound_is_the_mean_frame():
    settings = small(**(NOTHING | {"mask_features": 4, "mask_frames": 0.5}))
    form = form_of("sound", settings)
    augmentation = augmentation_of(settings, form)
    x = np.full((10, 8), 99, np.float32)
    u = np.zeros(augmentation.draws)
    u[4], u[5] = 0.999, 0.999  # 4 features, the last
    u[8] = 0.999  # 5 frames, the first
    hidden = augmentation.changed(x, u) != 99
    assert hidden[:5].all()
    assert hidden[5:].tolist() == [[False] * 4 + [True] * 4] * 5
    np.testing.assert_allclose(form.given(augmentation.changed(x, u)).x[0], 0, atol=1e-6)


def test_an_image_is_moved_and_its_edge_repeated():
    augmentation = made("images", shift=2)
    image = NUMBERS["images"]
    assert np.array_equal(augmentation.changed(image, np.array([0.5, 0.5, 0])), image)
    moved = augmentation.changed(image, np.array([0.0, 0.999, 0]))  # 2 up to the top, 2 to the left
    assert np.array_equal(moved[2:, :-2], image[:-2, 2:])
    assert np.array_equal(moved[0, :-2], image[0, 2:])
    assert np.array_equal(moved[2:, -1], image[:-2, -1])


def test_images_are_turned_only_if_that_is_allowed():
    still, turning = made("images", shift=0), made("images", shift=0, flip=True)
    image = NUMBERS["images"]
    for u in drawn(turning, 1, 0, 20):
        assert np.array_equal(still.changed(image, u), image)
        wanted = image[:, ::-1] if u[2] < 0.5 else image
        assert np.array_equal(turning.changed(image, u), wanted)


def test_words_are_hidden():
    augmentation = made("text", mask_words=0.3)
    parts = [
        (augmentation.changed(NUMBERS["text"], u) == UNK).mean()
        for u in drawn(augmentation, 1, 0, 200)
    ]
    assert np.mean(parts) == pytest.approx(0.3, abs=0.02)
    changed = augmentation.changed(NUMBERS["text"], drawn(augmentation, 1, 0, 1)[0])
    assert np.array_equal(changed[changed != UNK], NUMBERS["text"][changed != UNK])

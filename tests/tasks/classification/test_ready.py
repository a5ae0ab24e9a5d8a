"""Examples become numbers when they are asked for."""

import numpy as np
import pytest

from regard.errors import FileError
from regard.tasks.classification.examples import Example
from regard.tasks.classification.forms import Images
from regard.tasks.classification.ready import NONE, ready
from tests.tasks.classification.tiny import form_of, small


def test_texts_are_cut_once():
    form = form_of("text", small())
    texts = ["very sweet", "lemon"]
    examples = [
        Example(label, "", b"", (), lambda text=text: text)
        for label, text in zip("ba", texts, strict=True)
    ]
    found = ready(examples, form, ("a", "b"))
    assert [x.label for x in found] == [1, 0]
    for one, text in zip(found, texts, strict=True):
        assert one.load().tolist() == form.vocabulary.encode(text)
        assert one.shape == one.load().shape
        assert one.load() is one.load()


def test_images_get_their_channels_and_unknown_labels_are_none():
    form = Images(1, [0.0] * 3, [1.0] * 3)
    grey = np.full((2, 3, 1), 9, np.uint8)
    (found,) = ready([Example("x", "a.png", b"", grey.shape, lambda: grey)], form, ("a", "b"))
    assert (found.label, found.shape) == (NONE, (2, 3, 3))
    assert found.load().tolist() == [[[9] * 3] * 3] * 2


def test_a_file_that_was_changed_is_refused():
    now = np.zeros((5, 2), np.float32)
    form = form_of("sound", small(mel_features=2))
    (found,) = ready([Example("x", "a.wav", b"", (4, 2), lambda: now)], form, ("x", "y"))
    with pytest.raises(FileError, match=r"a\.wav: was changed since the training began"):
        found.load()

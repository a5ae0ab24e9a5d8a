"""Data of three kinds come out in one form."""

import numpy as np
import pytest

from regard.errors import FileError
from regard.tasks.classification import examples as module
from regard.tasks.classification.examples import read_examples
from regard.tasks.mel import Mel
from regard.tasks.wav import read_wav
from tests.tasks.classification.tiny import small, write_any, write_images, write_sounds


@pytest.mark.parametrize("kind", ["text", "sound", "images"])
def test_labels_and_names(tmp_path, kind):
    path = write_any(tmp_path, kind, 6)
    for found in (read_examples(path, small()), read_examples(path, small(), kind)):
        assert (found.kind, len(found.all), len({x.digest for x in found.all})) == (kind, 6, 6)
        assert sorted(x.label for x in found.all) == sorted(
            {"text": ["sweet", "sour"], "sound": ["low", "high"], "images": ["across", "down"]}[
                kind
            ]
            * 3
        )
        assert all(path.name.partition(".")[0] in x.name for x in found.all)
        assert "6" in found.report[0]


def test_texts(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tone\nb\ttwo\nno tab\na\tone\n")
    found = read_examples(path, small())
    assert [(x.label, x.load(), x.name) for x in found.all] == [
        ("a", "one", f"{path}, line 1"),
        ("b", "two", f"{path}, line 2"),
    ]
    assert any("without a tab" in line for line in found.report)
    assert len(read_examples(path, small(), unique=False).all) == 3


def test_sounds_are_frames(tmp_path):
    found = read_examples(write_sounds(tmp_path / "s", 4), small())
    for example in found.all:
        sound = read_wav(next(tmp_path.rglob(example.name.rpartition("/")[2])))
        frames = Mel(features=8)(sound.samples).numpy()
        assert np.array_equal(example.load(), frames)
        assert example.shape == frames.shape


def test_a_sound_that_is_none_is_left_out_and_reported(tmp_path):
    folder = write_sounds(tmp_path / "s", 4)
    (folder / "low" / "bad.wav").write_bytes(b"RIFFxxxxWAVE")
    found = read_examples(folder, small())
    assert len(found.all) == 4
    assert any("bad.wav" in line for line in found.report)


def test_what_is_kept_does_not_change_what_is_read(tmp_path, monkeypatch):
    folder = write_sounds(tmp_path / "s", 4)
    kept = read_examples(folder, small()).all
    monkeypatch.setattr(module, "KEPT", kept[0].load().nbytes)
    read = read_examples(folder, small()).all
    assert read[0].load() is read[0].load()  # there was room for one
    assert read[1].load() is not read[1].load()
    for a, b in zip(kept, read, strict=True):
        assert (a.digest, a.shape) == (b.digest, b.shape)
        assert np.array_equal(a.load(), b.load())


def test_images(tmp_path):
    path = write_images(tmp_path / "x.npz", 4)
    stored = np.load(path)
    found = read_examples(path, small())
    for example, image in zip(found.all, stored["images"], strict=True):
        assert np.array_equal(example.load(), image[..., None])


def test_a_digest_knows_the_shape(tmp_path):
    for name, shape in (("a", (2, 2, 3)), ("b", (2, 3, 2))):
        images = np.zeros(shape, np.uint8)
        np.savez(tmp_path / f"{name}.npz", images=images, labels=np.array(["x", "y"]))
    one, two = (read_examples(tmp_path / f"{name}.npz", small()).all[0] for name in "ab")
    assert one.digest != two.digest


def test_what_is_of_another_kind_is_refused(tmp_path):
    with pytest.raises(FileError):
        read_examples(write_any(tmp_path, "text", 4), small(), "sound")

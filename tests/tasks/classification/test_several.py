"""What a path stands for, when it is given to be classified."""

import gzip

import numpy as np
import pytest

from regard.errors import FileError
from regard.tasks.classification.several import several
from tests.tasks.classification.tiny import write_images, write_sounds
from tests.tasks.made import idx


def test_a_file_is_itself(tmp_path):
    path = tmp_path / "x.wav"
    path.write_bytes(b"not even one")
    assert list(several(path, "sound")) == [(str(path), path)]


def test_a_folder_is_what_is_in_it(tmp_path):
    folder = write_sounds(tmp_path / "s", 4)
    (folder / "notes.txt").write_text("")
    (folder / "LOUD.WAV").write_bytes(b"")
    names = [name for name, _ in several(folder, "sound")]
    assert len(names) == 5
    assert names == sorted(names)
    with pytest.raises(FileError, match="there are no images in this folder"):
        list(several(folder, "images"))


def test_images_of_one_file(tmp_path):
    path = write_images(tmp_path / "x.npz", 3)
    found = list(several(path, "images"))
    assert [name for name, _ in found] == [f"{path}[{i}]" for i in range(3)]
    assert np.array_equal(found[2][1], np.load(path)["images"][2][..., None])


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 4, 3)])
def test_images_of_an_idx_file_without_labels(tmp_path, shape):
    images = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    path = tmp_path / "images.gz"
    path.write_bytes(gzip.compress(idx(images)))
    found = [image for _, image in several(path, "images")]
    assert [image.ndim for image in found] == [3, 3]
    assert np.array_equal(np.stack(found).reshape(shape), images)


def test_what_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(several(tmp_path / "x", "images"))

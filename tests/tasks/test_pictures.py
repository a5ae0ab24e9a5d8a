"""Sets of pictures: folders, lists, .npz and IDX files."""

import gzip
import shutil
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from regard.errors import FileError
from regard.tasks import pictures as module
from regard.tasks.pictures import read_picture, read_pictures
from tests.tasks.made import idx
from tests.tasks.mutated import fuzz

WANTED = (
    "wanted are pictures in folders named after their labels, a list with a file, a tab and its "
    "label in each row, an .npz file with images and labels, or IDX files"
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name, content):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        content.save(path)
    return path


def grey(width=3, height=2, shade=7):
    return PIL.Image.new("L", (width, height), shade)


def test_a_folder_of_folders():
    put("d/cat/1.png", grey())
    put("d/cat/deep/2.PNG", grey(5, 1))
    put("d/ant/3.bmp", grey(1, 1, 9))
    put("d/ant/notes.txt", b"x")
    pictures = read_pictures(Path("d"))
    assert pictures.labels == ["ant", "cat", "cat"]
    assert pictures.names == ["d/ant/3.bmp", "d/cat/1.png", "d/cat/deep/2.PNG"]
    assert [image.shape for image in pictures.images] == [(1, 1, 1), (2, 3, 1), (1, 5, 1)]
    assert pictures.sizes == [(1, 1), (2, 3), (1, 5)]
    assert pictures.images[0].tolist() == [[[9]]]
    assert len(pictures) == len(pictures.images[1:]) + 1 == 3
    assert [label for _, label in pictures] == pictures.labels
    assert pictures.report() == [
        "d: 3 pictures, 1 x 1 to 2 x 5 pixels, grey, 2 labels",
        "d: 1 file not named like a picture (ant/notes.txt)",
    ]


def test_colours_in_one_are_channels_in_all():
    put("d/a/1.png", grey())
    put("d/b/2.png", PIL.Image.new("RGB", (1, 1), "red"))
    put("d/b/3.png", grey())
    pictures = read_pictures(Path("d"))
    assert pictures.channels == 3
    assert pictures.images[0].tolist() == [[[7] * 3] * 3] * 2
    assert pictures.images[1:][0].tolist() == [[[255, 0, 0]]]
    assert "in colours" in pictures.report()[0]


def test_what_does_not_fit_is_read_again(monkeypatch):
    monkeypatch.setattr(module, "IN_MEMORY", 7)
    for i in range(3):
        put(f"d/{i}/x.png", grey(shade=i))
    pictures = read_pictures(Path("d"))
    assert [image[0, 0, 0] for image in pictures.images] == [0, 1, 2]
    put("d/0/x.png", grey(shade=99))
    put("d/2/x.png", grey(shade=98))
    assert [image[0, 0, 0] for image in pictures.images] == [0, 1, 98]
    Path("d/1/x.png").unlink()
    with pytest.raises(FileNotFoundError):
        pictures.images[1]


def test_pictures_that_cannot_be_read_are_left_out_with_their_reasons():
    whole = put("d/a/1.png", PIL.Image.effect_noise((64, 64), 50)).read_bytes()
    put("d/a/2.png", whole[:2000])
    put("d/b/3.png", b"no picture at all")
    put("d/b/4.png", grey())
    put("d/b/5.jpg", grey())
    Path("d/b/6.png").symlink_to("6.png")
    pictures = read_pictures(Path("d"))
    assert [Path(name).name for name in pictures.names] == ["1.png", "4.png", "5.jpg"]
    report = pictures.report()
    assert report[0] == "d: 3 pictures of 6 files, 2 x 3 to 64 x 64 pixels, grey, 2 labels"
    assert report[1] == "d: 3 files that cannot be read (a/2.png, b/3.png, b/6.png)"
    assert report[2].startswith("d/a/2.png: the picture cannot be read (")
    assert report[3].startswith("d/b/3.png: wanted a picture (PNG, ")
    assert report[4] == "d/b/6.png: Too many levels of symbolic links"


def test_a_list_of_files():
    put("p/1.png", grey())
    put("p/2.png", grey())
    put("list.tsv", b"p/1.png\tone\r\np/2.png\ttwo\nnone.png\tone\n")
    pictures = read_pictures(Path("list.tsv"))
    assert pictures.labels == ["one", "two"]
    assert pictures.report() == [
        "list.tsv: 2 pictures of 3 files, 2 x 3 pixels, grey, 2 labels",
        "list.tsv: 1 file that cannot be read (line 3)",
        "none.png: No such file or directory",
    ]


def test_an_npz_file():
    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    np.savez("a.npz", x=images, y=["b", "a"])
    shutil.move("a.npz", "a.data")  # seen from the content
    pictures = read_pictures(Path("a.data"))
    assert np.array_equal(np.stack(list(pictures.images)), images[..., None])
    assert pictures.labels == ["b", "a"]
    assert pictures.names == ["a.data[0]", "a.data[1]"]
    assert pictures.report() == ["a.data: 2 pictures, 3 x 4 pixels, grey, 2 labels"]


IMAGES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
LABELS = np.array([9, 0], np.uint8)
NAMES = [
    ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    ("t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"),
    ("my-images-idx", "my-labels-idx"),
]


@pytest.mark.parametrize("packed", [(0, 0), (1, 1), (0, 1), (1, 0)])
@pytest.mark.parametrize(("images", "labels"), NAMES)
def test_idx_files(images, labels, packed):
    images += ".gz" * packed[0]
    labels += ".gz" * packed[1]
    put(f"d/{images}", gzip.compress(idx(IMAGES)) if packed[0] else idx(IMAGES))
    put(f"d/{labels}", gzip.compress(idx(LABELS)) if packed[1] else idx(LABELS))
    for path in (Path("d") / images, Path("d")):
        pictures = read_pictures(path)
        assert np.array_equal(np.stack(list(pictures.images)), IMAGES[..., None])
        assert pictures.labels == ["9", "0"]
        assert pictures.report() == [f"d/{images}: 2 pictures, 3 x 4 pixels, grey, 2 labels"]


def test_idx_files_with_colours():
    put("a-images-idx4-ubyte", idx(np.zeros((2, 3, 4, 3), np.uint8)))
    put("a-labels-idx1-ubyte", idx(LABELS))
    assert read_pictures(Path("a-images-idx4-ubyte")).images[0].shape == (3, 4, 3)


@pytest.mark.parametrize(
    ("files", "path", "message"),
    [
        ({"d/notes.txt": b""}, "d", "d: 1 file not named like a picture: no picture is left; "
                                    f"{WANTED}"),
        ({"d/1.png": grey()}, "d", "d: 1 file outside the folders of the labels: no picture is "
                                   f"left; {WANTED}"),
        ({"a.png": grey()}, "a.png", f"a.png: is one picture; {WANTED}"),
        ({"a.npy": b"\x93NUMPY..."}, "a.npy", f"a.npy: is an .npy file without labels; {WANTED}"),
        ({"a.dat": b"rubbish"}, "a.dat", "a.dat: 1 file in rows without a tab: no picture is left; "
                                         f"{WANTED}"),
        (
            {"x-images-idx3": b"\0\0\7\3rubbish"},
            "x-images-idx3",
            "x-images-idx3: wanted an IDX file of bytes (type 8), this one is of type 7",
        ),
        (
            {"x-images-idx3": b"rubbish"},
            "x-images-idx3",
            "x-images-idx3: wanted an IDX file, which begins with the bytes 0 0 8 and the number "
            "of axes, this one begins with b'rubb'",
        ),
        (
            {"x-images-idx3": idx(IMAGES)},
            "x-images-idx3",
            "x-images-idx3: no labels are beside it; wanted x-labels-idx1",
        ),
        (
            {"x": idx(IMAGES)},
            "x",
            "x: wanted a file with 'images' in its name, and the same with 'labels'",
        ),
        (
            {"x-images-idx3": idx(IMAGES), "x-labels-idx1": idx(LABELS[:1])},
            "x-images-idx3",
            "x-images-idx3 has 2 pictures, x-labels-idx1 has 1 labels; wanted one for each",
        ),
        (
            {"x-images-idx3": idx(IMAGES), "x-labels-idx1": idx(IMAGES)},
            "x-images-idx3",
            "x-images-idx3 has 2 pictures, x-labels-idx1 has 2 x 3 x 4 labels; wanted one for each",
        ),
        (
            {"x-labels-idx1": idx(LABELS)},
            "x-labels-idx1",
            "x-labels-idx1: wanted pictures [n, h, w] or [n, h, w, c] with c of 1 or 3, got [2]: "
            "these are labels, give the file of the pictures",
        ),
        (
            {"x-images-idx3": idx(IMAGES[:0]), "x-labels-idx1": idx(LABELS[:0])},
            "x-images-idx3",
            "x-images-idx3: there is no picture in it, the array is [0, 3, 4]",
        ),
        (
            {"d/x-images-idx3": b"", "d/y-images-idx3.gz": b""},
            "d",
            "d: there are several sets in it, x-images-idx3, y-images-idx3.gz; give one of these "
            "files",
        ),
        (
            {"d/train/a/1.png": grey(), "d/test/a/1.png": grey()},
            "d",
            "d: the folders test, train look like parts of a data set, not like labels; give one "
            "of them, d/test",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(files, path, message):
    for name, content in files.items():
        put(name, content)
    with pytest.raises(FileError) as raised:
        read_pictures(Path(path))
    assert str(raised.value) == message


def test_what_is_not_there_and_one_picture_alone():
    with pytest.raises(FileNotFoundError):
        read_pictures(Path("none"))
    assert read_picture(put("a.png", grey(1, 1))).tolist() == [[[7]]]


def test_changed_bytes_never_raise_anything_else():
    put("f-labels-idx1", idx(LABELS))
    put("1.png", grey())
    np.savez("a.npz", x=IMAGES, y=[1, 2])
    valid = [idx(IMAGES), gzip.compress(idx(IMAGES)), b"1.png\tone\n1.png\ttwo\n"]
    valid += [Path("a.npz").read_bytes(), Path("1.png").read_bytes()]
    for name in ("f-images-idx3", "other"):
        good, refused = fuzz(lambda p: read_pictures(p).report(), Path(name), valid, count=150)
        assert good
        assert refused > 50

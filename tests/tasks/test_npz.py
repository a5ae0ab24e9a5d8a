"""Pictures in .npz files: names, shapes, numbers, and no pickles."""

import io
import pickle
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from regard.errors import FileError
from regard.tasks import npz as module
from regard.tasks.npz import read_npz, whole_numbers
from tests.tasks.mutated import fuzz

IMAGES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
NAMES = "images and labels, x and y, X and Y, X and y, data and target"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(*, packed=False, **arrays):
    file = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(file, **arrays)
    return file.getvalue()


def write(content, name="a.npz"):
    Path(name).write_bytes(content)
    return Path(name)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("names", module.NAMES, ids=str)
def test_names(names, packed):
    content = made(packed=packed, **dict(zip(names, (IMAGES, [3, 10]), strict=True)), other=[1])
    images, labels = read_npz(write(content))
    assert np.array_equal(images, IMAGES[..., None])
    assert labels == ["3", "10"]


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        (np.array([[3], [10]], np.int64), ["3", "10"]),
        (np.array([3.0, 10.0]), ["3", "10"]),
        (np.array(["cat", " a  dog "]), ["cat", "a dog"]),
        (np.array([b"cat", b"dog"]), ["cat", "dog"]),
        (np.array([True, False]), ["True", "False"]),
    ],
    ids=str,
)
def test_labels(given, labels):
    assert read_npz(write(made(x=IMAGES, y=given)))[1] == labels


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [
        (np.array([0, 255], np.int64), [0, 255]),
        (np.array([0, 255], np.uint16), [0, 255]),
        (np.array([0, 257, 1000, 65535], np.uint16), [0, 1, 4, 255]),
        (np.array([0, 0.5, 1]), [0, 128, 255]),
        (np.array([0, 0.5, 1], np.float16), [0, 128, 255]),
        (np.array([0, 0.6, 254.4, 255], np.float32), [0, 1, 254, 255]),
        (np.array([False, True]), [0, 255]),
        (np.array([0, 1]), [0, 1]),
        (np.array([0, 256]), None),
        (np.array([-1, 5]), None),
        (np.array([0, 255.5]), None),
        (np.array([0, np.nan]), None),
        (np.array([0, np.inf]), None),
    ],
    ids=str,
)
def test_pixels(given, bytes_, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 2)
    got = whole_numbers(given)
    assert bytes_ == (None if got is None else got.tolist())
    assert got is None or got.dtype == np.uint8


def test_colours_and_columns_first():
    colours = np.zeros((2, 3, 4, 3), np.uint8, order="F")
    colours[1, 2, 3] = 9, 8, 7
    images, _ = read_npz(write(made(images=colours, labels=[0, 1])))
    assert np.array_equal(images, colours)


class Bomb:
    def __reduce__(self):
        return Path.touch, (Path("exploded"),)


def member(name, content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
        archive.writestr("labels.npy", b"x")
    return file.getvalue()


def header(kind, shape):
    file = io.BytesIO()
    form = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, form)
    return file.getvalue()


OBJECTS = np.array([Bomb(), None], object)
REFUSED = (
    "holds Python objects, which are not read since they can run programs; save it as numbers, or "
    "words of one length (astype(str))"
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (made(images=OBJECTS, labels=[1, 2]), f"images {REFUSED}"),
        (made(images=IMAGES, labels=OBJECTS), f"labels {REFUSED}"),
        (made(pixels=IMAGES, y=[1, 2]), f"wanted arrays called {NAMES}; there are: pixels, y"),
        (member("a.txt", b"x")[:-1] + b"\0", f"wanted arrays called {NAMES}; there are: labels"),
        (
            made(x=IMAGES[0], y=[1, 2, 3]),
            "wanted pictures [n, h, w] or [n, h, w, c] with c of 1 or 3, got [3, 4]; reshape or "
            "transpose them",
        ),
        (
            made(x=np.zeros((2, 3, 32, 32)), y=[1, 2]),
            "wanted pictures [n, h, w] or [n, h, w, c] with c of 1 or 3, got [2, 3, 32, 32]; "
            "reshape or transpose them",
        ),
        (made(x=IMAGES, y=[1, 2, 3]), "2 pictures and 3 labels; wanted one for each"),
        (made(x=IMAGES, y=np.int64(1)), "wanted one label for each picture, a number or a word, "
                                        "got int64 []"),
        (made(x=IMAGES, y=np.eye(2)), "wanted one label for each picture, a number or a word, "
                                      "got float64 [2, 2]"),
        (made(x=IMAGES, y=[0.5, 1]), "labels must be whole numbers or words, got fractions"),
        (made(x=IMAGES, y=[np.nan, 1]), "labels must be whole numbers or words, got fractions"),
        (made(x=IMAGES, y=[np.inf, 1]), "labels must be whole numbers or words, got fractions"),
        (made(x=IMAGES, y=["a", " "]), "picture 1 has an empty label"),
        (made(x=IMAGES[:0], y=[]), "there is no picture in it, the array is [0, 3, 4]"),
        (made(x=IMAGES[:, :0], y=[1, 2]), "there is no picture in it, the array is [2, 0, 4]"),
        (made(x=IMAGES.astype(str), y=[1, 2]), "wanted numbers for pictures, got <U3"),
        (made(x=IMAGES * 1j, y=[1, 2]), "wanted numbers for pictures, got complex128"),
        (
            made(x=IMAGES - 0.5, y=[1, 2]),
            "pictures must be of 0 to 255 or of 0 to 1, got -0.5 to 22.5",
        ),
        (
            member("images.npy", header("|u1", (10**6, 10**6))),
            "images promises more than there is, 1000000 x 1000000; get it again",
        ),
        (
            member("images.npy", header("|u1", (-1, 5))),
            "images promises more than there is, -1 x 5; get it again",
        ),
        (
            member("images.npy", header("|S0", (2 * 10**9,))),  # words of no letters take no bytes
            "images promises more than there is, 2000000000; get it again",
        ),
        (b"PK\3\4rubbish", "the .npz file cannot be read (File is not a zip file); is it damaged?"),
        (
            member("images.npy", b"\x93NUMPY\1\0"),
            "the .npz file cannot be read (EOF: reading array header length, expected 2 bytes got "
            "0); is it damaged?",
        ),
        (
            member("images.npy", pickle.dumps([Bomb()] * 9, 2)),
            "the .npz file cannot be read (the magic string is not correct; expected "
            "b'\\x93NUMPY', got b'\\x80\\x02]q\\x00('); is it damaged?",
        ),
    ],
)  # fmt: skip
def test_a_file_that_is_refused(content, message):
    with pytest.raises(FileError) as raised:
        read_npz(write(content))
    assert str(raised.value) == f"a.npz: {message}"
    assert not Path("exploded").exists()


@pytest.mark.parametrize("text", ["(" * 900, "-" * 900 + "1", "1+" * 450 + "1", "9" * 900])
def test_a_description_nobody_can_read(text):
    head = b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little")
    content = member("images.npy", head + text.encode())
    with pytest.raises(
        FileError, match=r"^a.npz: the .npz file cannot be read \(.+\); is it damaged\?$"
    ):
        read_npz(write(content))


def test_the_bomb_would_explode():
    pickle.loads(pickle.dumps(Bomb()))
    assert Path("exploded").exists()


def test_what_unpacks_to_too_much_is_refused_before_it_is(monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 1000)
    content = made(packed=True, x=np.zeros((10, 28, 28), np.uint8), y=np.arange(10))
    with pytest.raises(FileError, match=r"^a.npz: x has 7,968 bytes; at most 1,000 are read$"):
        read_npz(write(content))


def test_changed_bytes_never_raise_anything_else():
    valid = [
        made(images=IMAGES, labels=[1, 2]),
        made(packed=True, images=IMAGES / 24, labels=["a", "b"]),
        made(packed=True, x=IMAGES, y=OBJECTS),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good, refused = fuzz(read_npz, Path("f"), valid, count=300)
    assert good > 3
    assert refused > 50
    assert not Path("exploded").exists()

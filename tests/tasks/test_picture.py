"""One picture: every mode Pillow knows, and everything that is no picture."""

import io
import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from regard.errors import FileError, MissingError, ValueRangeError
from regard.tasks import picture as module
from regard.tasks.picture import read_picture, with_channels
from tests.tasks.mutated import fuzz

NONE = (
    "a.png: wanted a picture (PNG, JPEG, GIF, BMP, WEBP, PPM), this is another kind of file or "
    "damaged, it begins with {}; convert it to PNG"
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(content, name="a.png"):
    Path(name).write_bytes(content)
    return Path(name)


def encoded(image, kind="PNG", **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


GREY = np.array([[0, 100, 255], [7, 8, 9]], np.uint8)
COLOURS = np.arange(18, dtype=np.uint8).reshape(2, 3, 3) * 10


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "PPM"])
def test_formats_that_lose_nothing(kind):
    got = read_picture(write(encoded(PIL.Image.fromarray(GREY), kind)))
    assert got.shape in {(2, 3, 1), (2, 3, 3)}  # a palette may be colours
    assert (got == GREY[..., None]).all()
    assert got.dtype == np.uint8
    if kind != "GIF":
        got = read_picture(write(encoded(PIL.Image.fromarray(COLOURS), kind)))
        assert np.array_equal(got, COLOURS)


@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
def test_formats_that_lose_something(kind):
    image = PIL.Image.new("RGB", (16, 8), (200, 100, 50))
    got = read_picture(write(encoded(image, kind, quality=95), "a.dat")).astype(int)
    assert got.shape == (8, 16, 3)
    assert np.abs(got - [200, 100, 50]).max() < 8


def test_one_pixel():
    assert read_picture(write(encoded(PIL.Image.new("L", (1, 1), 5)))).tolist() == [[[5]]]


def test_palettes_and_what_is_transparent():
    image = PIL.Image.new("P", (2, 1))
    image.putpalette([255, 0, 0, 0, 255, 0])
    image.putpixel((1, 0), 1)
    assert read_picture(write(encoded(image))).tolist() == [[[255, 0, 0], [0, 255, 0]]]
    clear = encoded(image, transparency=1)
    assert read_picture(write(clear)).tolist() == [[[255, 0, 0], [255, 255, 255]]]
    image = PIL.Image.fromarray(np.uint8([[[10, 20, 30, 255], [10, 20, 30, 0], [0, 0, 0, 51]]]))
    assert read_picture(write(encoded(image))).tolist() == [
        [[10, 20, 30], [255, 255, 255], [204, 204, 204]]
    ]
    image = PIL.Image.fromarray(np.uint8([[[10, 255], [10, 0]]]))
    assert image.mode == "LA"
    assert read_picture(write(encoded(image))).tolist() == [[[10], [255]]]
    grey = encoded(PIL.Image.fromarray(GREY), transparency=100)
    assert read_picture(write(grey))[0].tolist() == [[0], [255], [255]]


def test_depths():
    bits = PIL.Image.fromarray(np.array([[True, False]]))
    assert read_picture(write(encoded(bits))).tolist() == [[[255], [0]]]
    deep = PIL.Image.fromarray(np.array([[0, 257, 128 * 257, 65535]], np.uint16))
    assert read_picture(write(encoded(deep))).tolist() == [[[0], [1], [128], [255]]]
    assert read_picture(write(encoded(deep, "PPM"))).tolist() == [[[0], [1], [128], [255]]]
    real = PIL.Image.fromarray(np.array([[0, 0.5, 1]], np.float32))
    assert read_picture(write(encoded(real, "PPM"))).tolist() == [[[0], [128], [255]]]


def test_other_colours_become_red_green_and_blue():
    cmyk = PIL.Image.new("CMYK", (4, 4), (0, 255, 255, 0))
    got = read_picture(write(encoded(cmyk, "JPEG")))
    assert np.abs(got[0, 0].astype(int) - [255, 0, 0]).max() < 8


def test_photographs_are_turned_upright():
    image = PIL.Image.fromarray(COLOURS)
    for orientation, upright in (
        (1, COLOURS),
        (3, COLOURS[::-1, ::-1]),
        (6, COLOURS.transpose(1, 0, 2)[:, ::-1]),
        (8, COLOURS.transpose(1, 0, 2)[::-1]),
        (99, COLOURS),
    ):
        exif = PIL.Image.Exif()
        exif[0x0112] = orientation
        got = read_picture(write(encoded(image, exif=exif)))
        assert np.array_equal(got, upright), orientation


def test_a_damaged_note_about_turning_is_no_matter():
    for note in (b"II*\0rubbish that is no exif", b"rubbish that is no exif"):
        content = encoded(PIL.Image.fromarray(COLOURS), exif=b"Exif\0\0" + note)
        assert np.array_equal(read_picture(write(content)), COLOURS)


def test_the_first_of_a_moving_picture():
    frames = [PIL.Image.new("L", (2, 2), shade) for shade in (10, 200)]
    content = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert (read_picture(write(content)) == 10).all()


def test_channels():
    red = write(encoded(PIL.Image.new("RGB", (1, 1), "red")))
    assert read_picture(red, channels=1).tolist() == [[[76]]]
    assert read_picture(red, channels=3).tolist() == [[[255, 0, 0]]]
    grey = write(encoded(PIL.Image.new("L", (1, 1), 9)))
    assert read_picture(grey, channels=3).tolist() == [[[9, 9, 9]]]
    yellow = np.array([[[255, 255, 0]]], np.uint8)
    assert with_channels(yellow, 1).tolist() == [[[226]]]  # 225.93
    every = np.repeat(np.arange(256, dtype=np.uint8)[:, None, None], 3, axis=2)
    assert np.array_equal(with_channels(every, 1)[..., 0, 0], np.arange(256))
    many = np.zeros((5, 4, 3, 1), np.uint8)
    assert with_channels(many, 3).shape == (5, 4, 3, 3)
    with pytest.raises(
        ValueRangeError, match=r"^channels must be 1 for grey or 3 for colours, got 4$"
    ):
        with_channels(many, 4)


def png(width, height, data=b"", bits=8, colour=0):
    """A PNG by hand, so that it may promise anything."""

    def part(name, body):
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    head = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    rest = part(b"IHDR", head) + part(b"IDAT", zlib.compress(data)) + part(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + rest


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.png: wanted a picture, the file is empty"),
        (b"some text\n", NONE.format("b'some tex'")),
        (encoded(PIL.Image.new("L", (1, 1)), "TIFF"), NONE.format(r"b'II*\x00\x08\x00\x00\x00'")),
        (
            b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",  # Pillow would run Ghostscript
            NONE.format("b'%!PS-Ado'"),
        ),
        (
            png(9000, 9000),
            "a.png: has 9,000 x 9,000 pixels, more than 67,108,864; make it smaller",
        ),
        (
            png(10_000, 9000),  # Pillow warns
            "a.png: has 10,000 x 9,000 pixels, more than 67,108,864; make it smaller",
        ),
        (png(50_000, 50_000), "a.png: has more than 67,108,864 pixels; make it smaller"),
    ],
)
def test_a_file_that_is_refused(content, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FileError) as raised:
            read_picture(write(content))
    assert str(raised.value) == message


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "PPM"])
def test_a_picture_that_is_cut_off(kind):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    content = encoded(PIL.Image.fromarray(noise), kind)
    for length in (len(content) // 2, len(content) - 200):
        with pytest.raises(FileError, match=r"^a.png: "):
            read_picture(write(content[:length]))


def test_grey_that_means_nothing():
    real = PIL.Image.fromarray(np.array([[0, 5]], np.float32))
    with pytest.raises(FileError) as raised:
        read_picture(write(encoded(real, "PPM")))
    assert str(raised.value) == (
        "a.png: the picture cannot be read (grey from 0 to 5, wanted 0 to 1); is the file damaged?"
    )


def test_what_is_no_file(monkeypatch):
    with pytest.raises(FileNotFoundError):
        read_picture(Path("none.png"))
    with pytest.raises(IsADirectoryError):
        read_picture(Path())
    monkeypatch.setattr(module, "LARGEST", 3)
    with pytest.raises(FileError, match=r"^a.png: has 4 bytes, a picture at most 3$"):
        read_picture(write(b"abcd"))
    monkeypatch.setitem(__import__("sys").modules, "PIL.Image", None)
    with pytest.raises(MissingError, match=r"^a picture needs PIL.*'regard\[images\]'"):
        read_picture(Path("a.png"))


def test_changed_bytes_never_raise_anything_else():
    image = PIL.Image.fromarray(np.random.default_rng(0).integers(0, 256, (9, 9, 3), np.uint8))
    grey = image.convert("L")
    valid = [encoded(image, kind) for kind in ("PNG", "JPEG", "GIF", "BMP", "WEBP", "PPM")]
    valid += [encoded(grey), encoded(image.convert("P")), encoded(image.convert("RGBA"))]
    good, refused = fuzz(read_picture, Path("f"), valid, count=300)
    assert good > 30
    assert refused > 50

"""WAV files: every way samples are written, and everything that is no sound."""

import io
import os
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.io.wavfile

from regard.errors import FileError
from regard.tasks.wav import read_wav, read_wav_header
from tests.tasks.made import chunk, riff, wav
from tests.tasks.mutated import fuzz

CONVERT = "convert it, ffmpeg -i IN -c:a pcm_s16le OUT.wav"
KINDS = (
    "wanted 8, 16, 24 or 32 bits, or floating-point numbers of 32 or 64; "
    "convert it, ffmpeg -i IN -c:a pcm_s16le OUT.wav"
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(content, name="a.wav"):
    Path(name).write_bytes(content)
    return Path(name)


def samples(content):
    return read_wav(write(content)).samples


STEPS = [-1.0, -0.5, 0.0, 0.25, 0.5]


def packed(bits, values=STEPS):
    """Fractions as whole numbers of so many bits, little end first."""
    top = 1 << (bits - 1)
    whole = [int(x * top) + (128 if bits == 8 else 0) for x in values]
    return b"".join(w.to_bytes(bits // 8, "little", signed=bits > 8) for w in whole)


@pytest.mark.parametrize("extensible", [False, True])
@pytest.mark.parametrize("bits", [8, 16, 24, 32])
def test_whole_numbers_of_any_size(bits, extensible):
    sound = read_wav(write(wav(packed(bits), bits=bits, rate=22_050, extensible=extensible)))
    assert sound.samples.tolist() == STEPS
    assert sound.samples.dtype == np.float32
    assert (sound.rate, sound.seconds) == (22_050, 5 / 22_050)


@pytest.mark.parametrize("extensible", [False, True])
@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
def test_floating_point_numbers(dtype, extensible):
    data = np.array(STEPS, dtype).tobytes()
    content = wav(data, bits=8 * np.dtype(dtype).itemsize, code=3, extensible=extensible)
    assert samples(content).tolist() == STEPS


@pytest.mark.parametrize("bits", [8, 16, 24, 32])
def test_channels_are_mixed_down(bits):
    frames = [-1.0, 0.5, 0.5, 0.5, 0.5, -0.25]
    assert samples(wav(packed(bits, frames), bits=bits, channels=2)).tolist() == [-0.25, 0.5, 0.125]
    assert samples(wav(packed(bits, frames), bits=bits, channels=3)).tolist() == [0.0, 0.25]


def test_what_another_writer_wrote_is_read_as_it_reads_it():
    noise = np.random.default_rng(0).uniform(-1, 1, (501, 2))
    for dtype, scale in (("i2", 32767), ("i4", 2**31 - 1), ("f4", 1), ("f8", 1)):
        file = io.BytesIO()
        given = (noise * scale).astype(dtype)
        scipy.io.wavfile.write(file, 16_000, given)
        expected = given.astype(np.float64).mean(axis=1) / (2**15 if dtype == "i2" else 1)
        expected /= 2**31 if dtype == "i4" else 1
        np.testing.assert_allclose(samples(file.getvalue()), expected, atol=1e-7)


def test_pieces_are_joined(monkeypatch):
    from regard.tasks import wav as module

    whole = np.arange(-50, 51, dtype="<i2").tobytes()
    expected = samples(wav(whole, channels=1))
    monkeypatch.setattr(module, "PIECE", 7)
    assert np.array_equal(samples(wav(whole, channels=1)), expected)


def test_fewer_bits_than_their_bytes_hold():
    assert samples(wav(packed(16), bits=12, block=2)).tolist() == STEPS
    assert samples(wav(packed(24), bits=20, block=3)).tolist() == STEPS


def test_too_loud_is_made_smaller_together():
    data = np.array([-2, 1, 0.5], "<f4").tobytes()
    assert samples(wav(data, bits=32, code=3)).tolist() == [-1, 0.5, 0.25]
    data = np.array([-1, 1, 0.5], "<f4").tobytes()
    assert samples(wav(data, bits=32, code=3)).tolist() == [-1, 1, 0.5]


def form(**options):
    return wav(**options)[12:36]


def test_other_parts_of_a_file_are_passed_over():
    note = chunk(b"LIST", b"odd")  # filled up to an even place
    data = chunk(b"data", packed(16))
    content = riff(note + form() + note + data + chunk(b"data", b"\1\1"))
    assert samples(content).tolist() == STEPS
    assert samples(riff(form() + data) + b"behind it").tolist() == STEPS


def test_half_a_sample_is_none():
    assert samples(wav(packed(16) + b"\1")).tolist() == STEPS


@pytest.mark.parametrize("length", [0xFFFFFFFF, 0x7FFFF000])
def test_what_was_written_into_a_pipe_has_no_length(length):
    content = riff(form() + b"data" + struct.pack("<I", length) + packed(16))
    assert samples(content).tolist() == STEPS


def test_the_header_alone():
    header = read_wav_header(write(wav(bytes(60), channels=2, bits=24, rate=48_000)))
    assert (header.rate, header.channels, header.kind, header.frames) == (48_000, 2, "i3", 10)


PROMISES = riff(form() + b"data" + struct.pack("<I", 1000) + bytes(16))
NAN = np.array([0, np.nan, np.inf, 1], "<f4").tobytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", f"wanted a WAV file, this is an empty file; {CONVERT}"),
        (b"RIFF", f"wanted a WAV file, this is something else, it begins with b'RIFF'; {CONVERT}"),
        (b"ID3\3 a song", f"wanted a WAV file, this is an MP3 file; {CONVERT}"),
        (b"fLaC and more", f"wanted a WAV file, this is a FLAC file; {CONVERT}"),
        (b"OggS and more", f"wanted a WAV file, this is an Ogg file; {CONVERT}"),
        (
            b"RIFF1234AVI more",
            f"wanted a WAV file, this is something else, it begins with b'RIFF1234'; {CONVERT}",
        ),
        (
            b"RIFX1234WAVE",
            "wanted a WAV file, this is a WAV file with the bytes of its numbers turned round; "
            + CONVERT,
        ),
        (
            b"some text\nthat is no sound",
            f"wanted a WAV file, this is something else, it begins with b'some tex'; {CONVERT}",
        ),
        (wav(b""), "there is no sound in it, 0 samples; leave it out"),
        (wav(b"\1"), "there is no sound in it, 0 samples; leave it out"),
        (
            PROMISES,
            "the WAV file promises 1,000 bytes of sound, and there are 16: it is cut off; "
            "get it again",
        ),
        (
            wav(bytes(1000))[:-1],
            "the WAV file promises 1,000 bytes of sound, and there are 999: it is cut off; "
            "get it again",
        ),
        (
            wav()[:36],
            "the WAV file has no sound in it, or its end is missing; get it again",
        ),
        (
            wav()[:12],
            "the WAV file has no sound in it, or its end is missing; get it again",
        ),
        (
            riff(chunk(b"junk", b"") * 2000 + wav()[12:]),
            "the WAV file has no sound in it, or its end is missing; get it again",
        ),
        (
            riff(chunk(b"data", bytes(8)) + form()),
            "the WAV file does not say how its sound is written; get it again",
        ),
        (
            riff(chunk(b"fmt ", bytes(8)) + chunk(b"data", bytes(8))),
            "the WAV file does not say how its sound is written; get it again",
        ),
        (wav(rate=0), "0 samples a second; sound has 1,000 to 768,000; is the file damaged?"),
        (
            wav(rate=2**32 - 1),
            "4,294,967,295 samples a second; sound has 1,000 to 768,000; is the file damaged?",
        ),
        (wav(code=7, bits=8), f"the sound is written as mu-law; {CONVERT}"),
        (wav(code=0x1234), f"the sound is written as 0x1234; {CONVERT}"),
        (wav(code=7, bits=8, extensible=True), f"the sound is written as mu-law; {CONVERT}"),
        (wav(code=0xFFFE), f"the sound is written as 0xfffe; {CONVERT}"),
        (wav(channels=0, block=2), f"16 bits a sample in 2 bytes for 0 channels; {KINDS}"),
        (wav(bits=0, block=2), f"0 bits a sample in 2 bytes for 1 channels; {KINDS}"),
        (wav(bits=64), f"64 bits a sample in 8 bytes for 1 channels; {KINDS}"),
        (wav(bits=16, code=3), f"16 bits a sample in 2 bytes for 1 channels; {KINDS}"),
        (wav(bits=24, block=4), f"24 bits a sample in 4 bytes for 1 channels; {KINDS}"),
        (wav(bits=24, block=2), f"24 bits a sample in 2 bytes for 1 channels; {KINDS}"),
        (wav(channels=2, block=5), f"16 bits a sample in 5 bytes for 2 channels; {KINDS}"),
        (wav(block=0), f"16 bits a sample in 0 bytes for 1 channels; {KINDS}"),
        (
            wav(NAN, bits=32, code=3),
            "2 of 4 samples are no numbers, or too large for any; record it again, or leave it out",
        ),
        (
            wav(np.array([0, 1e300]).tobytes(), bits=64, code=3),
            "1 of 2 samples are no numbers, or too large for any; record it again, or leave it out",
        ),
    ],
)
def test_a_file_that_is_refused(content, message):
    with pytest.raises(FileError) as raised:
        read_wav(write(content))
    assert str(raised.value) == f"a.wav: {message}"


def test_what_is_no_file():
    with pytest.raises(FileNotFoundError):
        read_wav(Path("none.wav"))
    with pytest.raises(IsADirectoryError):
        read_wav(Path())
    os.mkfifo("pipe.wav")
    with pytest.raises(FileError, match=r"^pipe.wav: is a pipe or a device"):
        read_wav(Path("pipe.wav"))


def test_memory_is_that_of_the_samples():
    path = write(wav(bytes(6 << 20), channels=2, bits=24))
    tracemalloc.start()
    try:
        sound = read_wav(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(sound.samples) == 1 << 20
    assert peak < 4 * (1 << 20) + (24 << 20)


def test_changed_bytes_never_raise_anything_else():
    valid = [
        wav(packed(16) * 20, channels=2),
        wav(packed(24) * 9, bits=24, extensible=True),
        wav(np.array(STEPS * 9, "<f4").tobytes(), bits=32, code=3),
        wav(packed(8) * 9, bits=8),
    ]

    def read(path):
        sound = read_wav(path)
        assert np.abs(sound.samples).max() <= 1

    good, refused = fuzz(read, Path("f"), valid, count=300)
    assert good > 50
    assert refused > 50

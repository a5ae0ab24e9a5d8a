r"""Sounds from WAV files, as one row of numbers between -1 and 1.

Read are samples of 8, 16, 24 and 32 bits and floating-point numbers of 32 and 64, with any
number of channels, of which the mean is taken, in the plain format and in the extensible one.
Samples beyond 1, which only floating-point numbers can be, are made smaller together until the
loudest is 1. An incomplete last sample is no sample. A data part whose length is given as
0xFFFFFFFF or 0x7FFFF000, as programs do that write into a pipe, goes to the end of the file.

Refused is a file that is no WAV, is compressed within, has no samples, has fewer bytes than it
says, or samples that are no numbers.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from regard.errors import FileError
from regard.tasks.files import open_plain
from regard.tasks.findings import shown

__all__ = ["HIGHEST", "LOWEST", "Sound", "WavHeader", "read_wav", "read_wav_header"]

LOWEST, HIGHEST = 1_000, 768_000  # samples a second that sound is recorded with
PIECE = 1 << 20  # samples decoded at a time
PARTS = 1000  # of a file before its sound: real ones have some four
STREAMED = {0xFFFFFFFF, 0x7FFFF000}
PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE
FORMATS = {
    2: "ADPCM",
    6: "A-law",
    7: "mu-law",
    0x11: "ADPCM",
    0x31: "GSM",
    0x50: "MPEG",
    0x55: "MP3",
}
KINDS = {
    (PCM, 1): "u1",
    (PCM, 2): "i2",
    (PCM, 3): "i3",
    (PCM, 4): "i4",
    (FLOAT, 4): "f4",
    (FLOAT, 8): "f8",
}
GUID = bytes.fromhex("000000001000800000aa00389b71")  # of a format that has a number as well
OTHERS = {
    b"": "an empty file",
    b"RIFX": "a WAV file with the bytes of its numbers turned round",
    b"RF64": "a WAV file of more than 4 GB",
    b"BW64": "a WAV file of more than 4 GB",
    b"fLaC": "a FLAC file",
    b"OggS": "an Ogg file",
    b"FORM": "an AIFF file",
    b"ID3": "an MP3 file",
    b"\xff\xfb": "an MP3 file",
    b"caff": "a CAF file",
    b".snd": "an AU file",
    b"\x1f\x8b": "compressed with gzip",
}
CONVERT = "convert it, ffmpeg -i IN -c:a pcm_s16le OUT.wav"


@dataclass(frozen=True, eq=False)
class Sound:
    """One channel of sound: samples [t] between -1 and 1, and how many make a second."""

    samples: NDArray[np.float32]
    rate: int

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self.samples) / self.rate


@dataclass(frozen=True)
class WavHeader:
    """What a WAV file says of itself before the sound begins."""

    rate: int
    channels: int
    kind: str  # of a number: "u1", "i2", "i3", "i4", "f4" or "f8"
    start: int  # the first byte of the sound
    frames: int  # samples of each channel


def read_wav_header(path: Path) -> WavHeader:
    """What a WAV file holds, without reading the sound.

    Raises:
        FileError: it is no WAV file whose sound could be read.
        OSError: it cannot be opened.

    """
    with open_plain(path) as file:
        return _header(path, file)


def read_wav(path: Path) -> Sound:
    """The sound of a WAV file; what is read and what is not stands at the top of this module.

    Raises:
        FileError: it is no WAV file, it is damaged, or its samples are no numbers.
        OSError: it cannot be opened.

    """
    with open_plain(path) as file:
        header = _header(path, file)
        samples = np.empty(header.frames, np.float32)
        file.seek(header.start)
        width = int(header.kind[1]) * header.channels
        rows = max(1, PIECE // header.channels)
        for first in range(0, header.frames, rows):
            count = min(rows, header.frames - first)
            raw = file.read(count * width)
            if len(raw) < count * width:
                raise _cut_off(path, header.frames * width, first * width + len(raw))
            samples[first : first + count] = _decoded(raw, header)
    return Sound(_within_one(path, samples), header.rate)


def _header(path: Path, file: BinaryIO) -> WavHeader:
    size = os.fstat(file.fileno()).st_size
    head = file.read(12)
    if head[:4] != b"RIFF" or head[8:] != b"WAVE":
        msg = f"{shown(path)}: wanted a WAV file, this is {_what(head)}; {CONVERT}"
        raise FileError(msg)
    form: bytes | None = None
    place = len(head)
    for _ in range(PARTS):
        file.seek(place)
        name, length = struct.unpack("<4sI", file.read(8).ljust(8, b"\0"))
        place += 8
        there = max(0, size - place)
        if name == b"fmt ":
            form = file.read(min(length, 40))
        elif name == b"data":
            length = there if length in STREAMED else length
            if length > there:
                raise _cut_off(path, length, there)
            return _understood(path, form, place, length)
        place += length + length % 2  # parts begin at even places
        if place >= size:
            break
    msg = f"{shown(path)}: the WAV file has no sound in it, or its end is missing; get it again"
    raise FileError(msg)


def _understood(path: Path, form: bytes | None, start: int, length: int) -> WavHeader:
    """What the format says, if it is one that can be read."""
    if form is None or len(form) < 16:  # noqa: PLR2004 - what is unpacked below
        msg = f"{shown(path)}: the WAV file does not say how its sound is written; get it again"
        raise FileError(msg)
    code, channels, rate, _, block, bits = struct.unpack("<HHIIHH", form[:16])
    if code == EXTENSIBLE and len(form) == 40 and form[26:] == GUID:  # noqa: PLR2004
        code = int.from_bytes(form[24:26], "little")
    if code not in {PCM, FLOAT}:
        msg = f"{shown(path)}: the sound is written as {FORMATS.get(code, hex(code))}; {CONVERT}"
        raise FileError(msg)
    width = block // channels if channels and block % channels == 0 else 0
    if (code, width) not in KINDS or not 8 * (width - 1) < bits <= 8 * width:
        msg = (
            f"{shown(path)}: {bits} bits a sample in {block} bytes for {channels} channels; wanted "
            f"8, 16, 24 or 32 bits, or floating-point numbers of 32 or 64; {CONVERT}"
        )
        raise FileError(msg)
    if not LOWEST <= rate <= HIGHEST:
        msg = (
            f"{shown(path)}: {rate:,} samples a second; sound has {LOWEST:,} to {HIGHEST:,}; is "
            "the file damaged?"
        )
        raise FileError(msg)
    frames = length // block
    if not frames:
        msg = f"{shown(path)}: there is no sound in it, 0 samples; leave it out"
        raise FileError(msg)
    return WavHeader(rate, channels, KINDS[code, width], start, frames)


def _decoded(raw: bytes, header: WavHeader) -> NDArray[np.float32]:
    """The mean of the channels."""
    kind = header.kind
    if kind == "i3":  # the upper three bytes of four
        bytes4 = np.zeros((len(raw) // 3, 4), np.uint8)
        bytes4[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
        numbers = bytes4.view("<i4")[:, 0]
    else:
        numbers = np.frombuffer(raw, f"<{kind}")
    with np.errstate(over="ignore", invalid="ignore"):  # what is no number is refused later
        x: NDArray[np.float32] = numbers.astype(np.float32)
        if kind == "u1":
            x = (x - np.float32(128)) / np.float32(128)
        elif kind[0] == "i":
            x /= 2.0 ** (15 if kind == "i2" else 31)
        if header.channels > 1:
            x = x.reshape(-1, header.channels).mean(axis=1, dtype=np.float32)
    return x


def _within_one(path: Path, samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Samples between -1 and 1."""
    # the largest and the smallest are no numbers where any is none
    loudest = max(abs(float(samples.max())), abs(float(samples.min())))
    if not np.isfinite(loudest):
        bad = sum(
            int((~np.isfinite(samples[i : i + PIECE])).sum()) for i in range(0, len(samples), PIECE)
        )
        msg = (
            f"{shown(path)}: {bad:,} of {len(samples):,} samples are no numbers, or too large "
            "for any; record it again, or leave it out"
        )
        raise FileError(msg)
    if loudest > 1:
        samples /= np.float32(loudest)
    return samples


def _what(head: bytes) -> str:
    for beginning, what in OTHERS.items():
        if head.startswith(beginning) and (beginning or not head):
            return what
    return f"something else, it begins with {head[:8]!r}"


def _cut_off(path: Path, promised: int, there: int) -> FileError:
    msg = (
        f"{shown(path)}: the WAV file promises {promised:,} bytes of sound, and there are "
        f"{there:,}: it is cut off; get it again"
    )
    return FileError(msg)

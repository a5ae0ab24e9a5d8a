"""WAV files and others made by hand, byte by byte, so that any part of them can be wrong."""

from __future__ import annotations

import struct

GUID = bytes.fromhex("000000001000800000aa00389b71")


def chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def wav(data=b"\0\0" * 8, *, rate=8000, channels=1, bits=16, code=1, block=None, extensible=False):
    """A WAV file around these bytes of sound."""
    block = channels * -(-bits // 8) if block is None else block
    form = struct.pack("<HHIIHH", 0xFFFE if extensible else code, channels, rate, 0, block, bits)
    if extensible:
        form += struct.pack("<HHIH", 22, bits, 0, code) + GUID
    return riff(chunk(b"fmt ", form) + chunk(b"data", data))


def riff(chunks: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks


def idx(array) -> bytes:
    """An IDX file of bytes."""
    return (
        bytes([0, 0, 8, array.ndim])
        + struct.pack(f">{array.ndim}I", *array.shape)
        + array.tobytes()
    )

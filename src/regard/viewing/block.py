"""The numbers of a page in one block of bytes, deflated as they come."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["HALF", "TYPES", "Block", "FullError"]

TYPES = {"f4": "<f4", "f2": "<f2", "u1": "|u1", "u2": "<u2", "u4": "<u4"}  # little endian
ALIGNED = 4
HALF = 65_504.0  # where half precision ends
PIECE = 1 << 16  # bytes deflated at a time, so that a full block is noticed early


class FullError(Exception):
    """What was added does not fit; caught where another way of writing it is tried."""


class Block:
    """Bytes that grow up to so many, counted as they are after deflating.

    >>> block = Block(1000)
    >>> block.add(np.ones(3), "u1"), block.add(np.ones(2), "f2"), len(block.data)
    (0, 4, 8)
    >>> zlib.decompress(block.deflated()) == block.data
    True
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.size = 0
        self._pieces: list[bytes] = []
        self._deflater = zlib.compressobj()
        self._out: list[bytes] = []
        self._deflated = 0

    def add(self, array: NDArray[Any], kind: str) -> int:
        """Append numbers as that type; gives where they begin, a multiple of 4."""
        at = self.size
        if kind == "f2":  # beyond it are no weights of a softmax, but somebody's numbers
            array = array.clip(-HALF, HALF)
        data = np.ascontiguousarray(array).astype(TYPES[kind]).tobytes()
        data += bytes(-len(data) % ALIGNED)
        self._pieces.append(data)
        self.size += len(data)
        whole = memoryview(data)
        for start in range(0, len(data), PIECE):
            done = self._deflater.compress(whole[start : start + PIECE])
            self._out.append(done)
            self._deflated += len(done)
            if self._deflated > self.most:
                raise FullError
        return at

    def deflated(self) -> bytes:
        """All of it, deflated; raises FullError if that is too much."""
        rest = self._deflater.copy().flush()
        if self._deflated + len(rest) > self.most:
            raise FullError
        return b"".join((*self._out, rest))

    def copy(self) -> Block:
        """Another one that begins with the same bytes."""
        other = Block(self.most)
        other.size, other._deflated = self.size, self._deflated
        other._pieces, other._out = self._pieces.copy(), self._out.copy()
        other._deflater = self._deflater.copy()
        return other

    @property
    def data(self) -> bytes:
        """The bytes as they are read, not deflated."""
        return b"".join(self._pieces)

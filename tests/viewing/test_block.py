"""Bytes of a page: aligned, deflated, and never too many."""

import zlib

import numpy as np
import pytest

from regard.viewing.block import Block, FullError


def test_numbers_come_back_from_where_they_were_put():
    block = Block(10_000)
    given = {
        "u1": np.arange(5), "f2": np.linspace(0, 1, 3), "u2": np.array([65535]),
        "u4": np.array([1 << 31]), "f4": np.array([0.1, 1e-30]),
    }  # fmt: skip
    places = {kind: block.add(x, kind) for kind, x in given.items()}
    assert all(at % 4 == 0 for at in places.values())
    data = zlib.decompress(block.deflated())
    assert data == block.data
    assert len(data) == block.size
    for kind, x in given.items():
        read = np.frombuffer(data, f"<{kind}", len(x), places[kind])
        assert read.tolist() == x.astype(f"<{kind}").tolist()


def test_a_block_that_is_full_says_so_when_it_is_added_to_or_when_it_is_closed():
    noise = np.random.default_rng(0).integers(0, 256, 400_000)
    block = Block(100_000)
    with pytest.raises(FullError):
        block.add(noise, "u1")
    small = Block(20)
    small.add(noise[:40], "u1")
    with pytest.raises(FullError):
        small.deflated()


def test_a_copy_goes_its_own_way():
    block = Block(10_000)
    block.add(np.arange(100), "u2")
    other = block.copy()
    other.add(np.arange(7), "f4")
    assert zlib.decompress(block.deflated()) == block.data
    assert zlib.decompress(other.deflated()) == other.data
    assert other.data[: block.size] == block.data
    assert other.size == block.size + 28

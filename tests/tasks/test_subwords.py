"""Files are looked through before sentencepiece reads them."""

import pytest

from regard.tasks.subwords import kind_of


def field(number, value):
    """A field of a protocol buffer, shorter than 128 bytes."""
    if isinstance(value, int):
        return (
            bytes([number << 3 & 127 | (128 if number > 15 else 0)])
            + (bytes([number >> 4]) if number > 15 else b"")
            + bytes([value])
        )
    return bytes([number << 3 | 2, len(value)]) + value


PIECE = field(1, field(1, b"a"))


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (PIECE, "unigram"),
        (PIECE + field(2, field(3, 1)), "unigram"),
        (PIECE + field(2, field(3, 2)) + field(3, field(1, b"identity") + field(2, b"")), "bpe"),
        (PIECE + field(3, field(3, 1) + field(4, 1) + field(5, 1)), "unigram"),
        (PIECE + bytes([9 << 3 | 1]) + bytes(8) + bytes([9 << 3 | 5]) + bytes(4), "unigram"),
    ],
)
def test_what_passes(model, kind):
    assert kind_of(model) == kind


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (b"", "it holds no pieces"),
        (field(2, field(3, 1)), "it holds no pieces"),
        (PIECE[:-1], "it is cut off"),
        (PIECE + b"\xff" * 10, "it is cut off"),
        (PIECE + b"\x80", "it is cut off"),
        (PIECE + bytes([1 << 3 | 1]) + bytes(7), "it is cut off"),
        (PIECE + b"\x0b", "its parts cannot be told from each other"),
        (PIECE + b"\x00\x00", "its parts cannot be told from each other"),
        (PIECE + field(2, 1), "a number stands where a part of it should"),
        (PIECE + field(3, 1), "a number stands where a part of it should"),
        (PIECE + field(2, field(3, 3)), "it is neither a unigram nor a bpe model"),
        (PIECE + field(2, field(24, 1)), "its pieces have their spaces at the end"),
        (PIECE + field(3, field(2, b"\1\2\3\4")), "it rewrites texts in a way of its own"),
        (PIECE + field(5, field(2, b"\1\2\3\4")), "it rewrites texts in a way of its own"),
        (PIECE + field(3, field(3, 0)), "it rewrites texts in a way of its own"),
        (PIECE + field(3, field(4, 0)), "it rewrites texts in a way of its own"),
        (PIECE + field(3, field(5, 0)), "it rewrites texts in a way of its own"),
    ],
)
def test_what_does_not(model, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        kind_of(model)

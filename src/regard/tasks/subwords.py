"""What a file of subwords must be before sentencepiece is let near it.

Its reader trusts what it reads: a table of replacements inside a model is followed wherever it
points. The file is a protocol buffer, so a few lines see what is in it.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["kind_of"]

KINDS = {1: "unigram", 2: "bpe"}
MODEL_PIECES, MODEL_TRAINER, MODEL_NORMALISER, MODEL_DENORMALISER = 1, 2, 3, 5  # numbers of fields
TRAINER_KIND, TRAINER_SUFFIX = 3, 24
REPLACEMENTS, DUMMY_PREFIX, EXTRA_SPACES, ESCAPED = 2, 3, 4, 5
VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5  # ways to write a field


def kind_of(model: bytes) -> str:
    """'unigram' or 'bpe'.

    Raises:
        ValueError: what is wrong, in half a sentence.

    """
    kind, pieces = "unigram", 0
    for number, value in _fields(model):
        if number == MODEL_PIECES:
            pieces += 1
        elif number == MODEL_TRAINER:
            kind = _trained(_inner(value))
        elif number in {MODEL_NORMALISER, MODEL_DENORMALISER}:
            _check_normaliser(_inner(value))
    if not pieces:
        msg = "it holds no pieces"
        raise ValueError(msg)
    return kind


def _trained(spec: bytes) -> str:
    number = 1
    for name, value in _fields(spec):
        if name == TRAINER_KIND and isinstance(value, int):
            number = value
        if name == TRAINER_SUFFIX and value:
            msg = "its pieces have their spaces at the end"
            raise ValueError(msg)
    if number not in KINDS:
        msg = "it is neither a unigram nor a bpe model"
        raise ValueError(msg)
    return KINDS[number]


def _check_normaliser(spec: bytes) -> None:
    for name, value in _fields(spec):
        if (name == REPLACEMENTS and value) or (
            name in {DUMMY_PREFIX, EXTRA_SPACES, ESCAPED} and not value
        ):
            msg = "it rewrites texts in a way of its own"
            raise ValueError(msg)


def _inner(value: int | bytes) -> bytes:
    if isinstance(value, int):
        msg = "a number stands where a part of it should"
        raise ValueError(msg)  # noqa: TRY004 - of the file, not of an argument
    return value


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field of a protocol buffer."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, way = key >> 3, key & 7
        value: int | bytes
        if way == VARINT:
            value, at = _varint(data, at)
        else:
            if way == BYTES:
                size, at = _varint(data, at)
            elif way in {EIGHT, FOUR}:
                size = 8 if way == EIGHT else 4
            else:
                msg = "its parts cannot be told from each other"
                raise ValueError(msg)
            value = data[at : at + size]
            at += size
        if at > len(data) or not number:
            msg = "it is cut off" if number else "its parts cannot be told from each other"
            raise ValueError(msg)
        yield number, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for i, byte in enumerate(data[at : at + 10]):
        value |= (byte & 127) << (7 * i)
        if byte < 128:  # noqa: PLR2004 - the eighth bit says that more follow
            return value, at + i + 1
    msg = "it is cut off"
    raise ValueError(msg)

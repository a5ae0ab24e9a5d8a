"""Tokens as people can read them, whatever their tokenizer writes them as."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from regard.errors import KindError, ShapeError
from regard.viewing.terminal import label

__all__ = ["plain", "readable", "tokens_of"]

LONGEST = 200  # characters of a token that are shown
SPACES = 4  # in a row that are shown one by one
SPACE = "␣"
MARKS = {"\n": "⏎", "\r": "␍", "\t": "⇥", "\x7f": "␡"}
BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
FALLBACK = re.compile(r"<0x([0-9A-Fa-f]{2})>")  # a byte among the pieces of sentencepiece
SPECIAL = re.compile(r"<[^<>]+>|\[[^\[\]]+\]")  # as <s>, <|endoftext|> or [MASK]
PICTURES, CONTROLS = 0x2400, 0x20  # where Unicode has pictures of the first 32
DELETE = 0x7F
CUT = 3  # bytes of a character that may be missing where a text was cut
LEADS = ((0x80, 1), (0xC2, 0), (0xE0, 2), (0xF0, 3), (0xF5, 4), (0x100, 0))  # bytes a lead opens


def _byte_alphabet() -> dict[str, int]:
    """The characters that byte-level tokenizers write bytes as: themselves, if they are seen."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = sorted(set(range(256)) - set(seen))
    return {chr(x): x for x in seen} | {chr(256 + i): x for i, x in enumerate(rest)}


ALPHABET = _byte_alphabet()


def readable(tokens: Sequence[str]) -> list[str]:
    r"""Tokens as a person reads them, one for one: plain text that moves no cursor.

    Pieces of sentencepiece and of byte-level tokenizers are decoded. A character that is cut into
    several tokens stands at the one that completes it; the others show their bytes. What cannot
    be seen gets a sign, as ⏎ or ⟨U+202E⟩.

    >>> readable(["▁Xi'an", "##ing", "a\tb", "", "▁"])
    ["Xi'an", '##ing', 'a⇥b', '·', '␣']
    >>> readable(["Ġcaf", "Ã", "©", "Ċ"])
    ['caf', '⟨C3⟩', 'é', '⏎']

    """
    return _decoded(_checked(tokens), None, ())


def tokens_of(tokenizer: Any, ids: Any) -> list[str]:  # noqa: ANN401 - of transformers, or alike
    """The same of the numbers a tokenizer made, as one of Hugging Face's transformers.

    Args:
        tokenizer: anything with ``convert_ids_to_tokens``.
        ids: numbers [n], a list or a tensor; or [1, n].

    """
    convert = getattr(tokenizer, "convert_ids_to_tokens", None)
    if convert is None:
        msg = (
            "tokenizer must have convert_ids_to_tokens, as those of transformers, got "
            f"{type(tokenizer).__name__}; give tokens as a list of str instead"
        )
        raise KindError(msg)
    numbers = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    if numbers and isinstance(numbers[0], (list, tuple)):
        if len(numbers) != 1:
            msg = f"ids must be of one text, [n], got {len(numbers)} of them; give ids[0]"
            raise ShapeError(msg)
        numbers = list(numbers[0])
    # a number beyond the vocabulary is no token, and None there
    tokens = ["" if token is None else str(token) for token in convert(numbers)]
    in_bytes: bool | None = None
    whole: Collection[str] = ()
    if hasattr(tokenizer, "get_vocab"):
        vocabulary = tokenizer.get_vocab()
        in_bytes = all(letter in vocabulary for letter in ALPHABET)
    if hasattr(tokenizer, "get_added_vocab"):
        whole = tokenizer.get_added_vocab()
    return _decoded(tokens, in_bytes, whole)


def _checked(tokens: Sequence[str]) -> Sequence[str]:
    if isinstance(tokens, str):
        msg = f"tokens must be a list of str, got the text {tokens[:40]!r}; split it first"
        raise KindError(msg)
    for i, token in enumerate(tokens):
        if not isinstance(token, str):
            msg = f"tokens must be a list of str, got {type(token).__name__} at index {i}"
            raise KindError(msg)
    return tokens


def _decoded(tokens: Sequence[str], in_bytes: bool | None, whole: Collection[str]) -> list[str]:  # noqa: FBT001
    """The tokens; ``whole`` are those that are no bytes whatever their letters are."""
    if in_bytes is None:
        in_bytes = _looks_like_bytes(tokens)
    parts = [None if token in whole else _bytes(token, alphabet=in_bytes) for token in tokens]
    found: list[str] = []
    while len(found) < len(tokens):
        start = stop = len(found)
        while stop < len(tokens) and parts[stop] is not None:
            stop += 1
        if stop == start:
            found.append(_shown(tokens[start]))
        else:
            run = [part for part in parts[start:stop] if part is not None]
            found += [_shown(text, chips=True) for text in _joined(run)]
    return found


def _bytes(token: str, *, alphabet: bool) -> bytes | None:
    """What a token stands for, if it stands for bytes."""
    if match := FALLBACK.fullmatch(token):
        return bytes([int(match[1], 16)])
    if alphabet and token and all(letter in ALPHABET for letter in token):
        return bytes(ALPHABET[letter] for letter in token)
    return None


def _looks_like_bytes(tokens: Sequence[str]) -> bool:
    """Whether these are of a byte-level tokenizer: words of no language look so by chance."""
    data = bytearray()
    for token in tokens:
        if all(letter in ALPHABET for letter in token):
            data += bytes(ALPHABET[letter] for letter in token)
        elif not SPECIAL.fullmatch(token):
            return False
    if any(chr(byte) not in MARKS for byte in data if byte < CONTROLS) or DELETE in data:
        return False  # ą is a letter; as a byte it would be a control character
    found = list(_letters(bytes(data)))
    letters = sum(isinstance(x, str) and not x.isascii() for x, _ in found)
    lost = sum(isinstance(x, int) for x, _ in found[CUT : max(len(found) - CUT, CUT)])
    # most of what is no ASCII must make sense as bytes: in a text of French words none does
    return 4 * lost < letters + sum(token[:1] in {"Ġ", "Ċ"} for token in tokens)


def _letters(data: bytes) -> Iterator[tuple[str | int, int]]:
    """The characters of UTF-8 and where each ends; a byte that belongs to none as a number."""
    at = 0
    while at < len(data):
        lead = data[at]
        long = next(size for below, size in LEADS if lead < below)
        try:
            letter = data[at : at + long].decode() if long else ""
        except UnicodeDecodeError:
            letter = ""
        at += long if letter else 1
        yield (letter or lead), at


def _joined(run: Sequence[bytes]) -> Iterator[str]:
    """The text of each of several tokens whose bytes are one text."""
    letters = _letters(b"".join(run))
    letter, ends = next(letters, ("", 0))
    at = 0
    for part in run:
        start, stop, text = at, at + len(part), ""
        while letter != "" and ends <= stop:
            text += letter if isinstance(letter, str) else _chip(letter)
            at = ends
            letter, ends = next(letters, ("", 0))
        text += "".join(_chip(byte) for byte in part[max(at - start, 0) :])
        at = stop
        yield text


def _chip(byte: int) -> str:
    return f"⟨{byte:02X}⟩"


def _shown(text: str, *, chips: bool = False) -> str:
    """Plain text in which everything can be seen."""
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "…"
    if not chips and text.startswith("##"):
        return "##" + "".join(map(_sign, text[2:]))
    spaces = text.replace("▁", " ") if not chips else text
    if text and not spaces.strip(" "):
        count = len(text)
        return SPACE * count if count <= SPACES else f"{count}{SPACE}"
    signs = "".join(map(_sign, text))
    found = label(signs)
    if found == "·" and text not in {"", "·"}:  # nothing of it is seen: say what there is
        return "".join(f"⟨U+{ord(letter):04X}⟩" for letter in text)
    if found and unicodedata.combining(found[0]):
        found = "◌" + found
    return found


def _sign(letter: str) -> str:
    """A letter, or what stands for one that cannot be seen or is not to be trusted."""
    if letter in MARKS:
        return MARKS[letter]
    code = ord(letter)
    if code < CONTROLS:
        return chr(PICTURES + code)
    kind = unicodedata.category(letter)
    if letter in BIDI or letter == "\ufffd" or (not letter.isprintable() and kind != "Cf"):
        return f"⟨U+{code:04X}⟩"
    return letter


def plain(text: str) -> str:
    r"""A title or a name on one line, in which nothing turns the line around.

    >>> plain("two\nlines\u202e"), plain("")
    ('two lines⟨U+202E⟩', '')
    """
    signs = "".join(map(_sign, " ".join(text.split())))
    return "".join(letter for letter in signs if letter.isprintable())

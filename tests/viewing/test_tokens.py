"""Tokens that can be read: of every kind of tokenizer, hostile ones too."""

import pytest
import torch

from regard.errors import KindError, ShapeError
from regard.viewing.tokens import ALPHABET, plain, readable, tokens_of

LETTERS = {byte: letter for letter, byte in ALPHABET.items()}

HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</script><!--", "]]>&amp;&#60;",
    "javascript:alert(1)", "' onmouseover='x", "\u202egnp.exe", "\u2066\u2069\u200f", "\x00\x1b[2J",
    "\ud800", "\udfff\ud800", "\u2028\u2029", "{{7*7}}${x}`", "a\r\nb\tc", "\ufeff\ufffe\ufffd",
    "x" * 5000, "",
]  # fmt: skip


def in_bytes(text, size):
    """A text as a byte-level tokenizer writes it, cut every so many bytes."""
    data = text.encode()
    return ["".join(LETTERS[x] for x in data[i : i + size]) for i in range(0, len(data), size)]


def test_the_alphabet_is_the_one_byte_level_tokenizers_use():
    assert len(ALPHABET) == len(set(ALPHABET.values())) == 256
    assert [ALPHABET[x] for x in "ĠĊĉAé"] == [0x20, 0x0A, 0x09, 0x41, 0xE9]


def test_it_is_that_of_the_tokenizers_package():
    pre = pytest.importorskip("tokenizers.pre_tokenizers")
    assert set(pre.ByteLevel.alphabet()) == set(ALPHABET)
    cut = pre.ByteLevel(add_prefix_space=False).pre_tokenize_str("né 你好 😀")
    assert readable([token for token, _ in cut]) == ["né", "你好", "😀"]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_a_character_cut_into_tokens_stands_where_it_is_complete(size):
    text = "Zoë说你好😀, naïve"
    shown = readable(in_bytes(text, size))
    assert "\ufffd" not in "".join(shown)
    ends = [len(text[: i + 1].encode()) for i in range(len(text))]
    for letter, end in zip(text, ends, strict=True):
        if not letter.isspace():
            assert letter in shown[(end - 1) // size]


def test_bytes_that_complete_nothing_are_shown_as_bytes():
    assert readable(in_bytes("你", 2)) == ["⟨E4⟩⟨BD⟩", "你"]
    assert readable([*in_bytes("a 你", 20), LETTERS[0xE4]]) == ["a 你", "⟨E4⟩"]
    # overlong, a surrogate and one beyond Unicode are no UTF-8
    for data in (b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"):
        tokens = [*in_bytes("你好你好 a", 3), "".join(LETTERS[x] for x in data)]
        assert readable(tokens)[-1] == "".join(f"⟨{x:02X}⟩" for x in data)


def test_words_that_happen_to_have_those_letters_are_left_alone():
    for words in (
        ["café", "déjà", "à"],
        ["są", "być"],
        ["Ġorġ", "il-Ġimgħa"],
        ["naïve"],
        ["½"],
        ["il", "Ġewwa", "ħafna", "issa"],
    ):
        assert readable(words) == words


def test_pieces_of_sentencepiece_and_of_wordpiece():
    assert readable(["▁Hello", "▁", "▁▁", "ing", "##ing", "[CLS]"]) == [
        "Hello", "␣", "␣␣", "ing", "##ing", "[CLS]"
    ]  # fmt: skip
    assert readable(["▁a", "<0xE4>", "<0xBD>", "<0xA0>", "<0x0A>", "<0xFF>", "b"]) == [
        "a", "⟨E4⟩", "⟨BD⟩", "你", "⏎", "⟨FF⟩", "b"
    ]  # fmt: skip


def test_what_cannot_be_seen_gets_a_sign():
    given = ["\n", "\t", "\r", "\x00", "\x1b[31m", "\x7f", "\x85", "\u202eabc", "\ud800", "\u200d"]
    assert readable(given) == [
        "⏎", "⇥", "␍", "␀", "␛[31m", "␡", "⟨U+0085⟩", "⟨U+202E⟩abc", "⟨U+D800⟩", "⟨U+200D⟩"
    ]  # fmt: skip
    assert readable(["", " ", "        ", "\u3000", "\u0301", "\ufffd"]) == [
        "·", "␣", "8␣", "⟨U+3000⟩", "◌\u0301", "⟨U+FFFD⟩"
    ]  # fmt: skip


def test_hostile_tokens_become_plain_text_of_bounded_length():
    for shown in (readable(HOSTILE), [plain(text) for text in HOSTILE]):
        for text in shown:
            text.encode()  # no halves of characters
            assert text.isprintable()
            assert not any("\u202a" <= x <= "\u202e" or "\u2066" <= x <= "\u2069" for x in text)
            assert "\ufffd" not in text
    assert max(map(len, readable(HOSTILE))) <= 400
    assert readable(HOSTILE)[0] == HOSTILE[0]  # text is not the place to escape HTML


def test_a_tokenizer_is_asked_what_it_is():
    class Tokenizer:
        vocabulary = (*ALPHABET, "<é>", "Ã©")

        def convert_ids_to_tokens(self, ids):
            return [self.vocabulary[i] if i < len(self.vocabulary) else None for i in ids]

        def get_vocab(self):
            return {token: i for i, token in enumerate(self.vocabulary)}

        def get_added_vocab(self):
            return {"<é>": 256}

    class Plain(Tokenizer):
        vocabulary = ("Ã©", "b")

        def get_added_vocab(self):
            return {}

    byte = list(ALPHABET.values()).index
    ids = [byte(0xC3), byte(0xA9), 256, 257, byte(0xE9), 999]
    assert tokens_of(Tokenizer(), ids) == ["⟨C3⟩", "é", "<é>", "é", "⟨E9⟩", "·"]
    assert tokens_of(Tokenizer(), torch.tensor([ids[:2]])) == ["⟨C3⟩", "é"]
    assert tokens_of(Plain(), [0, 1]) == ["Ã©", "b"]  # it has no alphabet of bytes
    with pytest.raises(ShapeError, match=r"ids must be of one text, \[n\], got 2 of them"):
        tokens_of(Tokenizer(), torch.zeros(2, 3, dtype=torch.int64))


def test_what_is_no_list_of_tokens_is_refused():
    with pytest.raises(KindError, match="got the text 'abc'; split it first"):
        readable("abc")
    with pytest.raises(KindError, match="got int at index 1"):
        readable(["a", 3])
    with pytest.raises(KindError, match="tokenizer must have convert_ids_to_tokens"):
        tokens_of(object(), [1])

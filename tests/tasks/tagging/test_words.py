"""Words, characters and labels: their numbers, and how a run keeps them."""

import json

import pytest

from regard.errors import FileError
from regard.tasks.tagging.words import BEGIN, END, LONGEST, NONE, STRANGE, UNKNOWN, Words, folded
from tests.tasks.mutated import fuzz
from tests.tasks.tagging.tiny import SENTENCES, sentence, words_of

WORDS = words_of()


def test_words_are_looked_up_without_capitals_and_digits():
    assert folded("Route-66") == "route-00"
    assert WORDS.word("THE") == WORDS.word("the") != UNKNOWN
    assert WORDS.word("2024") == WORDS.word("1999") != UNKNOWN
    assert WORDS.word("giraffe") == UNKNOWN
    assert WORDS.word("cafe\u0301") == UNKNOWN


def test_an_accent_is_the_same_however_it_is_written():
    words = words_of([sentence("café/NOUN is/VERB"), sentence("café/NOUN é/X é/X é/X")])
    assert words.word("cafe\u0301") == words.word("café") != UNKNOWN
    assert words.spelling("cafe\u0301") == words.spelling("café")


def test_the_commonest_word_has_the_first_number():
    assert WORDS.words[0] == "."
    assert WORDS.word(".") == UNKNOWN + 1
    assert WORDS.word_count == len(WORDS.words) + 2
    numbers = {WORDS.word(x) for x in WORDS.words if not x.isdigit()}
    assert max(numbers) < WORDS.word_count
    assert UNKNOWN not in numbers


def test_the_order_of_the_sentences_does_not_matter():
    assert words_of(SENTENCES[::-1]) == WORDS


def test_seldom_words_and_characters_are_unknown():
    words = Words.learn(SENTENCES, min_count=2, where="a.tsv")
    assert words.word("dogs") != UNKNOWN
    assert words.word("barks") == UNKNOWN
    begin, *middle, end = words.spelling("dYx")  # Y comes once, x never
    assert (begin, end) == (BEGIN, END)
    assert middle[0] > END
    assert middle[1:] == [UNKNOWN, UNKNOWN]


def test_spellings_keep_capitals_and_digits():
    words = words_of([sentence("Aa/X aA/Y 12/X 12/X 12/X Aa/X aA/Y")])
    assert words.spelling("Aa") != words.spelling("aa")
    assert words.spelling("12") != words.spelling("21")


def test_a_long_word_is_spelled_by_its_beginning_and_its_end():
    long = "dogs" * 10 + "cats"
    assert WORDS.spelling(long) == WORDS.spelling(long[:11] + long[-11:])
    assert len(WORDS.spelling(long)) == LONGEST + 2
    assert WORDS.spelling("a" * 10**6 + "ed")[-3:] == WORDS.spelling("ed")[-3:]


@pytest.mark.parametrize("word", ["\x00", "\ud800", "\u2028", "\u0301", "a b", "a" * 10**6])
def test_any_word_has_numbers(word):
    assert WORDS.word(word) >= 1
    assert all(0 < x < WORDS.character_count for x in WORDS.spelling(word))


def test_labels():
    assert WORDS.labels == tuple(sorted({x for s in SENTENCES for x in s.labels}))
    assert WORDS.label("DET") == WORDS.labels.index("DET")
    assert WORDS.label("NEW") == STRANGE
    assert WORDS.second("de") == WORDS.auxiliary.index("de")
    assert WORDS.second("") == WORDS.second("new") == NONE


def test_one_label_cannot_be_learned():
    with pytest.raises(FileError, match=r"a\.tsv: the only label is 'X'; a training needs"):
        words_of([sentence("a/X b/X")])


@pytest.mark.parametrize("also", [(), ("", ""), ("x", "x"), ("", "x")])
def test_a_second_label_that_says_nothing_is_not_learned(also):
    some = [sentence("a/X b/Y", also=False)]
    some[0] = type(some[0])(some[0].words, some[0].labels, 1, also)
    assert words_of(some).auxiliary == ()


def test_a_run_keeps_them():
    assert Words.from_json(WORDS.to_json(), "words.model") == WORDS
    odd = Words(('"\\\n', "中"), ("\x00", "😀"), ("a", "b"))
    assert Words.from_json(odd.to_json(), "words.model") == odd


def changed(**parts):
    return json.dumps(json.loads(WORDS.to_json()) | parts).encode()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "it is no JSON"),
        (b"\xff\xfe", "it is no JSON"),
        (b"[" * 100_000, "it is no JSON"),
        (b"1" * 10_000, "it is no JSON"),
        (b"[]", "it is not the words of a tagger"),
        (b'{"kind": "other"}', "it is not the words of a tagger"),
        (b'{"kind": "the words of a tagger"}', "it must have the parts words, characters, labels"),
        (changed(more=[]), "it must have the parts words, characters, labels, auxiliary"),
        (changed(words="ab"), "words must be a list of texts"),
        (changed(words=[1]), "words must be a list of texts"),
        (changed(labels={"a": 1, "b": 2}), "labels must be a list of texts"),
        (changed(words=["a", "a"]), "words must be different from each other"),
        (changed(labels=["a", ""]), "labels must be texts with something in them"),
        (changed(labels=["a", "\ud800"]), "labels must be texts with something in them"),
        (changed(characters=["ab"]), "characters must be single ones"),
        (changed(labels=["a"]), "there must be at least 2 labels"),
        (changed(auxiliary=["a"]), "there must be at least 2 labels"),
    ],
)
def test_what_is_damaged_is_refused(data, problem):
    with pytest.raises(FileError) as raised:
        Words.from_json(data, "runs/x/words.model")
    told = "runs/x/words.model: is not what `regard train tagging` writes: "
    assert str(raised.value).startswith(told + problem)


def test_mutated_bytes_are_read_or_refused_in_our_words(tmp_path):
    def read(path):
        words = Words.from_json(path.read_bytes(), str(path))
        assert words.spelling("dog")

    good, refused = fuzz(read, tmp_path / "words.model", [WORDS.to_json()], count=300)
    assert good + refused == 300
    assert refused > 100

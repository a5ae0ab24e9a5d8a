"""Text as words: the treebank's habits, and never a character lost."""

# ruff: noqa: RUF001 - the quotation marks of other keyboards are meant

import random
import time

import pytest

from regard.tasks.tagging.tokens import split_sentences, split_words

HABITS = [
    # what leans on a word
    ("I don't, can't, won't.", "I do n't , ca n't , wo n't ."),
    ("She's here; they've left, I'd say, you'll see.",
     "She 's here ; they 've left , I 'd say , you 'll see ."),
    ("I shouldn't've gone", "I should n't 've gone"),
    ("DON'T shout", "DO N'T shout"),
    ("don’t, it’s, it`s", "do n’t , it ’s , it `s"),
    ("the dogs' bowl", "the dogs ' bowl"),
    ("the 60's, O'Connor at five o'clock, ma'am", "the 60's , O'Connor at five o'clock , ma'am"),
    ("y'all and ya'll", "y'all and ya'll"),
    ("get 'em in '72, lovin' it", "get 'em in '72 , lovin' it"),
    ("he said 'Berlin' twice", "he said ' Berlin ' twice"),
    ("cannot gonna wanna gotta", "can not gon na wan na got ta"),
    ("i dont think thats it, im sure", "i do nt think that s it , i m sure"),
    # hyphens and slashes
    ("a well-known e-mail, non-stop, anti-war", "a well - known e-mail , non-stop , anti-war"),
    ("re-read the co-worker's pre-1990 book", "re-read the co-worker 's pre-1990 book"),
    ("and/or w/o w/ b/c he/she", "and / or w/o w/ b/c he / she"),
    ("Al-Qaeda -- or so---", "Al - Qaeda -- or so ---"),
    # numbers
    ("$5.50 US$20 £3 #1", "$ 5.50 US$ 20 £ 3 # 1"),
    ("25% of 1,200.5 at 5pm or 7:30AM", "25 % of 1,200.5 at 5 pm or 7:30 AM"),
    ("10km, 5lbs, 3x, 4G, 2nd, 1970s", "10 km , 5 lbs , 3 x , 4G , 2nd , 1970s"),
    ("3-5 days in 2003-2007", "3 - 5 days in 2003 - 2007"),
    ("11/28/2000 or 9/11 or 2001-09-11", "11/28/2000 or 9/11 or 2001-09-11"),
    ("1/2 cup and 3/4", "1 / 2 cup and 3 / 4"),
    ("713-853-3989 or 345-9945 or +1-713-853-3989", "713-853-3989 or 345-9945 or +1-713-853-3989"),
    ("about .5 or 1.5", "about .5 or 1.5"),
    # addresses
    ("see http://www.a.org/b(c)?d=e&f#g.", "see http://www.a.org/b(c)?d=e&f#g ."),
    ("(https://a.com/x) http://a.org/b_(c).", "( https://a.com/x ) http://a.org/b_(c) ."),
    ("www.a.co.uk, amazon.com and a.doc", "www.a.co.uk , amazon.com and a.doc"),
    ("to a.b-c@d.org, please", "to a.b-c@d.org , please"),
    ("#metoo by @someone", "#metoo by @someone"),
    # short forms
    ("Mr. Li, Dr. W. Smith of Acme Inc., U.S.", "Mr. Li , Dr. W. Smith of Acme Inc. , U.S."),
    ("e.g. this, i.e. that, etc. and so on", "e.g. this , i.e. that , etc. and so on"),
    ("No. 5 or Fig. 2", "No. 5 or Fig. 2"),
    ("the U.S.-led plan", "the U.S. - led plan"),
    ("AT&T, R&D, PG&E's", "AT&T , R&D , PG&E 's"),
    # punctuation
    ('"Well," (he said) [loudly]...', '" Well , " ( he said ) [ loudly ] ...'),
    ("What?! No!!! .....", "What ?! No !!! ....."),
    ("<<a>> ***b*** ==== -> c", "<< a >> *** b *** ==== -> c"),
    ("thanks :) ;-) :D ^_^ <3 :(", "thanks :) ;-) :D ^_^ <3 :("),
    ("note: (see:) x", "note : ( see : ) x"),
    ("end.Then more", "end . Then more"),
    ("“Hm…” ‘so’", "“ Hm … ” ‘ so ’"),
    ("what the f*ck", "what the f*ck"),
    ("naïve cafe\u0301 basic\u00adally", "naïve cafe\u0301 basic\u00adally"),
    ("ok👍🏽 👩\u200d💻! ❤\ufe0f", "ok 👍🏽 👩\u200d💻 ! ❤\ufe0f"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), HABITS)
def test_words_are_cut_as_the_treebank_cuts_them(text, wanted):
    # what follows keeps a last full stop from being the sentence's own
    words = split_words(f"{text} and")
    assert " ".join(words) == f"{wanted} and"


def test_what_is_cut_already_stays():
    text = "I do n't know , but Mr. Li 's e-mail ( 5 pm ) is $ 5 ... !!!"
    assert split_words(text) == text.split()


SENTENCES = [
    ("He left. She stayed.", ["He left .", "She stayed ."]),
    ("he left. she stayed.", ["he left .", "she stayed ."]),
    ("Really?! Yes! No?", ["Really ?!", "Yes !", "No ?"]),
    ('"Stop!" he said. "Why?" She left.', ['" Stop ! " he said .', '" Why ? "', "She left ."]),
    ("(It rained.) We left.", ["( It rained . )", "We left ."]),
    ("Great. :) Thanks!", ["Great . :)", "Thanks !"]),
    ("Well... maybe... But no...", ["Well ... maybe ...", "But no ..."]),
    ("So... I think", ["So ... I think"]),
    ("Dr. Li met Mr. J. Smith.", ["Dr. Li met Mr. J. Smith ."]),
    ("In the U.S. Senate at 5 p.m. Monday", ["In the U.S. Senate at 5 p.m. Monday"]),
    ("We met at 5 p.m.", ["We met at 5 p.m ."]),
    ("Apples, pears, etc. We ate.", ["Apples , pears , etc .", "We ate ."]),
    ("1. Do this. 2. Do that.", ["1 . Do this .", "2 . Do that ."]),
    ("So do I. You too.", ["So do I .", "You too ."]),
    ("No. I will not.", ["No .", "I will not ."]),
    ("A title\n\nA text\r\nof two lines", ["A title", "A text", "of two lines"]),
    ("one\u2028two\x85three", ["one", "two", "three"]),
    ("", []),
    (" \t\n\u3000\xa0", []),
]


@pytest.mark.parametrize(("text", "wanted"), SENTENCES)
def test_sentences(text, wanted):
    assert [" ".join(words) for words in split_sentences(text)] == wanted


PIECES = [
    "a", "B", "1", " ", "\n", ".", "'", "’", "-", "@", "/", ":", ")", "(", "!", "&", "$", "#", "*",
    "_", "\u0301", "\u200d", "😀", "🏽", "n't", "http://", "www.", "e-", "com", "…", "\u2028",
    "\x1f", "\u3000", "é", "%", "5pm", "etc.", "Mr.", "\ud800", "\x00", "中", "\u202e", "cannot",
    "<3", '"',
]  # fmt: skip


def test_no_character_is_lost_whatever_the_text():
    draw = random.Random(1)
    for _ in range(3000):
        text = "".join(draw.choice(PIECES) for _ in range(draw.randrange(30)))
        sentences = split_sentences(text)
        words = [word for sentence in sentences for word in sentence]
        assert "".join(words) == "".join(text.split()), repr(text)
        assert all(words), repr(text)
        assert all(sentences), repr(text)
        assert not any(letter.isspace() for word in words for letter in word), repr(text)


@pytest.mark.parametrize(
    "piece",
    ["a", "a-", "a.", "a@", "1.", "1-", "'", "n't", "a'", "in'", "_", ".", "*", "A&", "(:", "a.b",
     "-_", "e\u0301", "\u200d", "👩\u200d💻", "\ud800", ") ", '" ', ". ", "etc. ", "1. ", "\n"],
)  # fmt: skip
def test_time_grows_with_the_text_and_no_faster(piece):
    """Four times the text may take some four times as long, and not sixteen."""

    def seconds(count):
        text = piece * count
        best = 1e9
        for _ in range(3):
            start = time.process_time()
            words = split_words(text)
            best = min(best, time.process_time() - start)
        assert "".join(words) == "".join(text.split())
        return best

    assert seconds(4000) < 9 * seconds(1000) + 0.02


def test_an_accent_stays_with_its_letter():
    words = split_words("e\u0301\u0302'\u0301s a-\u0301b 🇩🇪")
    assert all(not word.startswith("\u0301") for word in words)


def test_words_of_other_scripts_are_left_whole():
    assert split_words("Привет, мир! नमस्ते दुनिया।") == [
        "Привет",
        ",",
        "мир",
        "!",
        "नमस्ते",
        "दुनिया",
        "।",
    ]

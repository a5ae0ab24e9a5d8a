"""What a page says about itself: the same in both languages."""

import re

import pytest

from regard.viewing import notes

ALL = [
    notes.pooled(4, 5, 8),
    notes.pooled(4, 5, 1),
    notes.pooled(4, 5, 0),
    notes.sampled(1234),
    notes.a_part_of_the_data(5000, 70_000),
    notes.counted_from(1.5),
    notes.scored(["good day", "hello\u202e"]),
    notes.of_thumbnails(1234),
    notes.without_weights(),
]


@pytest.mark.parametrize("note", ALL)
def test_both_languages_have_the_same_numbers(note):
    assert note.keys() == {"en", "zh"}
    english, chinese = (set(re.findall(r"\d[\d,.]*\d|\d", note[x])) for x in ("en", "zh"))
    assert english - {"1"} == chinese - {"1"}
    assert re.search("[\u4e00-\u9fff]", note["zh"])
    assert not re.search("[\u4e00-\u9fff]", note["en"])
    assert all(text.isprintable() for text in note.values())


def test_how_many_weights_are_exact_is_said_in_words_that_fit():
    assert "the 8 largest weights of each query are exact" in notes.pooled(4, 5, 8)["en"]
    assert "the largest weight of each query is exact" in notes.pooled(4, 5, 1)["en"]
    assert "no single weight" in notes.pooled(4, 5, 0)["en"]

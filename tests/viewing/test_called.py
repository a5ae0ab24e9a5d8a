"""Names of what is neither a layer nor a head, in both languages."""

import re

import pytest

from regard.viewing.called import looks, sentence, translations


@pytest.mark.parametrize("called", [looks(), translations(1), translations(3)])
def test_both_languages_say_as_much(called):
    notes = [x for x in (called.heads, called.head, *called.layers.values()) if x is not None]
    for note in notes:
        assert note.keys() == {"en", "zh"}
        assert bool(note["en"]) == bool(re.search("[\u4e00-\u9fff]", note["zh"]))
        assert re.findall(r"\d+", note["en"]) == re.findall(r"\d+", note["zh"])


def test_sentences_are_found_by_the_names_of_layers():
    names = [sentence(i)[0] for i in (1, 2, 3)]
    assert list(translations(3).layers) == names
    assert sentence(2, 1)[0] == "sentence 2, layer 1"
    assert list(translations(1).layers) == ["translation"]

"""Translations of several sentences as one."""

import torch

from regard.tasks.translation.translated import Alternative, Translation, joined


def translated(source, *ways, weights=None):
    ways = tuple(Alternative(text, tuple(text), score) for text, score in ways)
    best = ways[0]
    return Translation(
        best.text, source, tuple(source), best.tokens, best.score, ways,
        look=lambda: torch.ones(len(best.tokens), len(source)) if weights is None else weights,
    )  # fmt: skip


def test_joined():
    parts = [translated("xy", ("abc", -1.0), ("ab", -2.0)), translated("z", ("d", -3.0))]
    found = joined(parts, "xy z")
    assert (found.text, found.source, found.parts) == ("abc d", "xy z", tuple(parts))
    assert (found.tokens, found.source_tokens) == (tuple("abcd"), tuple("xyz"))
    assert found.score == -1.5  # by tokens: (3 * -1 + 1 * -3) / 4
    assert [way.text for way in found.alternatives] == ["abc d", "ab d"]
    assert found.alternatives[1].tokens == tuple("abd")
    assert found.weights.tolist() == [[1, 1, 0]] * 3 + [[0, 0, 1]]


def test_a_sentence_without_words_leaves_no_space():
    found = joined([translated("x", ("", -1.0)), translated("y", ("b", -1.0))], "x y")
    assert (found.text, found.tokens) == ("b", ("b",))
    assert found.weights.tolist() == [[0, 1]]
    nothing = joined([translated("x", ("", -1.0)), translated("y", ("", -1.0))], "x y")
    assert (nothing.text, nothing.score) == ("", 0)
    assert nothing.weights.shape == (0, 2)


def test_weights_are_asked_for_once_and_only_when_read():
    asked = []
    found = Translation("a", "b", look=lambda: asked.append(1) or torch.ones(1, 1))
    assert not asked
    assert found.weights is found.weights
    assert len(asked) == 1
    assert found == Translation("a", "b")
    assert "look" not in repr(found)

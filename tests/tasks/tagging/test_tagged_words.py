"""What comes out of a tagger."""

import pytest
import torch

from regard.errors import ValueRangeError
from regard.tasks.tagging.tagged_words import MOST, Tagged, joined


def tagged(text, seed=0):
    words, labels = zip(*(x.split("/") for x in text.split()), strict=True)
    n = len(words)
    weights = torch.rand(2, 3, n, n, generator=torch.Generator().manual_seed(seed)).softmax(-1)
    return Tagged(words, labels, (0.5,) * n, look=lambda: weights)


ONE, TWO = tagged("dogs/NOUN bark/VERB ./PUNCT"), tagged("she/PRON sleeps/VERB", 1)


def test_words_with_labels():
    assert str(ONE) == "dogs/NOUN bark/VERB ./PUNCT"
    assert list(ONE) == [("dogs", "NOUN"), ("bark", "VERB"), (".", "PUNCT")]
    assert len(ONE) == 3
    assert ONE.sentences == (ONE,)


def test_weights_are_the_mean_of_layers_and_heads():
    assert ONE.attention.shape == (2, 3, 3, 3)
    torch.testing.assert_close(ONE.weights, ONE.look().mean((0, 1)))
    torch.testing.assert_close(ONE.weights.sum(1), torch.ones(3))


def test_they_are_computed_when_first_read():
    calls = []
    one = Tagged(("a",), ("X",), (1.0,), look=lambda: calls.append(1) or torch.ones(1, 1, 1, 1))
    assert not calls
    assert one.weights.tolist() == one.weights.tolist() == [[1.0]]
    assert len(calls) == 1


def test_several_sentences_in_one():
    both = joined([ONE, TWO])
    assert both.words == (*ONE.words, *TWO.words)
    assert both.labels == (*ONE.labels, *TWO.labels)
    assert len(both.probabilities) == 5
    assert both.sentences == both.parts == (ONE, TWO)
    assert both.weights.shape == (5, 5)
    assert torch.equal(both.attention[:, :, :3, :3], ONE.attention)
    assert torch.equal(both.attention[:, :, 3:, 3:], TWO.attention)
    assert not both.weights[:3, 3:].any()
    assert not both.weights[3:, :3].any()


def test_one_sentence_is_itself():
    assert joined([ONE]) is ONE


def test_nothing():
    none = joined([])
    assert none.sentences == ()
    assert str(none) == ""
    assert none.weights.shape == (0, 0)


def test_too_many_words_for_a_matrix():
    n = MOST // 2 + 1
    part = Tagged(("a",) * n, ("X",) * n, (1.0,) * n, look=lambda: pytest.fail("looked"))
    with pytest.raises(ValueRangeError, match="the weights of 2,002 words on each other are too"):
        _ = joined([part, part]).weights

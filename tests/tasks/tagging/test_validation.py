"""Judging a model while it is trained."""

import math

import pytest
import torch

from regard.tasks.tagging.settings import model_of
from regard.tasks.tagging.validation import Validation
from tests.tasks.tagging.tiny import SENTENCES, sentence, small, words_of

WORDS = words_of()
CPU = torch.device("cpu")


@pytest.fixture
def model():
    torch.manual_seed(1)
    return model_of(small(), WORDS)


def always(model, label):
    """A model that says the same of each word."""
    with torch.no_grad():
        model.out.weight.zero_()
        model.out.bias.zero_()
        model.out.bias[WORDS.label(label)] = 2.0
    return model


def test_accuracy_and_loss(model):
    judged = Validation(SENTENCES, WORDS, small())(always(model, "NOUN"), CPU)
    labels = [x for s in SENTENCES for x in s.labels]
    right = labels.count("NOUN") / len(labels)
    assert judged.score == pytest.approx(100 * right)
    total = math.log(math.exp(2) + len(WORDS.labels) - 1)
    assert judged.loss == pytest.approx(total - 2 * right, abs=1e-5)


def test_known_and_unknown_words_are_counted_apart(model):
    some = [sentence("the/DET giraffe/NOUN sees/VERB a/DET gnu/PROPN"), sentence("dogs/NOUN")]
    counts = Validation(some, WORDS, small()).counts(always(model, "NOUN"), CPU)
    assert (counts.unknown, counts.unknown_right) == (2, 1)
    assert (counts.known, counts.known_right) == (4, 1)
    assert counts.accuracy == pytest.approx(100 / 3)


def test_a_label_never_seen_is_wrong_and_has_no_loss(model):
    some = [sentence("the/NEW dog/NOUN")]
    counts = Validation(some, WORDS, small()).counts(always(model, "NOUN"), CPU)
    assert (counts.known, counts.known_right, counts.judged) == (2, 1, 1)
    assert counts.accuracy == 50
    assert math.isfinite(counts.loss)
    judged = Validation([sentence("the/NEW")], WORDS, small())(model, CPU)
    assert judged == (0.0, 0.0)


def test_every_word_of_a_long_sentence_is_judged(model):
    long = sentence(" ".join(["the/DET", "dog/NOUN"] * 40))
    counts = Validation([long], WORDS, small(max_len=16)).counts(model, CPU)
    assert counts.known == counts.judged == 80


def test_the_model_is_left_as_it_was(model):
    validation = Validation(SENTENCES, WORDS, small(dropout=0.5))
    for training in (True, False):
        model.train(training)
        assert validation(model, CPU) == validation(model, CPU)  # without dropout
        assert model.training is training


def test_no_time(model):
    assert Validation(SENTENCES, WORDS, small())(model, CPU, lambda: True) is None
    assert model.training

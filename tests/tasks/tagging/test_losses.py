"""The loss of a training: a sum over the words that have labels."""

import torch
from torch.nn.functional import cross_entropy

from regard.tasks.tagging.losses import Losses
from regard.tasks.tagging.numbered import Numbered, pieces
from regard.tasks.tagging.settings import model_of
from regard.tasks.tagging.words import NONE, STRANGE
from tests.tasks.tagging.tiny import SENTENCES, small, words_of

WORDS = words_of()
NUMBERED = Numbered.of(SENTENCES, WORDS)
PARTS = NUMBERED.stacked(list(pieces(NUMBERED.lengths.tolist(), 16)))


def net(**changes):
    torch.manual_seed(0)
    words = changes.pop("words", WORDS)
    return model_of(small(**changes), words).eval()


def by_hand(scores, labels):
    rows = zip(scores.flatten(0, 1), labels.flatten(), strict=True)
    return sum(-row.log_softmax(-1)[label] for row, label in rows if label >= 0)


def test_both_losses_are_added_up():
    model = net()
    scores, beside = model.both(*PARTS[:3])
    wanted = by_hand(scores, PARTS.labels) + 0.25 * by_hand(beside, PARTS.auxiliary)
    torch.testing.assert_close(Losses(model, 0.0, 0.25)(*PARTS), wanted)


def test_smoothing():
    model = net()
    there = PARTS.labels >= 0
    wanted = cross_entropy(
        model(*PARTS[:3])[there], PARTS.labels[there], label_smoothing=0.2, reduction="sum"
    )
    torch.testing.assert_close(Losses(model, 0.2, 0.0)(*PARTS), wanted)


def test_a_model_of_one_kind_of_labels():
    words = type(WORDS)(WORDS.words, WORDS.characters, WORDS.labels)
    model = net(words=words)
    assert model.beside is None
    wanted = by_hand(model(*PARTS[:3]), PARTS.labels)
    torch.testing.assert_close(Losses(model, 0.0, 0.5)(*PARTS), wanted)


def test_words_without_a_label_add_nothing():
    model = net()
    losses = Losses(model, 0.1, 0.0)
    some = PARTS.labels.clone()
    some[:, 0] = NONE
    less = losses(*PARTS._replace(labels=some))
    assert 0 < less < losses(*PARTS)
    some[:, 0] = STRANGE
    assert torch.equal(losses(*PARTS._replace(labels=some)), less)
    none = torch.full_like(some, NONE)
    assert losses(*PARTS._replace(labels=none)) == 0


def test_it_is_float32_whatever_the_model_computes_in():
    class Half(torch.nn.Module):
        config = net(words=type(WORDS)(WORDS.words, WORDS.characters, WORDS.labels)).config

        def forward(self, words, spellings, lens):
            return torch.zeros(*words.shape, len(WORDS.labels), dtype=torch.bfloat16)

    assert Losses(Half(), 0.0, 0.5)(*PARTS).dtype == torch.float32

"""The batches of epochs, prepared ahead."""

import threading
import time

import pytest
import torch

from regard.tasks.pairs import Pair
from regard.tasks.translation.epochs import Epochs
from regard.tasks.vocabulary import Vocabulary
from tests.tasks.translation.toy import WORDS, small, translated

SOURCES = [f"{a} {b}" for a in WORDS for b in WORDS]
PAIRS = [Pair(text, translated(text), i) for i, text in enumerate(SOURCES)]
SOURCE = Vocabulary.learn(SOURCES, 300)
TARGET = Vocabulary.learn([pair.target for pair in PAIRS], 300)


def epochs(**settings):
    return Epochs(PAIRS, SOURCE, TARGET, small(**settings), fixed_shapes=False)


def tokens(made, epoch):
    batches = list(made.batches(epoch).epoch(epoch))
    return [x for batch in batches for x in (batch.source, batch.target_out)]


def same(first, second):
    return len(first) == len(second) and all(map(torch.equal, first, second))


@pytest.mark.parametrize("subwords", ["unigram", "bpe"])
def test_an_epoch_does_not_depend_on_those_before_it(subwords):
    settings = {"sample": 0.3, "subwords": subwords}
    with epochs(**settings) as in_order, epochs(**settings) as at_once:
        made = [tokens(in_order, epoch) for epoch in range(3)]
        assert same(tokens(at_once, 2), made[2])
    assert not same(made[0], made[1])


@pytest.mark.parametrize("side", [0, 1])
def test_seed_and_epoch_draw_other_cuts(side):
    def cuts(seed, epoch):
        with epochs(sample=0.3, seed=seed) as made:
            ids = [row[row > 0].tolist() for x in tokens(made, epoch)[side::2] for row in x]
            return sorted(map(tuple, ids))

    assert cuts(1, 0) == cuts(1, 0)
    assert cuts(1, 0) != cuts(2, 0)
    assert cuts(1, 0) != cuts(1, 1)


def test_without_sampling_words_are_cut_once():
    with epochs() as made:
        assert made.batches(0) is made.batches(5)


def test_the_next_epoch_is_made_meanwhile(monkeypatch):
    begun = threading.Event()
    make = Epochs._make

    def noted(self, epoch):
        if epoch == 1:
            begun.set()
        return make(self, epoch)

    monkeypatch.setattr(Epochs, "_make", noted)
    with epochs(sample=0.3) as made:
        made.batches(0)
        assert begun.wait(10)


def test_an_epoch_that_nobody_will_learn_from_is_not_made(monkeypatch):
    begun = []
    make = Epochs._make

    def noted(self, epoch):
        begun.append(epoch)
        return make(self, epoch)

    monkeypatch.setattr(Epochs, "_make", noted)
    with epochs(sample=0.3, epochs=3) as made:
        for epoch in range(3):
            made.batches(epoch)
        time.sleep(0.2)  # for a thread to begin
    assert begun == [0, 1, 2]


def test_the_end_does_not_wait_for_the_next_epoch(monkeypatch):
    make, begun, released = Epochs._make, threading.Event(), threading.Event()

    def slow(self, epoch):
        if epoch == 1:
            begun.set()
            released.wait(20)
        return make(self, epoch)

    monkeypatch.setattr(Epochs, "_make", slow)
    start = time.monotonic()
    with epochs(sample=0.3) as made:
        made.batches(0)
        assert begun.wait(10)
    assert time.monotonic() - start < 10
    # nor does python, which joins other threads before it ends
    assert all(x.daemon for x in threading.enumerate() if "regard" in x.name)
    released.set()

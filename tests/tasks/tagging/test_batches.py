"""Batches: every word once an epoch, the same ones each time they are made."""

import numpy as np
import pytest
import torch

from regard.errors import ValueRangeError
from regard.tasks.tagged import Sentence
from regard.tasks.tagging.batches import Batches, Epochs
from regard.tasks.tagging.numbered import Numbered
from regard.tasks.tagging.words import UNKNOWN
from tests.tasks.tagging.tiny import words_of

WORDS = words_of()
VOCABULARY = ["the", "dog", "cat", "barks", "sees", ".", "giraffe"]


def drawn(count, longest, seed=0):
    rng = np.random.default_rng(seed)
    sentences = []
    for i in range(count):
        n = int(rng.integers(1, longest + 1))
        words = tuple(rng.choice(VOCABULARY, n).tolist())
        # the label tells which word of which sentence it is: see `learned`
        sentences.append(Sentence(words, ("DET",) * n, i))
    return sentences


def made(sentences, **options):
    numbered = Numbered.of(sentences, WORDS)
    numbered.labels[:] = np.arange(len(numbered.labels))
    usual = {"tokens": 100, "seed": 1, "max_len": 64}
    return Batches(numbered, **(usual | options))


SENTENCES = drawn(200, 40)
TOTAL = sum(len(x.words) for x in SENTENCES)


def learned(batches):
    return sorted(x for batch in batches for x in batch.parts[3].flatten().tolist() if x >= 0)


def same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert (a.tokens, a.all_tokens) == (b.tokens, b.all_tokens)
        for x, y in zip(a.parts, b.parts, strict=True):
            assert torch.equal(x, y)


@pytest.mark.parametrize("fixed_shapes", [False, True])
@pytest.mark.parametrize("max_len", [8, 17, 64])
def test_every_word_is_learned_once_an_epoch(fixed_shapes, max_len):
    batches = made(SENTENCES, fixed_shapes=fixed_shapes, max_len=max_len)
    for epoch in range(2):
        found = list(batches.epoch(epoch))
        assert len(found) == batches.count(epoch)
        assert learned(found) == list(range(TOTAL))
        assert sum(batch.tokens for batch in found) == TOTAL
    assert batches.cut == sum(len(x.words) > max_len for x in SENTENCES)


def test_a_batch_is_as_large_as_it_may_be():
    for batch in made(SENTENCES, tokens=100).epoch(0):
        assert batch.parts[0].numel() <= 100
        lens = batch.parts[2]
        assert lens.max() == batch.parts[0].shape[1]
        assert lens.max() - lens.min() <= 12 or len(lens) < 4
    one = made(drawn(1, 40, seed=3), tokens=1)
    assert len(list(one.epoch(0))) == 1  # a sentence of more words than a batch has


def test_fixed_shapes_are_few_and_have_one_number_of_rows_each():
    batches = list(made(SENTENCES, fixed_shapes=True, tokens=200).epoch(0))
    shapes = {batch.parts[1].shape for batch in batches}
    assert len({shape[1] for shape in shapes}) == len(shapes) < 8
    assert {shape[2] for shape in shapes} == {24}
    assert all(shape[0] % 8 == 0 for shape in shapes)
    places = sum(batch.parts[0].numel() for batch in batches)
    assert places < 2 * TOTAL


def test_what_fills_no_batch_goes_to_a_longer_one_if_that_is_less():
    def widths(short):
        sentences = [Sentence(("the",) * n, ("DET",) * n, 0) for n in [5] * short + [11] * 14]
        batches = made(sentences, fixed_shapes=True, tokens=96).epoch(0)
        return sorted(batch.parts[0].shape[1] for batch in batches)

    assert widths(2) == [12, 12]  # 16 rows of 12 words have room for two more
    assert widths(7) == [8, 12, 12]  # seven of 8 rows of 8 words


def test_an_epoch_is_the_same_each_time_and_another_one_is_not():
    options = {"word_dropout": 5.0}
    batches = made(SENTENCES, **options)
    same(list(batches.epoch(3)), list(made(SENTENCES, **options).epoch(3)))
    one, other = (next(iter(batches.epoch(i))) for i in (3, 4))
    assert one.parts[3].shape != other.parts[3].shape or not torch.equal(
        one.parts[3], other.parts[3]
    )
    other = next(iter(made(SENTENCES, seed=2, **options).epoch(3)))
    assert one.parts[3].shape != other.parts[3].shape or not torch.equal(
        one.parts[3], other.parts[3]
    )


@pytest.mark.parametrize("fixed_shapes", [False, True])
def test_batches_already_seen_are_left_out(fixed_shapes):
    batches = made(SENTENCES, fixed_shapes=fixed_shapes, word_dropout=5.0)
    whole = list(batches.epoch(1))
    same(list(batches.epoch(1, skip=4)), whole[4:])
    assert list(batches.epoch(1, skip=len(whole))) == []


@pytest.mark.parametrize("fixed_shapes", [False, True])
@pytest.mark.parametrize("world", [2, 3])
def test_processes_share_the_rows(fixed_shapes, world):
    batches = made(SENTENCES, fixed_shapes=fixed_shapes, word_dropout=5.0)
    whole = list(batches.epoch(0))
    shares = [list(batches.epoch(0, rank=rank, world=world)) for rank in range(world)]
    for i, batch in enumerate(whole):
        parts = [share[i] for share in shares]
        assert sum(part.tokens for part in parts) == batch.tokens
        assert {part.all_tokens for part in parts} == {batch.tokens}
        assert len({part.parts[1].shape for part in parts}) == 1
        for rank, part in enumerate(parts):
            rows = batch.parts[0][rank::world]
            assert torch.equal(part.parts[0][: len(rows)], rows)
            assert not part.parts[2][len(rows) :].any()


def test_seldom_words_are_taken_for_unknown_more_often():
    texts = [("the",)] * 999 + [("dog",)]
    sentences = [Sentence(words, ("DET",), 0) for words in texts]
    batches = made(sentences, tokens=1000, word_dropout=1.0)
    dropped = {"the": 0, "dog": 0}
    for epoch in range(40):
        for batch in batches.epoch(epoch):
            words, _, _, labels, _ = batch.parts
            for number, label in zip(
                words.flatten().tolist(), labels.flatten().tolist(), strict=True
            ):
                if number == UNKNOWN:
                    dropped[texts[label][0]] += 1
    assert 10 <= dropped["dog"] <= 30  # half of 40
    assert 15 <= dropped["the"] <= 70  # a thousandth of 39,960


def test_padding_stays_padding():
    for batch in made(SENTENCES, fixed_shapes=True, word_dropout=1000.0).epoch(0):
        words, _, lens, *_ = batch.parts
        there = torch.arange(words.shape[1]) < lens[:, None]
        assert ((words != 0) == there).all()


def test_without_word_dropout_no_word_is():
    for batch in made(SENTENCES).epoch(0):
        words, spellings, *_ = batch.parts
        giraffes = (spellings[:, :, 1] == WORDS.spelling("giraffe")[1]) & (spellings[:, :, 8] == 3)
        assert ((words == UNKNOWN) == giraffes).all()


@pytest.mark.parametrize("fixed_shapes", [False, True])
def test_no_sentences_no_batches(fixed_shapes):
    batches = made([], fixed_shapes=fixed_shapes)
    assert batches.count() == 0
    assert list(batches.epoch(0)) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [({"tokens": 0}, "tokens must be at least 1, got 0"),
     ({"max_len": 7}, "max_len must be at least 8, got 7"),
     ({"seed": -1}, "seed must be at least 0, got -1")],
)  # fmt: skip
def test_what_cannot_be_is_refused(options, told):
    with pytest.raises(ValueRangeError, match=told):
        made(SENTENCES, **options)


@pytest.mark.parametrize("options", [{"skip": -1}, {"rank": 2, "world": 2}, {"rank": -1}])
def test_shares_that_are_none(options):
    with pytest.raises(ValueRangeError, match="skip must be at least 0 and rank in"):
        next(iter(made(SENTENCES).epoch(0, **options)))


def test_the_reader_is_told_of_sentences_that_are_cut():
    with Epochs(made(SENTENCES), 64) as epochs:
        assert epochs.notes == ()
        assert epochs.batches(0) is epochs.batches(7)
    count = sum(len(x.words) > 8 for x in SENTENCES)
    told = f"{count} sentences of more than 8 words: cut into pieces that overlap, nothing left out"
    assert Epochs(made(SENTENCES, max_len=8), 8).notes == (told,)
    one = [x for x in SENTENCES if len(x.words) > 8][:1]
    assert Epochs(made(one, max_len=8), 8).notes[0].startswith("1 sentence of more than 8 words:")

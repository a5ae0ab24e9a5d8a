"""Batches: every pair once an epoch, the same by the same seed, few shapes, little padding."""

from collections import Counter
from itertools import chain, islice

import numpy as np
import pytest
import torch

from regard.errors import ShapeError, ValueRangeError
from regard.tasks.ragged import Ragged
from regard.tasks.translation.batches import Batches, sizes_up_to
from regard.tasks.vocabulary import BOS, EOS, PAD


def pairs(count=700, longest=60, seed=0):
    """Pairs that can be told from each other, of lengths as sentences have them."""
    rng = np.random.default_rng(seed)
    mean = rng.lognormal(2.1, 0.6, count)
    lengths = (np.clip(np.round(mean * rng.lognormal(0, 0.2, count)), 1, longest) for _ in "mn")
    return [
        [[10 + i, *rng.integers(4, 10, int(n) - 1).tolist()] for i, n in enumerate(side)]
        for side in lengths
    ]


def batches(count=700, *, fixed_shapes=False, tokens=512, seed=1, max_len=64, **settings):
    return Batches(
        *pairs(count), tokens=tokens, seed=seed, fixed_shapes=fixed_shapes, max_len=max_len
    )


def read_back(batch):
    """The pairs of a batch, checked on the way."""
    rows, m = batch.source.shape
    n = batch.target_out.shape[1]
    assert batch.target_in.shape == batch.target_out.shape == (rows, n)
    assert batch.source_lens.shape == (rows,)
    for part in (batch.source, batch.source_lens, batch.target_in, batch.target_out):
        assert part.dtype == torch.int64
        assert part.device.type == "cpu"
    assert batch.source_lens.min() >= 1
    assert (batch.target_in[:, 0] == BOS).all()
    assert batch.tokens == (batch.target_out != PAD).sum()
    found = []
    parts = batch.source, batch.source_lens, batch.target_in, batch.target_out
    for source, length, before, after in zip(*(x.tolist() for x in parts), strict=True):
        assert source[length:] == [PAD] * (m - length)
        if set(after) == {PAD}:
            assert (length, set(source), set(before[1:])) == (1, {PAD}, {PAD})
            continue
        end = after.index(EOS)
        assert after[end + 1 :] == [PAD] * (n - end - 1)
        assert before[1 : end + 1] == after[:end]
        assert before[end + 1 :] == [PAD] * (n - end - 1)
        found.append((source[:length], after[:end]))
    return found


def same(one, other):
    return len(one) == len(other) and all(
        torch.equal(a.source, b.source)
        and torch.equal(a.source_lens, b.source_lens)
        and torch.equal(a.target_in, b.target_in)
        and torch.equal(a.target_out, b.target_out)
        and (a.tokens, a.all_tokens) == (b.tokens, b.all_tokens)
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("fixed_shapes", [False, True])
@pytest.mark.parametrize("tokens", [1, 100, 512, 100_000])
@pytest.mark.parametrize("epoch", [0, 3])
def test_every_pair_once_an_epoch(fixed_shapes, tokens, epoch):
    made = batches(fixed_shapes=fixed_shapes, tokens=tokens)
    got = list(made.epoch(epoch))
    found = [pair for batch in got for pair in read_back(batch)]
    assert sorted(found) == sorted(map(tuple, map(list, zip(*pairs(), strict=True))))
    assert len(got) == made.count(epoch)
    assert made.too_long == 0
    for batch in got:
        rows, m = batch.source.shape
        n = batch.target_out.shape[1]
        assert rows * max(m, n) <= tokens or rows == (8 if fixed_shapes else 1)
        assert {m, n} <= set(sizes_up_to(64))
        assert batch.all_tokens == batch.tokens
        if fixed_shapes:
            assert rows == max(tokens // max(m, n) // 8 * 8, 8)


@pytest.mark.parametrize("fixed_shapes", [False, True])
def test_the_same_by_the_same_seed_and_epoch(fixed_shapes):
    first = list(batches(fixed_shapes=fixed_shapes).epoch(2))
    again = batches(fixed_shapes=fixed_shapes)
    list(islice(again.epoch(5), 3))  # epochs do not depend on each other
    assert same(list(again.epoch(2)), first)
    assert not same(list(again.epoch(3)), first)
    assert not same(list(batches(fixed_shapes=fixed_shapes, seed=2).epoch(2)), first)
    shapes, others = (
        Counter(tuple(batch.source.shape) for batch in again.epoch(i)) for i in (2, 3)
    )
    assert shapes == others  # what graphs were made for in the first epoch serves all


def test_lengths_are_mixed_over_an_epoch():
    first, second = (
        [batch.target_out.shape[1] for batch in batches().epoch(epoch)] for epoch in (0, 1)
    )
    assert first != second
    assert sorted(first) == sorted(second)
    assert first not in (sorted(first), sorted(first, reverse=True))


@pytest.mark.parametrize(
    ("counts", "tokens", "shapes"),
    [
        ({7: 7, 63: 8}, 64, [(8, 8), (8, 64)]),  # one empty row costs less than seven long ones
        ({7: 1, 11: 7}, 96, [(8, 12)]),  # one longer row costs less than seven empty ones
        ({7: 1, 11: 8}, 96, [(8, 12), (8, 12)]),
        ({7: 17, 31: 1}, 64, [(8, 8), (8, 8), (8, 32)]),
    ],
)
def test_what_is_left_over_goes_where_it_costs_less(counts, tokens, shapes):
    rows = [[5] * length for length, count in counts.items() for _ in range(count)]
    made = Batches(rows, rows, tokens=tokens, seed=0, fixed_shapes=True, max_len=64)
    assert sorted(tuple(batch.target_out.shape) for batch in made.epoch(0)) == shapes


def test_who_shares_a_batch_changes():
    def companions(epoch):
        return {
            frozenset(source[0] for source, _ in read_back(batch))
            for batch in batches().epoch(epoch)
        }

    first, second = companions(0), companions(1)
    assert len(first) == len(second) > 20
    assert len(first & second) < len(first) / 3  # of few long sentences there is no choice


@pytest.mark.parametrize("fixed_shapes", [False, True])
def test_skipping_is_leaving_out_the_first(fixed_shapes, monkeypatch):
    made = batches(fixed_shapes=fixed_shapes)
    whole = list(made.epoch(1))
    for skip in (0, 1, 7, len(whole) - 1, len(whole), len(whole) + 5):
        assert same(list(made.epoch(1, skip=skip)), whole[skip:])
    built = []
    real = Batches._batch
    monkeypatch.setattr(
        Batches, "_batch", lambda self, *given: built.append(1) or real(self, *given)
    )
    assert next(made.epoch(1, skip=len(whole) - 1)).tokens == whole[-1].tokens
    assert len(built) == 1  # what is skipped is not made


@pytest.mark.parametrize("fixed_shapes", [False, True])
@pytest.mark.parametrize("world", [2, 3, 7])
def test_ranks_share_each_batch(fixed_shapes, world):
    made = batches(300, fixed_shapes=fixed_shapes, tokens=200)
    ranks = [list(made.epoch(0, skip=2, rank=rank, world=world)) for rank in range(world)]
    for whole, *parts in zip(made.epoch(0, skip=2), *ranks, strict=True):
        assert len({part.source.shape for part in parts}) == 1
        assert len({part.target_out.shape for part in parts}) == 1
        assert parts[0].source.shape[0] == -(-whole.source.shape[0] // world)
        found = [read_back(part) for part in parts]
        assert sorted(chain(*found)) == sorted(read_back(whole))
        assert found[0] == read_back(whole)[::world]
        assert sum(part.tokens for part in parts) == whole.tokens
        assert {part.all_tokens for part in parts} == {whole.tokens}


def test_what_is_too_long_is_left_out_and_counted():
    sources = [[5] * 10, [5] * 11, [5] * 3, [5] * 3, [5]]
    targets = [[6] * 9, [6], [6] * 10, [6] * 9, [6] * 40]
    made = Batches(sources, targets, tokens=100, seed=0, fixed_shapes=False, max_len=10)
    assert made.too_long == 3
    got = list(made.epoch(0))
    assert sorted(chain(*map(read_back, got))) == [([5] * 3, [6] * 9), ([5] * 10, [6] * 9)]
    assert all(max(batch.source.shape[1], batch.target_out.shape[1]) <= 10 for batch in got)


@pytest.mark.parametrize("fixed_shapes", [False, True])
def test_nothing_and_empty_sides(fixed_shapes):
    none = Batches([], [], tokens=100, seed=0, fixed_shapes=fixed_shapes, max_len=10)
    assert (none.count(0), list(none.epoch(0))) == (0, [])
    made = Batches([[]], [[]], tokens=8, seed=0, fixed_shapes=fixed_shapes, max_len=10)
    (batch,) = made.epoch(0)
    assert (batch.tokens, batch.target_out[0, 0], batch.source_lens[0]) == (1, EOS, 1)


def test_rows_in_one_array_are_taken_as_they_are():
    sources, targets = pairs(100)
    settings = {"tokens": 256, "seed": 0, "fixed_shapes": True, "max_len": 64}
    lists = Batches(sources, targets, **settings)
    arrays = Batches(Ragged.of(sources), Ragged.of(targets), **settings)
    assert same(list(arrays.epoch(0)), list(lists.epoch(0)))


@pytest.mark.parametrize("fixed_shapes", [False, True])
@pytest.mark.parametrize("count", [2000, 20_000])
def test_few_shapes_and_little_padding(fixed_shapes, count):
    made = Batches(
        *pairs(count, 128, 3), tokens=4096, seed=0, fixed_shapes=fixed_shapes, max_len=128
    )
    shapes, places, real = set(), 0, 0
    for batch in made.epoch(0):
        shapes.add((batch.source.shape, batch.target_out.shape))
        places += batch.source.numel() + batch.target_out.numel()
        real += int((batch.source != PAD).sum()) + batch.tokens
    assert len(shapes) <= 60
    waste = 1 - real / places
    assert waste < (0.40 if count == 2000 else 0.30), waste


def test_sizes():
    assert sizes_up_to(128) == [8, 12, 16, 24, 32, 48, 64, 96, 128]
    assert sizes_up_to(8) == [8]
    assert sizes_up_to(2) == [2]
    assert sizes_up_to(9) == [8, 9]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"tokens": 0}, ValueRangeError, "tokens must be at least 1, got 0"),
        ({"max_len": 1}, ValueRangeError, "max_len must be at least 2, got 1"),
        ({"seed": -1}, ValueRangeError, "seed must be at least 0, got -1"),
        ({"targets": []}, ShapeError, "sources and targets must be as many, got 1 and 0"),
    ],
)
def test_what_is_refused(settings, error, message):
    given = {"sources": [[5]], "targets": [[5]], "tokens": 9, "seed": 0, "max_len": 9} | settings
    with pytest.raises(error) as raised:
        Batches(**given, fixed_shapes=False)
    assert str(raised.value) == message


@pytest.mark.parametrize("given", [{"skip": -1}, {"rank": 2, "world": 2}, {"rank": -1}])
def test_ranks_that_are_refused(given):
    with pytest.raises(ValueRangeError, match=r"^skip must be at least 0 and rank in 0..world-1"):
        next(batches(10).epoch(0, **given))

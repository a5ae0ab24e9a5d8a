"""Batches hold every example once, in few shapes, and again the same."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import torch

from regard.errors import ValueRangeError
from regard.tasks.classification.augmentation import augmentation_of
from regard.tasks.classification.batches import Batches, sizes_up_to
from regard.tasks.classification.forms import Sounds
from regard.tasks.classification.ready import NONE, Ready
from regard.tasks.mel import Mel
from tests.tasks.classification.tiny import small

FORM = Sounds(Mel(features=1), [0.0], [1.0])


def numbered(lengths):
    """Sounds of one feature; each number says whose it is, and the label whether it is odd."""
    return [
        Ready((n, 1), partial(np.full, (n, 1), i + 1, np.float32), i % 2)
        for i, n in enumerate(lengths)
    ]


def made(lengths, *, epoch=0, fixed=False, places=64, seed=1, augmentation=None):
    return Batches(
        numbered(lengths),
        FORM,
        places=places,
        seed=seed,
        epoch=epoch,
        fixed_shapes=fixed,
        augmentation=augmentation,
    )


def seen(batches, epoch=0, **kwargs):
    """Number, length and label of each example, batch by batch; padding is zeros."""
    found = []
    for batch in batches.epoch(epoch, **kwargs):
        x, lens, labels = batch.parts
        assert (x.dtype, lens.dtype, labels.dtype) == (torch.float32, torch.int64, torch.int64)
        rows = []
        for row, n, label in zip(x[..., 0], lens.tolist(), labels.tolist(), strict=True):
            assert not row[n:].any()
            if label == NONE:
                assert not row.any()
                continue
            assert len(set(row[:n].round(decimals=3).tolist())) == 1  # one example's alone
            rows.append((round(float(row[0])) - 1, n, label))
        assert batch.tokens == len(rows)
        found.append(rows)
    return found


LENGTHS = [
    *np.random.default_rng(0).integers(1, 40, 100).tolist(), 200, 65, 64, 1
]  # two are longer than a batch  # fmt: skip


@pytest.mark.parametrize("fixed", [False, True])
def test_an_epoch_has_every_example_once_and_whole(fixed):
    batches = made(LENGTHS, fixed=fixed)
    found = seen(batches)
    assert len(found) == batches.count(0)
    rows = sorted(row for batch in found for row in batch)
    assert rows == [(i, n, i % 2) for i, n in enumerate(LENGTHS)]


@pytest.mark.parametrize("fixed", [False, True])
def test_a_batch_has_so_many_places_or_one_example(fixed):
    for batch in made(LENGTHS, fixed=fixed).epoch(0):
        b, n, _ = batch.parts[0].shape
        assert b * n <= 64 or b == 1
        assert n <= 2 * int(batch.parts[1].max()) + 8


def test_fixed_shapes_are_few():
    shapes = {batch.parts[0].shape for batch in made(LENGTHS, fixed=True, places=256).epoch(0)}
    lengths = {n for _, n, _ in shapes}
    assert lengths <= set(sizes_up_to(200))
    assert len(shapes) == len(lengths)  # one number of rows for each
    assert all(b % 8 == 0 for b, n, _ in shapes if n <= 32)


def test_little_is_padding():
    long = made(np.random.default_rng(1).integers(20, 400, 500).tolist(), places=2000)
    real = sum(int(batch.parts[1].sum()) for batch in long.epoch(0))
    places = sum(batch.parts[0].numel() for batch in long.epoch(0))
    assert real / places > 0.8


def test_the_order_is_of_the_seed_and_the_epoch():
    one = seen(made(LENGTHS))
    assert one == seen(made(LENGTHS))
    assert one != seen(made(LENGTHS, seed=2))
    other = seen(made(LENGTHS, epoch=1), epoch=1)
    assert one != other
    assert sorted(sum(one, [])) == sorted(sum(other, []))  # noqa: RUF017


@pytest.mark.parametrize("fixed", [False, True])
def test_what_was_seen_is_skipped(fixed):
    whole = seen(made(LENGTHS, fixed=fixed))
    for skip in (0, 1, 3, len(whole) - 1, len(whole)):
        assert seen(made(LENGTHS, fixed=fixed), skip=skip) == whole[skip:]


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("world", [2, 3])
def test_processes_share_each_batch(fixed, world):
    whole = list(made(LENGTHS, fixed=fixed).epoch(0))
    shares = [list(made(LENGTHS, fixed=fixed).epoch(0, rank=r, world=world)) for r in range(world)]
    for batch, *parts in zip(whole, *shares, strict=True):
        assert len({part.parts[0].shape for part in parts}) == 1
        assert {part.all_tokens for part in parts} == {batch.tokens}
        assert sum(part.tokens for part in parts) == batch.tokens
        for rank, part in enumerate(parts):
            mine = batch.parts[0][: batch.tokens][rank::world]
            assert torch.equal(part.parts[0][: part.tokens], mine)
            assert (part.parts[2][part.tokens :] == NONE).all()


def test_changed_examples_have_the_lengths_the_batches_were_made_for():
    settings = small(stretch=0.5, edges=7, gain=0.0, mask_features=0, mask_frames=0.0)
    augmentation = augmentation_of(settings, FORM)
    one, two = (seen(made(LENGTHS, epoch=e, augmentation=augmentation), epoch=e) for e in (0, 1))
    by_number = [dict((i, n) for i, n, _ in sum(x, [])) for x in (one, two)]  # noqa: C402, RUF017
    assert by_number[0].keys() == by_number[1].keys() == set(range(len(LENGTHS)))
    assert by_number[0] != by_number[1]
    assert one == seen(made(LENGTHS, augmentation=augmentation))


def test_one_example_and_none():
    assert seen(made([5])) == [[(0, 5, 0)]]
    assert seen(made([])) == []


def test_what_goes_wrong_in_the_thread_is_raised():
    def lost():
        raise FileNotFoundError(2, "gone", "a.wav")

    batches = Batches([Ready((3, 1), lost, 0)], FORM, places=8, seed=0, epoch=0, fixed_shapes=False)
    with pytest.raises(FileNotFoundError):
        list(batches.epoch(0))


def test_refusals():
    with pytest.raises(ValueRangeError, match="places"):
        made([3], places=0)
    for wrong in ({"skip": -1}, {"rank": 2, "world": 2}):
        with pytest.raises(ValueRangeError, match="skip"):
            next(made([3]).epoch(0, **wrong))
    with pytest.raises(ValueRangeError, match="epoch 0"):
        next(made([3]).epoch(1))


def test_sizes():
    assert sizes_up_to(1) == [1]
    assert sizes_up_to(8) == [8]
    assert sizes_up_to(9) == [8, 9]
    sizes = sizes_up_to(360_000)
    assert sizes[-1] == 360_000
    assert len(sizes) < 40
    assert all(b <= 1.5 * a for a, b in pairwise(sizes))

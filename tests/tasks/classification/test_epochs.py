"""Each epoch has its own batches, and again the same."""

import torch

from regard.tasks.classification.epochs import Epochs
from tests.tasks.classification.test_batches import FORM, LENGTHS, numbered
from tests.tasks.classification.tiny import small


def parts(epochs, epoch):
    return [part for batch in epochs.batches(epoch).epoch(epoch) for part in batch.parts]


def same(one, two):
    return len(one) == len(two) and all(map(torch.equal, one, two))


def test_epochs_differ_and_repeat():
    settings = small(mask_features=1)
    with Epochs(numbered(LENGTHS), FORM, settings, fixed_shapes=False) as epochs:
        one, two = parts(epochs, 0), parts(epochs, 1)
        assert not same(one, two)
        again = Epochs(numbered(LENGTHS), FORM, settings, fixed_shapes=False)
        assert same(two, parts(again, 1))
        assert same(one, parts(again, 0))
        assert not same(
            one, parts(Epochs(numbered(LENGTHS), FORM, small(seed=2), fixed_shapes=False), 0)
        )
        assert epochs.notes == ()


def test_examples_are_changed():
    with Epochs(numbered(LENGTHS), FORM, small(mask_features=1), fixed_shapes=False) as epochs:
        lengths = sorted(n for x in epochs.batches(0).epoch(0) for n in x.parts[1].tolist())
    assert lengths != sorted(LENGTHS)


def test_without_changes_an_epoch_has_the_examples_as_they_are():
    def rows(epochs, epoch):
        return sorted(
            tuple(row[:n, 0].tolist())
            for batch in epochs.batches(epoch).epoch(epoch)
            for row, n in zip(*batch.parts[:2], strict=True)
        )

    epochs = Epochs(numbered(LENGTHS), FORM, small(augment=False), fixed_shapes=False)
    assert rows(epochs, 0) == rows(epochs, 3)
    assert [len(set(row)) for row in rows(epochs, 0)] == [1] * len(LENGTHS)


def test_fixed_shapes_are_handed_on():
    epochs = Epochs(numbered(LENGTHS), FORM, small(augment=False), fixed_shapes=True)
    free = Epochs(numbered(LENGTHS), FORM, small(augment=False), fixed_shapes=False)
    shapes = [{x.parts[0].shape for x in e.batches(0).epoch(0)} for e in (epochs, free)]
    assert len(shapes[0]) < len(shapes[1])

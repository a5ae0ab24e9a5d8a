import torch

from regard import Lengths


def test_lengths_are_the_same_for_all_heads():
    seen = Lengths([1, 2]).dense(2, 3, batch=(2, 4))
    assert seen.shape == (2, 4, 2, 3)
    assert seen.sum(-1).tolist() == [[[1, 1]] * 4, [[2, 2]] * 4]


def test_lengths_of_two_axes_are_one_a_query():
    seen = Lengths([[0, 1, 2], [3, 2, 1]]).dense(3, 3, batch=(2,))
    assert seen.sum(-1).tolist() == [[0, 1, 2], [3, 2, 1]]


def test_lists_arrays_and_small_integers_are_taken():
    for lengths in ([1, 2], torch.tensor([1, 2], dtype=torch.uint8), torch.tensor([1, 2]).numpy()):
        assert Lengths(lengths).dense(1, 2, batch=(2,)).sum().item() == 3

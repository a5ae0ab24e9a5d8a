import pytest
import torch

from regard import Distances, Slope


def test_slope_takes_more_the_further_a_key_is():
    bias = Slope(torch.tensor([1.0, 0.5]), offset=1).between(torch.arange(2), torch.arange(3))
    assert bias.tolist() == [
        [[-1.0, 0.0, -1.0], [-2.0, -1.0, 0.0]],
        [[-0.5, 0.0, -0.5], [-1.0, -0.5, 0.0]],
    ]


def test_distances_beyond_the_table_count_as_its_end():
    bias = Distances(torch.tensor([10.0, 20.0, 30.0])).between(torch.arange(3), torch.arange(3))
    assert bias.tolist() == [[20.0, 30.0, 30.0], [10.0, 20.0, 30.0], [10.0, 10.0, 20.0]]


@pytest.mark.parametrize("bias", [Slope(torch.ones(2)), Distances(torch.randn(2, 5))], ids=repr)
def test_the_table_of_a_bias_holds_every_pair(bias):
    table = bias.table(4, 6, torch.device("cpu"))
    i, j = torch.arange(4)[:, None], torch.arange(6)
    assert torch.equal(table[:, j - i + 3], bias.between(torch.arange(4), torch.arange(6)))

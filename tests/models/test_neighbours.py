import pytest
import torch

from regard.models.neighbours import ConvolutionBlock, InGrid, InLine, WindowBlock


def test_in_a_line_neighbours_lie_side_by_side_in_order():
    x = torch.arange(1.0, 6.0).view(1, 5, 1)
    real = torch.tensor([[True, True, True, True, False]])
    assert InLine(real, 1).of(x)[0].tolist() == [
        [0, 1, 2],
        [1, 2, 3],
        [2, 3, 4],
        [3, 4, 0],
        [4, 0, 0],
    ]
    assert InLine(real, 0).of(x)[0].flatten().tolist() == [1, 2, 3, 4, 0]
    assert InLine(real, 7).of(x).shape == (1, 5, 15)


def test_in_a_grid_neighbours_lie_row_by_row():
    # 1 2 3
    # 4 5 6
    places = torch.cartesian_prod(torch.arange(2), torch.arange(3))
    places = torch.cat((places, torch.tensor([[0, 0]])))[None]
    real = torch.arange(7)[None] < 6
    found = InGrid(real, places, 1).of(torch.arange(1.0, 8.0).view(1, 7, 1))[0]
    assert found.tolist() == [
        [0, 0, 0, 0, 1, 2, 0, 4, 5],
        [0, 0, 0, 1, 2, 3, 4, 5, 6],
        [0, 0, 0, 2, 3, 0, 5, 6, 0],
        [0, 1, 2, 0, 4, 5, 0, 0, 0],
        [1, 2, 3, 4, 5, 6, 0, 0, 0],
        [2, 3, 0, 5, 6, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]


def test_images_of_a_batch_may_have_different_sizes():
    wide = torch.cartesian_prod(torch.arange(1), torch.arange(4))
    tall = torch.cartesian_prod(torch.arange(4), torch.arange(1))
    real = torch.ones(2, 4, dtype=torch.bool)
    x = torch.arange(1.0, 5.0).view(1, 4, 1).expand(2, 4, 1)
    row, column = InGrid(real, torch.stack((wide, tall)), 1).of(x).unflatten(2, (3, 3))
    assert row[1].tolist() == [[0, 0, 0], [1, 2, 3], [0, 0, 0]]
    assert column[1].tolist() == [[0, 1, 0], [0, 2, 0], [0, 3, 0]]


def test_patches_that_stand_nowhere_sensible_reach_no_other_image():
    x = torch.randn(2, 3, 1)
    places = torch.tensor([[[0, 0], [5, 5], [-3, 9]], [[0, 0], [0, 1], [0, 2]]])
    real = torch.tensor([[True, True, False], [True, True, True]])
    found = InGrid(real, places, 1).of(x)
    for value in found[0].flatten().tolist():
        assert value == 0 or value in x[0, :2].flatten().tolist()


@pytest.mark.parametrize("made", [WindowBlock, ConvolutionBlock])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_there_is_a_way_around(made, norm):
    block = made(4, 6, 3, dropout=0.0, activation="relu", norm=norm)
    for part in (block.network.outer if made is WindowBlock else block.second).parameters():
        part.data.zero_()
    x = torch.randn(2, 5, 4)
    out = block(x, InLine(torch.ones(2, 5, dtype=torch.bool), 1))
    wanted = x if norm == "pre" else torch.nn.functional.layer_norm(x, (4,))
    assert torch.equal(out, wanted)

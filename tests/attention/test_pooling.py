"""Cells: runs of queries by runs of keys, however long they are and however the rows come."""

import pytest
import torch

from regard.attention.pooling import LONG, Grid

CPU = torch.device("cpu")


def by_the_rule(w, cells, reduce, every):
    rows, cols = (
        torch.arange(size) if size <= cells else torch.arange(size) * cells // size
        for size in w.shape
    )
    rows, w = rows[every // 2 :: every], w[every // 2 :: every]
    grid = [
        [w[rows == r][:, cols == c] for c in cols.unique().tolist()] for r in rows.unique().tolist()
    ]
    if reduce == "max":
        return torch.tensor([[cell.max() for cell in row] for row in grid])
    return torch.tensor([[cell.sum(1).mean() for cell in row] for row in grid])


@pytest.mark.parametrize("reduce", ["mass", "max"])
@pytest.mark.parametrize("keys", [3, 12, 13, 12 * LONG, 12 * LONG + 1, 12 * LONG - 1])
@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("at_once", [1, 7, 100])
@pytest.mark.parametrize("rows", [24, 29])
def test_cells_hold_what_they_say(reduce, keys, every, at_once, rows):
    w = torch.randn(rows, keys)  # below 0 too: a maximum of numbers below 0 is one of them
    grid = Grid((rows, keys), 12, reduce, every, CPU)
    read = w[every // 2 :: every]
    for done in range(0, len(read), at_once):
        grid.add(done, read[None, done : done + at_once])
    torch.testing.assert_close(grid.values[0].float(), by_the_rule(w, 12, reduce, every))


@pytest.mark.parametrize("keys", [12, 13, 12 * LONG + 1])
@pytest.mark.parametrize("reduce", ["mass", "max"])
def test_what_is_no_number_shows_in_its_cell_alone(reduce, keys):
    w = torch.rand(1, 12, keys)
    w[0, 5, 2] = torch.nan
    grid = Grid((12, keys), 6, reduce, 1, CPU)
    grid.add(0, w)
    wrong = grid.values[0].isnan()
    assert wrong.sum() == 1
    assert wrong[2, 2 * 6 // keys]


@pytest.mark.parametrize(("rows", "every"), [(12, 1), (13, 1), (13, 2)])
def test_an_average_does_not_wait_for_a_gpu(rows, every):
    # there are no numbers on "meta": whoever asks for one is refused
    meta = torch.device("meta")
    grid = Grid((rows, 9), 4, "mass", every, meta)
    assert grid.averaged(torch.zeros(2, 4, 4, dtype=torch.float64, device=meta)).shape == (2, 4, 4)
    with pytest.raises(NotImplementedError):
        torch.bincount(torch.zeros(3, dtype=torch.int64, device=meta))

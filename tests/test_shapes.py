import pytest
import torch

from regard.errors import ShapeError
from regard.shapes import FLOATS, check_qkv, same_width, spreads_to


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_accepts_what_fits(dtype):
    q, k, v = (torch.zeros(2, 5, n, d, dtype=dtype) for n, d in ((3, 4), (7, 6), (7, 8)))
    check_qkv(q, k, v)
    check_qkv(q, k)


def test_no_batch_axis_and_no_rows_are_fine():
    check_qkv(torch.zeros(0, 4), torch.zeros(0, 4), torch.zeros(0, 1))


def test_same_width_names_the_score():
    with pytest.raises(ShapeError, match=r"^Gaussian compares features one by one: q has d=3"):
        same_width("Gaussian", torch.zeros(2, 3), torch.zeros(2, 4))


@pytest.mark.parametrize("shape", [(), (1,), (4,), (3, 4), (1, 4), (2, 3, 4), (2, 1, 1), (0,)])
@pytest.mark.parametrize("wanted", [(2, 3, 4), (4,), (1,), (2, 3, 1), (3, 0), ()])
def test_spreads_to_is_what_torch_says(shape, wanted):
    try:
        fits = torch.broadcast_shapes(shape, wanted) == torch.Size(wanted)
    except RuntimeError:
        fits = False
    assert spreads_to(shape, wanted) == fits

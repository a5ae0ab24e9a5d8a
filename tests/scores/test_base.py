import pytest
import torch

from regard import Additive, Dot, Gaussian, Slope
from regard.scores.base import finite_rows
from regard.testing import qkv
from tests.cases import SCORES, in_dtype


@pytest.mark.parametrize("name", SCORES)
def test_the_form_for_kernels_is_the_definition(name):
    score, _ = in_dtype(SCORES[name](3, 2), torch.float64)
    q, k, _ = qkv(5, 2, n=4, m=6, d=3, v=1, dtype=torch.float64)
    form = score.form(q, k)
    got = form.pairwise()
    if form.bias is not None:
        got = got + form.bias.between(torch.arange(4), torch.arange(6))
    torch.testing.assert_close(got, score.pairwise(q, k), rtol=1e-12, atol=1e-12)


def test_a_score_keeps_its_tensors_and_nothing_else():
    w = torch.zeros(3)
    assert Additive(w).tensors == (w,)
    assert Gaussian(1.0).tensors == ()
    slope = torch.ones(2)
    assert (Additive(w) + Slope(slope)).tensors == (w, slope)


def test_two_biases_have_no_form():
    slope = Slope(torch.ones(()))
    assert (Dot() + slope).has_form
    assert not (Dot() + slope + slope).has_form


def test_garbage_in_a_row_stays_in_that_row():
    x = torch.tensor([[1.0, 2.0], [float("nan"), 1.0]], requires_grad=True)
    w = torch.tensor([3.0], requires_grad=True)
    got = finite_rows(lambda x: x * w, x)
    assert got[0].tolist() == [3.0, 6.0]
    assert got[1].isnan().all()
    got[0].sum().backward()
    assert x.grad.tolist() == [[3.0, 3.0], [0.0, 0.0]]
    assert w.grad.tolist() == [3.0]

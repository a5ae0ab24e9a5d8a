import pytest
import torch
from benchmarks.textbook import TextbookDot

from regard import ShapeError
from regard.layers import DotProductAttention
from tests.layers.textbook_data import ADDITIVE_ANSWER, additive_example


def test_the_example_of_the_notes():
    _, keys, values, lens = additive_example()
    attention = DotProductAttention(dropout=0.5)
    attention.eval()
    found = attention(torch.randn(2, 1, 2), keys, values, lens)
    torch.testing.assert_close(found, ADDITIVE_ANSWER)


@pytest.mark.parametrize("lens", [None, (3,), (3, 70)], ids=str)
def test_the_textbook_form(lens):
    torch.manual_seed(0)
    ours, theirs = DotProductAttention(0.0), TextbookDot(0.0)
    assert ours.state_dict() == {}
    x = [torch.randn(3, n, 8, requires_grad=True) for n in (70, 90, 90)]
    lens = None if lens is None else torch.randint(1, 91, lens)
    got, wanted = ours(*x, lens), theirs(*x, lens)
    torch.testing.assert_close(got, wanted, atol=2e-6, rtol=2e-6)
    torch.testing.assert_close(ours.attention_weights, theirs.attention_weights)
    seed = torch.randn_like(got)
    for mine, textbook in zip(
        torch.autograd.grad(got, x, seed), torch.autograd.grad(wanted, x, seed), strict=True
    ):
        torch.testing.assert_close(mine, textbook, atol=5e-6, rtol=1e-4)


def test_widths_that_differ_are_refused():
    with pytest.raises(ShapeError, match="q has d=2, k has e=3"):
        DotProductAttention(0.0)(torch.zeros(1, 1, 2), torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))

import pytest
import torch
from benchmarks.textbook import textbook_softmax

from regard import Causal, KindError, Lengths, ShapeError
from regard.layers import masked_softmax
from regard.layers.softmax import mask_of


@pytest.mark.parametrize("lens", [None, [2, 3], [4, 1], [[1, 3], [2, 4]]], ids=str)
def test_it_is_the_textbook_form(lens):
    scores = torch.randn(2, 2, 4)
    lens = None if lens is None else torch.tensor(lens)
    torch.testing.assert_close(masked_softmax(scores, lens), textbook_softmax(scores, lens))


def test_masked_entries_are_exactly_zero_and_rows_add_up_to_one():
    found = masked_softmax(torch.rand(2, 2, 4), torch.tensor([[1, 3], [2, 4]]))
    assert (found != 0).sum(-1).tolist() == [[1, 3], [2, 4]]
    torch.testing.assert_close(found.sum(-1), torch.ones(2, 2))


def test_a_row_of_length_zero_is_zeros_where_the_textbook_averages_padding():
    scores = torch.randn(2, 1, 3, requires_grad=True)
    lens = torch.tensor([0, 2])
    found = masked_softmax(scores, lens)
    assert found[0].tolist() == [[0.0, 0.0, 0.0]]
    assert textbook_softmax(scores, lens)[0].sum().item() == pytest.approx(1)
    found.square().sum().backward()
    assert scores.grad[0].tolist() == [[0.0, 0.0, 0.0]]
    assert scores.grad.isfinite().all()


def test_scores_far_below_the_fill_of_the_textbook():
    scores = torch.tensor([[[-2e6, -2e6, 5.0]]])
    assert masked_softmax(scores, torch.tensor([2])).tolist() == [[[0.5, 0.5, 0.0]]]


def test_garbage_behind_the_length_changes_nothing():
    scores = torch.randn(1, 2, 4)
    clean = masked_softmax(scores, torch.tensor([3]))
    for garbage in (torch.nan, torch.inf, -torch.inf):
        scores[..., 3] = garbage
        assert torch.equal(masked_softmax(scores, torch.tensor([3])), clean)


def test_wrong_axes_are_named():
    with pytest.raises(ShapeError) as raised:
        masked_softmax(torch.zeros(3, 4), None)
    assert str(raised.value) == (
        "masked_softmax: X must have the axes [b, n, m], got the shape [3, 4]"
    )


def test_lengths_and_another_mask_together():
    both = mask_of(torch.tensor([2]), Causal())
    assert both.dense(3, 3, (1,)).int().tolist() == [[[1, 0, 0], [1, 1, 0], [1, 1, 0]]]
    assert isinstance(mask_of(torch.tensor([2])), Lengths)
    assert mask_of(None) is None
    with pytest.raises(KindError, match=r"got Tensor; wrap it: Dense\(mask\)"):
        mask_of(torch.tensor([2]), torch.ones(3, 3).bool())

import pytest
import torch
from benchmarks.textbook import TextbookAdditive

from regard import Causal, KindError, ShapeError, ValueRangeError
from regard.layers import AdditiveAttention
from tests.layers.textbook_data import ADDITIVE_ANSWER, additive_example, assert_same, same_weights


def test_the_example_of_the_notes():
    attention = AdditiveAttention(key_size=2, query_size=20, num_hiddens=8, dropout=0.1)
    attention.eval()
    found = attention(*additive_example())
    torch.testing.assert_close(found, ADDITIVE_ANSWER)
    weights = attention.attention_weights
    torch.testing.assert_close(weights[0, 0, :2], torch.full((2,), 1 / 2))
    torch.testing.assert_close(weights[1, 0, :6], torch.full((6,), 1 / 6))
    assert weights[0, 0, 2:].tolist() == [0.0] * 8


@pytest.mark.parametrize("sizes", [(2, 3, 5, 20, 2, 8), (16, 70, 60, 7, 9, 33)], ids=str)
@pytest.mark.parametrize("lens", ["none", "1-D", "2-D"])
def test_the_textbook_form_from_the_same_weights(sizes, lens):
    b, n, m, query_size, key_size, h = sizes
    torch.manual_seed(1)
    ours, theirs = same_weights(
        AdditiveAttention(key_size, query_size, h, 0.1),
        TextbookAdditive(key_size, query_size, h, 0.1),
    )
    q, k, v = torch.randn(b, n, query_size), torch.randn(b, m, key_size), torch.randn(b, m, 6)
    shape = {"none": None, "1-D": (b,), "2-D": (b, n)}[lens]
    valid_lens = None if shape is None else torch.randint(1, m + 1, shape)
    assert_same(ours, theirs, lambda net: net(q, k, v, valid_lens))
    torch.testing.assert_close(ours.attention_weights, theirs.attention_weights)


def test_keys_projected_once_serve_many_calls():
    torch.manual_seed(0)
    attention = AdditiveAttention(3, 4, 5, 0.0)
    keys, values = torch.randn(2, 6, 3), torch.randn(2, 6, 2)
    projected = attention.W_k(keys)
    for _ in range(2):
        q = torch.randn(2, 1, 4)
        assert torch.equal(attention.over(projected, q, values), attention(q, keys, values))


def test_padding_may_hold_anything():
    torch.manual_seed(0)
    attention = AdditiveAttention(3, 4, 5, 0.0)
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 6, 3), torch.randn(2, 6, 2)
    lens = torch.tensor([2, 5])
    clean = attention(q, k, v, lens)
    wanted = torch.autograd.grad(clean.square().sum(), list(attention.parameters()))
    k[0, 2:], v[0, 2:], k[1, 5], v[1, 5] = torch.nan, torch.inf, -torch.inf, torch.nan
    dirty = attention(q, k, v, lens)
    assert torch.equal(clean, dirty)
    found = torch.autograd.grad(dirty.square().sum(), list(attention.parameters()))
    assert all(torch.equal(a, b) for a, b in zip(found, wanted, strict=True))
    k[1, 0] = torch.nan  # a key that is seen is not hidden
    assert attention(q, k, v, lens)[1].isnan().all()


def test_a_mask_beside_the_lengths():
    attention = AdditiveAttention(3, 3, 5, 0.0)
    x = torch.randn(2, 4, 3)
    attention(x, x, x, torch.tensor([4, 2]), mask=Causal())
    assert (attention.attention_weights[1] != 0).sum(-1).tolist() == [1, 2, 2, 2]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: AdditiveAttention(2, 3, 8, 0.0)(torch.zeros(1, 1, 4), torch.zeros(1, 1, 2), 0),
            ShapeError,
            "AdditiveAttention: queries must be [b, n, 3], got the shape [1, 1, 4]",
        ),
        (
            lambda: AdditiveAttention(2, 3, 8, 0.0)(torch.zeros(1, 1, 3), torch.zeros(1, 2), 0),
            ShapeError,
            "AdditiveAttention: keys must be [b, m, 2], got the shape [1, 2]",
        ),
        (
            lambda: AdditiveAttention(2, 3, 8, 0.0)(torch.zeros(1, 1, 3), [1], 0),
            KindError,
            "AdditiveAttention: keys must be a torch.Tensor, got list",
        ),
        (
            lambda: AdditiveAttention(2, 3, 0, 0.0),
            ValueRangeError,
            "AdditiveAttention: num_hiddens must be at least 1, got 0",
        ),
        (
            lambda: AdditiveAttention(2.0, 3, 8, 0.0),
            KindError,
            "AdditiveAttention: key_size must be an integer, got 2.0",
        ),
        (
            lambda: AdditiveAttention(2, 3, 8, "0.1"),
            KindError,
            "AdditiveAttention: dropout must be a number, got '0.1'",
        ),
    ],
)
def test_message(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message

"""Recording what a model attends to."""

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

import regard
from regard.errors import KindError, ShapeError, StateError, ValueRangeError
from regard.layers import Block, EncoderBlock, MultiHeadAttention
from regard.viewing.capture import capture


class Two(nn.Module):
    """A layer of regard's and a call of torch's, one after the other."""

    def __init__(self):
        super().__init__()
        self.first = MultiHeadAttention(8, 8, 8, 8, 2, 0.0, score="additive")
        self.second = nn.Linear(8, 8)

    def forward(self, x, lens=None):
        x = self.first(x, x, x, lens)
        q = self.second(x)[:, None]
        return scaled_dot_product_attention(q, x[:, None], x[:, None])


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Two().eval()


def test_calls_of_both_kinds_by_name(model):
    x, lens = torch.randn(3, 5, 8), torch.tensor([5, 2, 4])
    with capture(model) as seen:
        model(x, lens)
    assert seen.names == ["first.attention", ""]
    assert len(seen) == 2
    torch.testing.assert_close(seen["first.attention"].weights(), model.first.attention_weights)
    assert seen[1].weights().shape == (3, 1, 5, 5)
    assert seen[-1] is seen[1]


def test_everything_that_can_be_looked_at_is_that_of_the_weights(model):
    x = torch.randn(2, 6, 8)
    with capture(model) as seen:
        model(x)
    call = seen["first.attention"]
    w = call.weights()
    torch.testing.assert_close(call.rectangle(slice(1, 4), slice(2, 5)), w[..., 1:4, 2:5])
    torch.testing.assert_close(call.overview(cells=6), w)
    torch.testing.assert_close(call.overview(cells=1, reduce="max")[..., 0, 0], w.amax((-1, -2)))
    torch.testing.assert_close(call.top(2).weights, w.topk(2).values)
    torch.testing.assert_close(call.entropy(), -(w * w.log()).sum(-1))
    torch.testing.assert_close(call.received(), w.sum(-2))


def test_the_model_answers_as_without_and_learns_as_without(model):
    x = torch.randn(2, 6, 8)
    plain = model(x)
    plain.sum().backward()
    wanted = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    with capture(model) as seen:
        out = model(x)
    out.sum().backward()
    assert torch.equal(out, plain)
    assert all(torch.equal(p.grad, g) for p, g in zip(model.parameters(), wanted, strict=True))
    assert not seen[0].q.requires_grad
    assert not any(p.requires_grad for p in seen[0].score.tensors)


def test_fused_kernels_stay_and_memory_is_linear():
    torch.manual_seed(0)
    block = EncoderBlock(Block(width=8, num_heads=2, hidden=8)).eval()
    x = torch.randn(1, 20_000, 8)
    q = torch.randn(1, 2, 20_000, 4)
    mask = regard.Window(8, 8)
    assert regard.explain(q, q, q, mask=mask).impl == "cpu"
    with torch.no_grad(), capture(block) as seen:
        block(x, mask=mask)
    (call,) = seen
    assert call.q.numel() + call.k.numel() == 2 * 2 * 20_000 * 4
    near = call.rectangle(slice(9_000, 9_002), slice(8_990, 9_012))
    torch.testing.assert_close(near.sum(-1), torch.ones(1, 2, 2))


def test_some_layers_and_heads(model):
    x = torch.randn(2, 6, 8)
    with capture(model, layers=["first"]) as seen:
        model(x)
    assert seen.names == ["first.attention"]
    block = EncoderBlock(Block(width=8, num_heads=4, hidden=8)).eval()
    with capture(block) as whole, capture(block, heads=[2, 0]) as seen:
        block(x)
    torch.testing.assert_close(seen[0].weights(), whole[0].weights()[:, [2, 0]])


def test_after_an_error_nothing_is_left_behind(model):
    with pytest.raises(ShapeError), capture(model) as seen:
        model(torch.randn(2, 6, 9))
    x = torch.randn(2, 6, 8)
    with capture(model) as seen:
        with pytest.raises(ShapeError):
            model(torch.randn(2, 6, 9))
        model(x)
    assert seen.names == ["first.attention", ""]
    model(x)
    assert len(seen) == 2
    assert not model.first._forward_hooks
    assert not model.first._forward_pre_hooks


def test_what_cannot_be_captured_is_said(model):
    with pytest.raises(KindError, match=r"takes a torch\.nn\.Module, got list"), capture([]):
        pass
    wrong = pytest.raises(ValueRangeError, match="names of modules of the model, got 'third'")
    with wrong, capture(model, layers=["third"]):
        pass
    with capture(model) as seen:
        pass
    with pytest.raises(StateError, match="no call of 'x' was captured; there are nothing was"):
        seen["x"]

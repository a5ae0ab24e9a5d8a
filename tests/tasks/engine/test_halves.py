"""Copies of all weights at once are the copies that autocast makes one by one."""

import pytest
import torch
from torch import nn

from regard.layers import Block, EncoderBlock
from regard.tasks.engine.halves import Halves


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 12)
        self.blocks = nn.ModuleList(EncoderBlock(Block(12, 2, 24)) for _ in range(2))
        self.out = nn.Linear(12, 11, bias=False)
        self.out.weight = self.embedding.weight

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.out(x).float().square().sum()


def pulled(model, call, tokens):
    with torch.autocast("cpu", torch.bfloat16):
        loss = call(tokens)
    loss.backward()
    return loss.detach(), {name: x.grad for name, x in model.named_parameters()}


@pytest.mark.parametrize("begun", [False, True], ids=["fresh", "added-to"])
def test_loss_and_gradients_are_those_of_autocast(begun, one_thread):
    torch.manual_seed(0)
    model, tokens = Model(), torch.randint(11, (3, 5))

    def found(call):
        for x in model.parameters():
            x.grad = torch.full_like(x, 0.5) if begun else None
        return pulled(model, call, tokens)

    (loss, grads), (other, others) = found(model), found(Halves(model))
    assert torch.equal(loss, other)
    for name, grad in grads.items():
        assert grad.dtype == others[name].dtype == torch.float32
        assert torch.equal(grad, others[name]), name


def test_what_is_copied():
    halves = Halves(Model())
    assert len(halves.weights) == 2 * (4 + 2) * 2  # blocks, linear layers, a weight and a bias each
    assert all(x.requires_grad and x.dtype == torch.float32 for x in halves.weights.values())
    assert not any("embedding" in name or "out.weight" in name for name in halves.weights)
    assert Halves(nn.Linear(2, 3)).weights == {}
    assert Halves(nn.Linear(2, 3))(torch.ones(1, 2)).shape == (1, 3)


def test_what_is_frozen_or_shared_is_not(one_thread):
    model, tokens = Model(), torch.randint(11, (3, 5))
    first, second = model.blocks
    second.feed_forward = first.feed_forward
    second.attention.W_v.weight = second.attention.W_k.weight
    first.attention.W_q.requires_grad_(requires_grad=False)
    for x in model.parameters():
        x.grad = torch.zeros_like(x)
    halves = Halves(model)
    assert len(halves.weights) == 3 * 2 + 4 * 2 - 2
    pulled(model, halves, tokens)
    assert not first.attention.W_q.weight.grad.any()
    assert first.feed_forward.inner.weight.dtype == torch.float32
    assert first.feed_forward.inner.weight.grad.any()

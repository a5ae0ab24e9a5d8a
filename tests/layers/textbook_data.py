"""Inputs of the notes' examples, and how a layer is set beside its textbook form."""

from __future__ import annotations

import torch


def additive_example():
    """Random queries, keys all alike, values that count; two and six of ten keys are real."""
    queries, keys = torch.randn(2, 1, 20), torch.ones(2, 10, 2)
    values = torch.arange(40.0).reshape(1, 10, 4).repeat(2, 1, 1)
    return queries, keys, values, torch.tensor([2, 6])


# Of equal keys the real ones' values are averaged: rows 0 and 1, rows 0 to 5.
ADDITIVE_ANSWER = torch.tensor([[[2.0, 3.0, 4.0, 5.0]], [[10.0, 11.0, 12.0, 13.0]]])


def same_weights(ours, theirs):
    """Load the textbook's parameters into ours: the names must be the same."""
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict(theirs.state_dict())
    return ours.eval(), theirs.eval()


def assert_same(ours, theirs, call, tolerance=2e-6):
    """The same outputs, weights and gradients from the same parameters."""
    got, wanted = call(ours), call(theirs)
    torch.testing.assert_close(got, wanted, atol=tolerance, rtol=tolerance)
    for net, out in ((ours, got), (theirs, wanted)):
        net.zero_grad()
        out.square().sum().backward()
    wanted = {name: p.grad for name, p in theirs.named_parameters()}
    for name, p in ours.named_parameters():
        scale = wanted[name].abs().max()
        torch.testing.assert_close(p.grad, wanted[name], atol=5e-6 * scale.item(), rtol=1e-4)

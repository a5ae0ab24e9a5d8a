"""What was captured, by number and by name, and what can be asked of it."""

import pytest
import torch

from regard import Causal, Dot, StateError, weights
from regard.testing import qkv
from regard.viewing.captured import Captured, Captures

Q, K, _ = qkv(2, 3, n=5, m=7, d=4, v=1)


def test_calls_by_number_slice_and_name():
    first, second, third = (Captured(name, Q, K, Dot(), None) for name in "aba")
    calls = Captures()
    with pytest.raises(StateError, match="no call of 'a' was captured; there are nothing was"):
        calls["a"]
    assert repr(calls) == "<Captures: 0 calls of attention>"
    for call in (first, second, third):
        calls.add(call)
    assert list(calls) == [first, second, third]
    assert calls[:2] == [first, second]
    assert calls["a"] is third  # the last one
    assert calls["b"] is second
    assert calls.names == ["a", "b"]
    assert repr(calls) == "<Captures: 3 calls of attention, in a, b>"
    with pytest.raises(StateError, match="no call of 'c' was captured; there are 'a', 'b'"):
        calls["c"]


def test_what_can_be_asked_is_of_its_score_and_mask():
    call = Captured("a", Q, K, Dot(0.3), Causal(2))
    w = weights(Q, K, score=Dot(0.3), mask=Causal(2))
    torch.testing.assert_close(call.weights(), w)
    torch.testing.assert_close(call.rectangle(slice(1, 3), slice(0, 4)), w[..., 1:3, :4])
    torch.testing.assert_close(call.overview(7, rows=slice(2, 5)), w[..., 2:, :])
    torch.testing.assert_close(call.overview(1, reduce="max")[..., 0, 0], w.amax((-1, -2)))
    torch.testing.assert_close(call.top(2).weights, w.topk(2).values)
    torch.testing.assert_close(call.entropy(), torch.special.entr(w).sum(-1))
    torch.testing.assert_close(call.received(), w.sum(-2))

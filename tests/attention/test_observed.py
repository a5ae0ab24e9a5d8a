"""Observers of ``attend``."""

import pytest
import torch

from regard import Causal, Gaussian, ShapeError, attend
from regard.attention.observed import observing


def test_each_call_is_told_inside_and_none_outside():
    x, told = torch.randn(3, 2), []
    attend(x, x, x)
    with observing(lambda *call: told.append(call)):
        attend(x, x[:2], x[:2], score=Gaussian(2.0), mask=Causal())
    attend(x, x, x)
    ((q, k, score, mask),) = told
    assert torch.equal(q, x)
    assert torch.equal(k, x[:2])
    assert isinstance(score, Gaussian)
    assert isinstance(mask, Causal)


def test_several_observe_and_one_that_breaks_is_gone():
    x, first, second = torch.randn(3, 2), [], []
    with observing(lambda *call: first.append(call)):
        with pytest.raises(ShapeError), observing(lambda *call: second.append(call)):
            attend(x, x, x)
            attend(x, x.mT, x)
        attend(x, x, x)
    assert (len(first), len(second)) == (2, 1)


def test_compiled_it_is_still_one_graph():
    x = torch.randn(3, 2)
    with observing(lambda *call: None):
        compiled = torch.compile(lambda x: attend(x, x, x), fullgraph=True, backend="eager")
        assert torch.allclose(compiled(x), attend(x, x, x), atol=1e-6)

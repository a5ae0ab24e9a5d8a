import copy

import pytest
import torch

from regard import Additive, Causal, Gaussian, KindError, ValueRangeError, attend
from regard.layers import ALiBi, MultiHeadAttention
from regard.layers.heads import Heads

SCORES = ["dot", "additive", "cosine", "gaussian", "laplacian", "cauchy"]


@pytest.mark.parametrize("score", SCORES)
def test_every_head_is_a_call_of_its_own(score):
    torch.manual_seed(0)
    heads = Heads(3, 5, score=score).double()
    for p in heads.parameters():  # heads that differ
        p.data += torch.randn_like(p) * 0.3
    q, k, v = (torch.randn(2, 3, n, 5, dtype=torch.float64) for n in (4, 6, 6))
    together = heads(q, k, v, Causal())
    now = heads.score()
    for head in range(3):
        alone = now
        if score == "additive":
            alone = Additive(heads.w[head])
        elif hasattr(heads, "log_width"):
            alone = type(now)(heads.log_width[head].exp())
        one = attend(q[:, head], k[:, head], v[:, head], score=alone, mask=Causal())
        torch.testing.assert_close(together[:, head], one)
    assert heads.attention_weights.shape == (6, 4, 6)
    torch.testing.assert_close(heads.weights_by_head.sum(-1)[..., 1:], torch.ones(2, 3, 3).double())


@pytest.mark.parametrize("score", SCORES)
def test_everything_that_can_learn_gets_a_gradient(score):
    torch.manual_seed(0)
    layer = MultiHeadAttention(6, 6, 6, 6, 2, 0.0, score=score, positions=ALiBi(2))
    x = torch.randn(2, 5, 6)
    layer(x, x, x).square().sum().backward()
    for name, p in layer.named_parameters():
        assert p.grad is not None, name
        assert p.grad.abs().max() > 0, name


def test_scores_start_at_the_same_order_whatever_the_width():
    torch.manual_seed(0)
    for width in (4, 256):
        q = torch.randn(1, 1, 50, width)
        for name in ("dot", "gaussian", "additive"):
            spread = Heads(1, width, score=name).score().pairwise(q, q).std()
            assert 0.1 < spread < 3, (name, width, spread)


def test_a_score_of_ones_own():
    score = Gaussian(0.5)
    layer = MultiHeadAttention(4, 4, 4, 4, 2, 0.0, score=score)
    assert list(layer.attention.parameters()) == []
    assert layer.attention.score() is score


def test_what_a_score_of_ones_own_learns_is_the_layers():
    width = torch.nn.Parameter(torch.ones(()))
    layer = MultiHeadAttention(4, 4, 4, 4, 2, 0.0, score=Gaussian(width))
    assert any(p is width for p in layer.parameters())
    assert "attention.of_score_0" in layer.state_dict()
    twin = copy.deepcopy(layer)
    assert twin.attention.score().width is twin.attention.of_score_0


def test_wrong_scores_are_named():
    with pytest.raises(ValueRangeError) as raised:
        Heads(1, 2, score="dott")
    assert str(raised.value) == (
        "score must be one of 'dot', 'additive', 'cosine', 'gaussian', 'laplacian', 'cauchy', "
        "or a score of regard.scores; got 'dott'"
    )
    with pytest.raises(KindError, match=r"did you mean Gaussian\(\)\?"):
        Heads(1, 2, score=Gaussian)

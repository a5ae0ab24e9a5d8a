"""Some heads: score and mask keep what belongs to them."""

from dataclasses import dataclass

import pytest
import torch

from regard import StateError, weights
from regard.masks import Dense, Mask
from regard.scores import Score
from regard.testing import qkv
from regard.viewing.chosen import mask_of_heads, score_of_heads
from regard.viewing.visible import Interval
from tests.cases import MASKS, SCORES

Q, K, _ = qkv(2, 3, n=5, m=7, d=6, v=1, dtype=torch.float64)
SOME = [2, 0]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("heads", [[2, 0], [1], [2, 1, 0]])
def test_scores(score, heads):
    made = SCORES[score](6, 3)
    got = weights(Q[:, heads], K[:, heads], score=score_of_heads(made, heads, 3))
    torch.testing.assert_close(got, weights(Q, K, score=made)[:, heads])


RULES = {name: make(2, 5, 7) for name, make in MASKS.items()} | {
    "dense, a head": Dense(
        torch.rand(2, 3, 5, 7, generator=torch.Generator().manual_seed(0)) > 0.3
    ),
    "interval, a head": Interval(torch.tensor([0, 1, 2])[:, None], torch.tensor([[3], [5], [7]])),
}


@pytest.mark.parametrize("mask", RULES)
def test_masks(mask):
    rule = RULES[mask]
    got = weights(Q[:, SOME], K[:, SOME], mask=mask_of_heads(rule, SOME, 3))
    torch.testing.assert_close(got, weights(Q, K, mask=rule)[:, SOME])
    assert RULES["dense, a head"].seen[:, 0].ne(RULES["dense, a head"].seen[:, 2]).any()


def test_what_is_not_known_is_refused():
    @dataclass(frozen=True, eq=False)
    class Own(Score):
        w: torch.Tensor

        def pairwise(self, q, k):
            return q @ k.mT

    class Rule(Mask):
        allows = spans = None

    with pytest.raises(StateError, match="parameters of Own belong to which head is not known"):
        score_of_heads(Own(torch.ones(3)), SOME, 3)
    with pytest.raises(StateError, match="what Rule lets which head see is not known"):
        mask_of_heads(Rule(), SOME, 3)

"""A survey: one pass, and what each question alone would have told."""

import math

import pytest
import torch

from regard import Causal, Dot
from regard.testing import qkv
from regard.viewing.captured import Captured
from regard.viewing.heads import heads_of

N, M = 60, 90


@pytest.fixture(params=[torch.float32, torch.float64, torch.bfloat16])
def head(request):
    q, k, _ = qkv(n=N, m=M, d=5, v=1)
    return heads_of(Captured("", q.to(request.param), k.to(request.param), Dot(), Causal(30)))[0]


@pytest.mark.parametrize("every", [1, 3])
def test_one_pass_tells_what_each_question_alone_would(head, every):
    everything = slice(0, N), slice(0, M)
    w = head.tile(*everything, 100).values[every // 2 :: every]
    budget = -(-N * M * head.work // every)
    found = head.survey(10, 4, budget)
    assert found.every == every
    for reduce, values in (("mass", found.mass), ("max", found.max)):
        tile = head.tile(*everything, 10, reduce, budget)
        assert tile.every == every
        torch.testing.assert_close(values, tile.values)
    spread = torch.special.entr(w).sum(-1)
    torch.testing.assert_close(found.entropy, spread.repeat_interleave(every))
    torch.testing.assert_close(found.received, w.sum(0) * every)
    assert found.stats["entropy"] == pytest.approx(spread.mean().item(), rel=1e-5)
    assert found.stats["first"] == pytest.approx(w[:, 0].mean().item(), rel=1e-5)
    away = (torch.arange(M) - torch.arange(30, 90)[every // 2 :: every, None]).abs()
    assert found.stats["distance"] == pytest.approx((w * away).sum(1).mean().item(), rel=1e-5)
    near = (w * (away <= 0.02 * M)).sum(1).mean().item()
    assert found.stats["diagonality"] == pytest.approx(near, rel=1e-5)
    if every > 1:
        assert found.top is None  # of each query, or not at all
    else:
        torch.testing.assert_close(found.top.weights, w.topk(4).values)
        torch.testing.assert_close(w.gather(-1, found.top.keys), found.top.weights)


def test_without_cells_there_are_no_grids():
    found = heads_of(torch.rand(6, 4))[0].survey()
    assert (found.mass, found.max, found.top, found.every) == (None, None, None, 1)


def test_a_cell_keeps_its_query_whatever_the_budget(head):
    assert head.survey(20, budget=1).every == 3
    assert head.survey(budget=1).every == N


def test_numbers_that_are_no_weights():
    w = torch.full((5, 4), 0.25)
    w[0], w[1, 0], w[2, 0], w[3] = 0.0, -0.5, torch.nan, 2.0
    entropy = heads_of(w)[0].entropy()
    torch.testing.assert_close(entropy, torch.special.entr(w).sum(-1), equal_nan=True)
    assert entropy[0] == 0


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1)])
def test_little_or_nothing(shape):
    found = heads_of(torch.ones(shape))[0].survey(8, 2)
    assert (len(found.entropy), len(found.received)) == shape
    assert all(map(math.isfinite, found.stats.values()))

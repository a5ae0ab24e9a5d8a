"""Attention pooling: a set becomes one vector, whatever its order and size."""

from copy import deepcopy

import pytest
import torch

from regard.errors import KindError, ShapeError, StateError, ValueRangeError
from regard.layers.pooling import AttentionPooling
from regard.masks import Dense
from regard.scores import Gaussian, Uniform

SCORES = ["dot", "additive", "cosine", "gaussian", Gaussian(2.0)]
X = torch.randn(3, 5, 8, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("score", SCORES, ids=str)
@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize("queries", [1, 3])
def test_shapes(score, heads, queries):
    pool = AttentionPooling(8, queries, heads, score=score)
    assert pool(X).shape == ((3, 8) if queries == 1 else (3, queries, 8))
    w = pool.attention_weights
    assert w.shape == (3, heads, queries, 5)
    torch.testing.assert_close(w.sum(-1), torch.ones(3, heads, queries))


def test_it_is_the_average_by_the_learned_query_s_weights():
    pool = AttentionPooling(8)
    inner = pool.attention
    s = (X @ inner.W_k.weight.T) @ (inner.W_q.weight @ pool.query[0]) / 8**0.5
    average = torch.einsum("bn,bnd->bd", s.softmax(-1), X)
    wanted = average @ inner.W_v.weight.T @ inner.W_o.weight.T
    torch.testing.assert_close(pool(X), wanted)
    torch.testing.assert_close(pool.attention_weights[:, 0, 0], s.softmax(-1))


def test_several_queries_each_ask_for_their_own():
    pool = AttentionPooling(8, 2)
    out = pool(X)
    for i in range(2):
        one = deepcopy(pool)
        one.query = torch.nn.Parameter(pool.query[i : i + 1])
        torch.testing.assert_close(one(X), out[:, i])
    assert not torch.allclose(out[:, 0], out[:, 1])


@pytest.mark.parametrize("score", SCORES, ids=str)
def test_order_does_not_matter_and_padding_is_absent(score):
    pool = AttentionPooling(8, num_heads=2, score=score)
    lens = torch.tensor([5, 3, 1])
    wanted = pool(X, lens)
    moved = X.clone()
    moved[1, :3] = X[1, [2, 0, 1]]
    moved[1, 3:] = torch.nan
    moved[2, 1:] = 7.0
    torch.testing.assert_close(pool(moved, lens), wanted)
    torch.testing.assert_close(pool(X[1:2, :3]), wanted[1:2])


def test_an_empty_set_gives_zeros():
    pool = AttentionPooling(8, score="additive")
    out = pool(X, torch.tensor([5, 0, 2]))
    assert not out[1].any()
    assert out[0].any()
    assert torch.equal(pool(X[:, :0]), torch.zeros(3, 8))
    assert pool(X[:0]).shape == (0, 8)


def test_a_mask_beside_the_lengths():
    pool = AttentionPooling(8)
    seen = torch.tensor([1, 0, 1, 1, 0]).bool().view(1, 1, 1, 5)
    got = pool(X, torch.tensor([4, 4, 4]), mask=Dense(seen))
    torch.testing.assert_close(got, pool(X[:, [0, 2, 3]]))


def test_one_length_a_query():
    pool = AttentionPooling(8, 2)
    out = pool(X, torch.tensor([[5, 2]] * 3))
    torch.testing.assert_close(out[:, 0], pool(X)[:, 0])
    torch.testing.assert_close(out[:, 1], pool(X[:, :2])[:, 1])


def test_the_query_learns_what_to_look_for():
    # the answer is the last feature of the member with the largest first feature
    torch.manual_seed(0)
    pool = AttentionPooling(8)
    optimiser = torch.optim.Adam(pool.parameters(), lr=0.02)
    for _ in range(150):
        x = torch.randn(64, 6, 8)
        wanted = x[torch.arange(64), x[..., 0].argmax(-1), -1]
        loss = (pool(x)[:, 0] - wanted).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss < 0.5  # the mean of the members gets 5 / 6
    x = torch.randn(500, 6, 8)
    pool(x)
    best = pool.attention_weights[:, 0, 0].argmax(-1) == x[..., 0].argmax(-1)
    assert best.double().mean() > 0.8


def test_a_score_of_one_s_own():
    pool = AttentionPooling(8, score=Uniform())
    pool(X, torch.tensor([5, 2, 0]))
    wanted = [[0.2] * 5, [0.5, 0.5, 0, 0, 0], [0.0] * 5]
    torch.testing.assert_close(pool.attention_weights[:, 0, 0], torch.tensor(wanted))


def test_dropout_is_for_training():
    pool = AttentionPooling(8, dropout=0.5, score=Uniform())
    assert not torch.equal(pool(X), pool(X))
    pool.eval()
    assert torch.equal(pool(X), pool(X))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: AttentionPooling(0), ValueRangeError,
         "AttentionPooling: width must be at least 1, got 0"),
        (lambda: AttentionPooling(8, num_queries=1.5), KindError,
         "AttentionPooling: num_queries must be an integer, got 1.5"),
        (lambda: AttentionPooling(8, num_heads=3), ValueRangeError,
         "MultiHeadAttention: num_hiddens must be a multiple of num_heads=3, got 8"),
        (lambda: AttentionPooling(8)(X[0]), ShapeError,
         "AttentionPooling: members must be [b, n, 8], got the shape [5, 8]"),
        (lambda: AttentionPooling(4)(X), ShapeError,
         "AttentionPooling: members must be [b, n, 4], got the shape [3, 5, 8]"),
        (lambda: AttentionPooling(8)(X, torch.tensor([1, 2])), ShapeError,
         "Lengths: lengths must have one entry for each of the 3 sequences, got 2"),
        (lambda: AttentionPooling(8).attention_weights, StateError,
         "Heads has not been called yet: it has no attention_weights"),
    ],
)  # fmt: skip
def test_message(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message

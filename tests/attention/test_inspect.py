"""Looking: each view against the weights written out."""

import pytest
import torch

from regard import (
    Causal,
    Dot,
    Gaussian,
    KindError,
    Lengths,
    ShapeError,
    Uniform,
    ValueRangeError,
    Window,
    attend,
    entropy,
    overview,
    received,
    rectangle,
    top,
    weights,
)
from regard.attention import rows
from regard.testing import qkv
from tests.cases import MASKS, SCORES

Q, K, V = qkv(2, 3, n=50, m=70, d=6, v=4, dtype=torch.float64)


def written_out(score, mask):
    s = score.pairwise(Q, K)
    if mask is not None:
        s = s.masked_fill(~mask.dense(50, 70, batch=(2, 3)), -torch.inf)
    return torch.nan_to_num(torch.softmax(s, -1))


@pytest.fixture(params=["whole", "in pieces"])
def pieces(request, monkeypatch):
    """Once all rows at a time, once a few."""
    if request.param == "in pieces":
        monkeypatch.setattr(rows, "AT_A_TIME", 6 * 70 * 6 * 7)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("score", SCORES)
def test_every_view_is_of_the_same_weights(score, mask, pieces):
    options = {"score": SCORES[score](6, 3), "mask": MASKS[mask](2, 50, 70)}
    w = written_out(**options)
    close = {"rtol": 1e-9, "atol": 1e-12}
    torch.testing.assert_close(weights(Q, K, **options), w, **close)
    got = rectangle(Q, K, slice(7, 30), slice(-20, None), **options)
    torch.testing.assert_close(got, w[..., 7:30, -20:], **close)
    torch.testing.assert_close(entropy(Q, K, **options), torch.special.entr(w).sum(-1), **close)
    torch.testing.assert_close(received(Q, K, **options), w.sum(-2), **close)
    best = top(Q, K, 3, **options)
    torch.testing.assert_close(best.weights, w.topk(3, -1).values, **close)
    torch.testing.assert_close(w.gather(-1, best.keys), best.weights, **close)
    mass = overview(Q, K, cells=5, **options)
    torch.testing.assert_close(
        mass, w.unflatten(-1, (5, 14)).sum(-1).unflatten(-2, (5, 10)).mean(-2)
    )
    most = overview(Q, K, cells=5, reduce="max", **options)
    torch.testing.assert_close(
        most, w.unflatten(-1, (5, 14)).amax(-1).unflatten(-2, (5, 10)).amax(-2)
    )


def test_a_rectangle_of_everything_is_the_softmax():
    got = rectangle(Q, K, slice(None), slice(None))
    assert torch.equal(got, weights(Q, K))
    torch.testing.assert_close(got, torch.softmax(Q @ K.mT / 6**0.5, -1))
    torch.testing.assert_close(got @ V, attend(Q, K, V))


def test_rows_of_mass_add_up_to_one_whatever_the_cells():
    for cells in (1, 3, 7, 33, 50, 64, 512):
        grid = overview(Q, K, cells=cells)
        assert grid.shape == (2, 3, min(cells, 50), min(cells, 70))
        torch.testing.assert_close(grid.sum(-1), torch.ones(grid.shape[:-1]).double())
        most = overview(Q, K, cells=cells, reduce="max")
        assert most.amax() == weights(Q, K).amax()


def test_uneven_cells_hold_what_they_say():
    w = weights(Q, K)
    grid = overview(Q, K, cells=3)
    rows, cols = torch.arange(50) * 3 // 50, torch.arange(70) * 3 // 70
    for r in range(3):
        for c in range(3):
            wanted = w[..., rows == r, :][..., cols == c].sum(-1).mean(-1)
            torch.testing.assert_close(grid[..., r, c], wanted)


@pytest.mark.parametrize("reduce", ["mass", "max"])
def test_a_part_of_the_picture_and_a_sample_of_it(reduce):
    w = weights(Q, K, mask=Causal(20))
    part = {"rows": slice(10, 40), "cols": slice(-60, None), "reduce": reduce, "mask": Causal(20)}
    narrow = w[..., 10:40, 10:].unflatten(-1, (6, 10))
    narrow = narrow.sum(-1) if reduce == "mass" else narrow.amax(-1)
    tall = narrow.unflatten(-2, (6, 5))
    wanted = tall.mean(-2) if reduce == "mass" else tall.amax(-2)
    torch.testing.assert_close(overview(Q, K, cells=6, **part), wanted)
    torch.testing.assert_close(overview(Q, K, cells=6, every=5, **part), tall[..., 2, :])
    message = "every must be at most 5, the queries that a row of cells has at least, got 6"
    with pytest.raises(ValueRangeError, match=message):
        overview(Q, K, cells=6, every=6, **part)


def test_a_query_that_sees_nothing_gives_nothing():
    mask = Lengths([0, 70])
    assert not weights(Q, K, mask=mask)[0].any()
    assert not overview(Q, K, mask=mask)[0].any()
    assert not entropy(Q, K, mask=mask)[0].any()
    assert not received(Q, K, mask=mask)[0].any()


@pytest.mark.parametrize("score", [Dot(), Gaussian()], ids=repr)
def test_garbage_that_is_hidden_does_not_show(score):
    k = K.clone()
    k[:, :, 40:] = torch.nan
    got = weights(Q, k, score=score, mask=Lengths([40, 40]))
    torch.testing.assert_close(got[..., :40], weights(Q, K[..., :40, :], score=score))
    assert not got[..., 40:].any()


@pytest.mark.parametrize("score", [Dot(), Gaussian()], ids=repr)
def test_large_calls_in_float32_are_the_weights_of_attend(score):
    q, k, v = qkv(2, n=300, m=700, d=16, v=8)
    for mask in (None, Causal(200), Window(30, 30, offset=100)):
        got = weights(q, k, score=score, mask=mask) @ v
        torch.testing.assert_close(got, attend(q, k, v, score=score, mask=mask))
        assert overview(q, k, cells=64, score=score, mask=mask).dtype == torch.float32


def test_half_precision_is_rounded_once():
    q, k, _ = (x.bfloat16() for x in qkv(2, n=30, m=40, d=8, v=1))
    wide = weights(q.float(), k.float())
    assert torch.equal(weights(q, k), wide.bfloat16())


def test_entropy_runs_from_nothing_to_log_m():
    x = torch.zeros(5, 2)
    assert entropy(x, x, score=Uniform()).tolist() == pytest.approx([5**0 * 1.6094379] * 5)
    far = torch.arange(5.0)[:, None]
    assert entropy(far, far, score=Gaussian(0.01)).tolist() == [0.0] * 5


def test_nothing_of_size_n_x_m_is_made():
    # 12,000 x 12,000 weights would take 576 MB
    import resource

    q, k, _ = qkv(n=12_000, m=12_000, d=4, v=1)
    overview(q[:500], k[:500], score=Gaussian(), cells=16)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert overview(q, k, score=Gaussian(), cells=16).sum().item() == pytest.approx(16, rel=1e-5)
    received(q, k)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


def test_empty_calls():
    for n, m in ((0, 5), (5, 0)):
        q, k, _ = qkv(2, n=n, m=m, d=3, v=1)
        assert weights(q, k).shape == (2, n, m)
        assert overview(q, k).shape == (2, n, m)
        assert not received(q, k).any()
        assert entropy(q, k).shape == (2, n)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: overview(Q, K, cells=0), ValueRangeError,
         "cells must be an integer of at least 1, got 0"),
        (lambda: overview(Q, K, cells=2.5), ValueRangeError,
         "cells must be an integer of at least 1, got 2.5"),
        (lambda: overview(Q, K, reduce="mean"), ValueRangeError,
         "reduce must be 'mass' or 'max', got 'mean'"),
        (lambda: rectangle(Q, K, 3, slice(None)), KindError,
         "rows must be a slice, got int; for one line use slice(i, i + 1)"),
        (lambda: rectangle(Q, K, slice(None), slice(0, 9, 2)), ValueRangeError,
         "cols must be a slice with step 1, got step 2"),
        (lambda: top(Q, K, 0), ValueRangeError,
         "count must be an integer of at least 1, got 0"),
        (lambda: top(Q, K, 71), ShapeError,
         "count must be at most m=70, the number of keys, got 71"),
        (lambda: weights(Q, K[:1]), ShapeError,
         "k must have the batch axes of q [2, 3], got [1, 3]; expand k before the call, regard "
         "never broadcasts"),
    ],
)  # fmt: skip
def test_message(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message

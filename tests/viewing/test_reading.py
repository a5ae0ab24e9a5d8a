"""What is read of a head: bytes, profiles and rows, beside the weights themselves."""

import numpy as np
import pytest
import torch

from regard import Causal, Dot
from regard.viewing.captured import Captured
from regard.viewing.heads import heads_of
from regard.viewing.reading import PROFILE, Reading, even, written_out


def head(n, m, mask=None):
    torch.manual_seed(0)
    q, k = torch.randn(1, 1, n, 8), torch.randn(1, 1, m, 8)
    call = Captured("layer", q, k, Dot(), mask)
    return heads_of(call)[0], call.weights()[0, 0].double().numpy()


def test_rows_are_all_the_weights():
    one, weights = head(37, 23)
    assert np.allclose(np.concatenate(list(Reading(one, 0).rows())), weights, atol=1e-6)


@pytest.mark.parametrize("reduce", ["mass", "max"])
def test_bytes_stand_for_cells(reduce):
    one, weights = head(40, 40, Causal())
    found = Reading(one, 0).pooled(8, reduce)
    cells = weights.reshape(8, 5, 8, 5)
    wanted = cells.sum(3).mean(1) if reduce == "mass" else cells.max((1, 3))
    assert found.one == pytest.approx(wanted.max(), rel=1e-5)
    assert np.abs(found.cells / 255 * found.one - wanted).max() <= 0.51 / 255 * found.one
    assert found.every == 1


def test_profiles_are_whole_or_means():
    one, weights = head(5, 3 * PROFILE)
    reading = Reading(one, 0)
    assert len(reading.entropy) == 5
    received = weights.sum(0).reshape(PROFILE, 3).mean(1)
    assert np.allclose(reading.received, received, atol=1e-5)


def test_the_largest_weights_only_where_all_are_read():
    one, weights = head(12, 30)
    found, keys = Reading(one, 4).top
    assert np.allclose(found, -np.sort(-weights, 1)[:, :4], atol=1e-6)
    assert np.allclose(np.take_along_axis(weights, keys, 1), found, atol=1e-6)
    for budget in (1, 1 << 60):  # no room is left for them where a budget is
        assert Reading(one, 4, budget=budget).top is None


def test_what_is_written_out_is_the_same_head():
    one, weights = head(6, 6, Causal())
    dense = written_out(one)
    assert (dense.layer, dense.number, dense.shape) == (one.layer, one.number, "causal")
    assert np.allclose(dense.weights.numpy(), weights, atol=1e-6)
    assert written_out(dense) is dense
    i = torch.arange(4.0)
    q, k = 1000 * torch.stack([2 * i, -torch.ones(4)], -1), torch.stack([i, i * i], -1)
    call = Captured("layer", q[None, None], k[None, None], Dot(), None)  # each looks at itself
    assert written_out(heads_of(call)[0]).shape == "self"  # though no later key has a weight


@pytest.mark.parametrize("size", [1, 255, 256, 257, 300, 511, 512, 100_000])
def test_cells_hold_as_many_tokens_each(size):
    cells = even(size, 256)
    held = np.bincount(np.arange(size) * cells // size)
    assert len(held) == cells <= 256
    assert held.max() - held.min() <= 1
    assert held.max() == -(-size // 256)
    assert cells == -(-size // held.max())

import itertools
import math

import numpy as np
import pytest

from regard.regression.kernels import KERNELS
from regard.regression.sums import direct
from regard.regression.sums.direct import Direct

KINDS = ("k", "uk", "uuk", "dk", "udk")


def by_hand(x, columns, width, q, kernel, *, leave_out):
    """Four loops over one number each, without a scale."""
    m, (n, d), c = len(q), x.shape, columns.shape[1]
    sums = {kind: np.zeros((m, c) if kind == "k" else (m, c, d)) for kind in KINDS}
    for i, j in itertools.product(range(m), range(n)):
        if leave_out and i == j:
            continue
        u = (q[i] - x[j]) / width
        k = [float(kernel.k(np.array(v))) for v in u]
        sums["k"][i] += math.prod(k) * columns[j]
        for f in range(d):
            slope = float(kernel.dk(u[f])) * math.prod(k[:f] + k[f + 1 :])
            sums["uk"][i, :, f] += u[f] * math.prod(k) * columns[j]
            sums["uuk"][i, :, f] += u[f] ** 2 * math.prod(k) * columns[j]
            sums["dk"][i, :, f] += slope * columns[j]
            sums["udk"][i, :, f] += u[f] * slope * columns[j]
    return sums


@pytest.mark.parametrize("leave_out", [False, True])
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_is_the_definition(name, d, leave_out, monkeypatch):
    monkeypatch.setattr(direct, "_TILE", 3 * 9 * d)  # three queries a tile, and one over
    rng = np.random.default_rng(d)
    x, columns = rng.uniform(-1, 1, (9, d)), rng.normal(size=(9, 3))
    columns[:, 0] = rng.uniform(0.1, 1, 9)
    columns[2] = 0
    width = rng.uniform(0.8, 1.5, d)
    q = x if leave_out else rng.uniform(-1, 1, (10, d))
    found = Direct(x, columns, width, kernel=KERNELS[name]).at(q, KINDS, leave_out=leave_out)
    exact = by_hand(x, columns, width, q, KERNELS[name], leave_out=leave_out)
    scale = np.exp(found.log_scale)
    for kind in KINDS:
        got = found.sums[kind] * (scale[:, None] if kind == "k" else scale[:, None, None])
        assert got == pytest.approx(exact[kind], rel=1e-12, abs=1e-14), kind


@pytest.mark.parametrize("name", ["gaussian", "laplace", "matern32", "matern52"])
def test_far_away_it_is_the_nearest_value(name):
    x = np.array([[-1.0], [2.0], [2.0], [0.5]])
    columns = np.array([[1.0, 7.0], [1.0, 4.0], [3.0, 6.0], [1.0, 1.0]])
    width = np.array([1e-6])
    q = np.array([[-1e6], [1e6], [1.3]])
    found = Direct(x, columns, width, kernel=KERNELS[name]).at(q)
    assert found.sums["k"][:, 1] / found.sums["k"][:, 0] == pytest.approx([7, 2.5, 2.5], rel=1e-12)
    assert np.isfinite(found.log_scale).all()


def test_far_away_neighbours_still_differ():
    """At 1e12 widths a step of 1e-12 widths is worth exp(-1)."""
    x, columns = np.array([[0.0], [-1e-12]]), np.array([[1.0, 0.0], [1.0, 1.0]])
    found = Direct(x, columns, np.array([1.0])).at(np.array([[1e12]]))
    ratio = found.sums["k"][0, 1] / found.sums["k"][0, 0]
    assert ratio == pytest.approx(math.exp(-1) / (1 + math.exp(-1)), rel=1e-12)


def test_far_away_rounding_does_not_choose_the_nearest():
    """All three are at 1e12 widths, to rounding; the last is nearest by far."""
    x, columns = np.array([[-2e-5], [-1e-5], [0.0]]), np.array([[1.0, 5.0], [1.0, 6.0], [1.0, 7.0]])
    found = Direct(x, columns, np.array([1.0])).at(np.array([[1e12]]))
    assert found.sums["k"].tolist() == [[1.0, 7.0]]


def test_who_has_no_weight_is_not_the_nearest():
    x, columns = np.array([[0.0], [50.0]]), np.array([[1.0, 3.0], [0.0, 0.0]])
    found = Direct(x, columns, np.array([0.1])).at(np.array([[50.0]]))
    assert found.sums["k"][0].tolist() == [1.0, 3.0]


def test_alone_or_empty():
    x, columns, width = np.zeros((1, 1)), np.ones((1, 2)), np.ones(1)
    found = Direct(x, columns, width).at(x, KINDS, leave_out=True)
    assert all((found.sums[kind] == 0).all() for kind in KINDS)
    assert found.log_scale.tolist() == [0.0]
    assert Direct(x, columns, width).at(np.empty((0, 1))).sums["k"].shape == (0, 2)
    assert (Direct(x, 0 * columns, width).at(x).sums["k"] == 0).all()

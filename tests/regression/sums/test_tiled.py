from dataclasses import replace

import numpy as np
import pytest

from regard.regression.derived import custom
from regard.regression.kernels import KERNELS
from regard.regression.sums.direct import Direct
from regard.regression.sums.tiled import Tiled

KINDS = ("k", "uk", "uuk", "dk", "udk")


def data(name, d, n=300):
    rng = np.random.default_rng(d + len(name))
    x = rng.normal(size=(n, d))
    width = rng.uniform(0.5, 1.5, d)
    weights = rng.uniform(0.5, 2, (n, 1))
    columns = np.concatenate([weights, weights * rng.normal(size=(n, 2))], 1)
    q = rng.normal(size=(70, d)) * 1.5
    if name == "clusters":
        x[n // 2 :] += 50
    elif name == "twice":
        x[1::2] = x[::2]
    elif name == "weights":
        columns[::3] = 0
        columns[1::3] *= 1e-12
    elif name == "constant":
        x[:, 0] = 0.5
    elif name == "one":
        x, columns = x[:1], columns[:1]
    if name in ("far", "weights", "close"):
        q *= 10.0 ** np.linspace(0, 12, len(q))[:, None]
    if name == "close":  # the squares of 1e12 widths do not tell such points apart
        x *= 1e-6
    return x, columns, width, q


def assert_same(found, exact):
    weight, true_weight = found.sums["k"][:, :1], exact.sums["k"][:, :1]
    nobody = true_weight[:, 0] == 0
    assert np.array_equal(weight[:, 0] == 0, nobody)
    for kind in exact.sums:
        got, want = (x.sums[kind].reshape(len(nobody), -1) for x in (found, exact))
        assert not got[nobody].any()
        got, want = got[~nobody] / weight[~nobody], want[~nobody] / true_weight[~nobody]
        scale = 1 + np.abs(want).max(1, initial=0.0)[:, None]
        assert np.all(np.abs(got - want) <= 2e-10 * scale), (kind, np.abs(got - want).max())
    one, two = (np.log(x.sums["k"][~nobody, 0]) + x.log_scale[~nobody] for x in (found, exact))
    assert np.all(np.abs(one - two) <= 1e-10 + 1e-13 * np.abs(two))


@pytest.mark.parametrize("leave_out", [False, True], ids=["all", "leave_out"])
@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize(
    "name", ["clusters", "twice", "weights", "constant", "one", "far", "close"]
)
@pytest.mark.parametrize("kernel", KERNELS)
def test_agrees_with_the_definition(kernel, name, d, leave_out):
    x, columns, width, q = data(name, d)
    if KERNELS[kernel].support == 1.0:
        width = width * 3
    q = x if leave_out else q
    asked = {"kernel": KERNELS[kernel]}
    exact = Direct(x, columns, width, **asked).at(q, KINDS, leave_out=leave_out)
    assert_same(Tiled(x, columns, width, **asked).at(q, KINDS, leave_out=leave_out), exact)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "matern32", "matern52"])
def test_isolated_points_leave_their_neighbours(kernel):
    x, columns, width, _ = data("even", 2, 100)
    width = width * 1e-5  # everyone's neighbours are thousands of widths away
    asked = {"kernel": KERNELS[kernel]}
    exact = Direct(x, columns, width, **asked).at(x, leave_out=True)
    assert_same(Tiled(x, columns, width, **asked).at(x, leave_out=True), exact)


def test_an_empty_window_is_zero():
    x, columns, width, _ = data("even", 2)
    found = Tiled(x, columns, width, kernel=KERNELS["tricube"]).at(np.full((1, 2), 1e6), KINDS)
    assert not any(s.any() for s in found.sums.values())
    assert found.log_scale[0] == 0


def test_a_kernel_of_ones_own():
    x, columns, width, q = data("even", 2)
    kernel = custom(lambda u: 1 / (1 + u * u))
    found = Tiled(x, columns, width, kernel=kernel).at(q)
    u = (q[:, None] - x) / width
    want = (1 / (1 + u * u)).prod(2) @ columns
    got = found.sums["k"] * np.exp(found.log_scale)[:, None]
    assert np.allclose(got, want, rtol=1e-12)


def test_a_name_does_not_make_a_kernel():
    x, columns, width, q = data("even", 2)
    other = replace(KERNELS["triangular"], name="boxcar")
    found, want = (Tiled(x, columns, width, kernel=k).at(q) for k in (other, KERNELS["triangular"]))
    assert_same(found, want)


@pytest.mark.parametrize("n", [0, 4])
@pytest.mark.parametrize("m", [0, 2])
def test_no_points_and_no_queries(n, m):
    found = Tiled(np.zeros((n, 3)), np.zeros((n, 2)), np.ones(3)).at(np.ones((m, 3)), ("k", "udk"))
    assert found.sums["k"].shape == (m, 2)
    assert found.sums["udk"].shape == (m, 2, 3)
    assert not found.sums["k"].any()

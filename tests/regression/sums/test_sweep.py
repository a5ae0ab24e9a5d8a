import numpy as np
import pytest
import torch

from regard.regression.kernels import KERNELS
from regard.regression.sums import sweep_loops
from regard.regression.sums.direct import Direct
from regard.regression.sums.sweep import CompactLine
from tests.regression.sums.one_feature import DATA, KINDS, define, sizes

NAMES = ["boxcar", "triangular", "epanechnikov", "biweight", "triweight", "tricube", "cosine"]
WIDTHS = [1e-9, 0.1, 1.0, 3.0, 1e9]


def line(name, x, columns, width):
    return CompactLine(x[:, None], columns, np.array([width]), 1e-9, kernel=name)


@pytest.mark.parametrize("leave_out", [False, True])
@pytest.mark.parametrize("data", DATA, ids=lambda data: data.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_is_the_definition(name, data, leave_out):
    rng = np.random.default_rng(1)
    x, columns = data(rng)
    q = x if leave_out else np.r_[rng.uniform(-5, 5, 80), x[:30], rng.integers(-4, 5, 40)]
    for width in WIDTHS:
        found = line(name, x, columns, width).at(q[:, None], KINDS, leave_out=leave_out)
        exact, size = define(name, x, columns, width, q, leave_out=leave_out)
        _, mass = define("boxcar", x, columns, width, q, leave_out=leave_out)
        for kind in KINDS:
            # u is rounded, so near its edge K is right to rounding of 1, not of K
            allowed = 1e-12 * size[kind] + 2e-14 * mass["k"]
            wrong = np.abs(sizes(found, kind) - exact[kind])
            assert (wrong <= allowed).all(), (kind, width, (wrong - allowed).max())
        assert not found.log_scale.any()


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_direct(name):
    rng = np.random.default_rng(2)
    x, columns = DATA[0](rng)
    q, width = rng.uniform(-2, 2, (50, 1)), np.array([0.5])
    one = CompactLine(x[:, None], columns, width, 1e-9, kernel=KERNELS[name]).at(q, KINDS[::-1])
    other = Direct(x[:, None], columns, width, kernel=KERNELS[name]).at(q, KINDS)
    for kind in KINDS:
        assert one.sums[kind] == pytest.approx(other.sums[kind], rel=1e-11, abs=1e-12), kind


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("step", [2.0**-9, 2.0**-16, 2.0**-24])
@pytest.mark.parametrize("name", NAMES)
def test_keeps_its_digits_where_all_mass_is_at_the_edge(name, step, sides, monkeypatch):
    # multiples of a power of 2, so that u and 1 - |u| are exact, and K to its last digit
    rng = np.random.default_rng(3)
    x = 1 - rng.integers(1, 200, 300) * step / 200 // 2.0**-40 * 2.0**-40
    x = x if sides == 1 else x * rng.choice([1, -1], 300)
    columns = np.c_[np.ones(300), rng.uniform(-1, 1, 300)]
    q = np.linspace(-0.25, 0.25, 99) * step // 2.0**-40 * 2.0**-40
    calls = []

    def spy(*args):
        calls.append(args[8])
        return real(*args)

    real = sweep_loops.sweep
    monkeypatch.setattr(sweep_loops, "sweep", spy)
    found = line(name, x, columns, 1.0).at(q[:, None], KINDS)
    exact, size = define(name, x, columns, 1.0, q)
    for kind in KINDS:
        wrong = np.abs(sizes(found, kind) - exact[kind])
        limit = max(1e-12, 1e-16 / step) * (8 if name == "cosine" else 1)  # pi / 2 is rounded
        assert (wrong <= limit * size[kind]).all(), kind
    assert all(span > 0 for span in calls), "summed one by one: n m"


def test_a_window_without_points_is_exactly_0():
    x, columns = np.arange(40) % 2 * 10.0, np.full((40, 2), 0.1)
    q = np.r_[np.linspace(2, 8, 50), -1.0, 11.0, 1e300]
    for name in NAMES:
        sums = line(name, x, columns, 1.0).at(q[:, None], KINDS).sums
        assert not sums["uk"][:50].any()
        assert not sums["k"][:50].any()
        assert not sums["k"][-1].any()
        # on the edge: of these kernels the boxcar alone is not 0 there
        assert sums["k"][50:52].any() == (name == "boxcar"), name


@pytest.mark.parametrize("name", NAMES)
def test_one_point_no_query_and_no_weight(name):
    one = line(name, np.array([0.5]), np.array([[2.0, -3.0]]), 1.0)
    assert one.at(np.array([[0.5]])).sums["k"].tolist() == [[2.0, -3.0]]
    assert one.at(np.array([[0.5]]), leave_out=True).sums["k"].tolist() == [[0.0, 0.0]]
    assert one.at(np.empty((0, 1)), KINDS).sums["dk"].shape == (0, 2, 1)
    none = line(name, np.array([0.5, 1.0]), np.zeros((2, 2)), 1.0)
    assert not none.at(np.array([[0.5], [2.0]]), KINDS).sums["k"].any()


@pytest.mark.parametrize("name", ["epanechnikov", "tricube"])
def test_rounding_does_not_add_up(name):
    # equal weights that are no binary fraction: each addition is wrong in the same direction
    n = 100_000
    x, columns = np.linspace(-1, 1, n), np.c_[np.full(n, 0.1), np.full(n, 0.3)]
    q = np.linspace(-1, 1, 9)
    for width in (0.5,):
        found = line(name, x, columns, width).at(q[:, None])
        exact, size = define(name, x, columns, width, q)
        assert (np.abs(sizes(found, "k") - exact["k"]) <= 3e-13 * 3 * size["k"]).all()


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(4)
    x, columns, q = rng.normal(size=30_000), rng.uniform(size=(30_000, 2)), rng.normal(size=30_000)
    found = []
    before = torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            found.append(line("biweight", x, columns, 0.2).at(q[:, None]).sums["k"])
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(*found)

import math

import numpy as np
import pytest
import torch

from regard.regression.sums.direct import Direct
from regard.regression.sums.gaussian_line import GaussianLine
from regard.regression.sums.gaussian_table import candidates, table

KINDS = ("k", "uk", "uuk", "dk", "udk")
POWER = {"k": 0, "uk": 1, "dk": 1, "uuk": 2, "udk": 2}
TOLS = [1e-3, 1e-9, 1e-12]
WIDTHS = [1e-3, 0.05, 0.4, 3.0, 1e3]  # of data that are some 5 across
N = 400


def random(seed=0):
    return np.random.default_rng(seed)


def columns_of(rng, n):
    """Weights that are all one, and values of both signs and several sizes."""
    return np.c_[np.ones(n), rng.normal(size=n), 1e6 + rng.normal(size=n)]


def uniform(rng):
    return rng.uniform(-2.5, 2.5, N), columns_of(rng, N)


def clusters(rng):
    """With nothing between them."""
    x = np.r_[rng.uniform(-9, -8, N - 50), rng.uniform(8, 9, 50)]
    return x, columns_of(rng, N)


def heaps(rng):
    """A few places with very many points each, and one with one."""
    return np.r_[rng.integers(-2, 3, N - 1), 2.7], columns_of(rng, N)


def tails(rng):
    return np.clip(rng.standard_cauchy(N), -1e3, 1e3), columns_of(rng, N)


def weighted(rng):
    """Weights of twelve orders of magnitude, and a third of them 0."""
    columns = columns_of(rng, N) * 10.0 ** rng.uniform(-12, 0, (N, 1))
    columns[rng.permutation(N)[: N // 3]] = 0
    return rng.uniform(-2.5, 2.5, N), columns


def edge(rng):
    """The heaviest are the farthest: what all others say is swamped, were it not for distance."""
    x, columns = np.r_[rng.uniform(-2.5, 2.4, N - 1), 7.0], columns_of(rng, N)
    columns[-1] *= 1e9
    return x, columns


DATA = [uniform, clusters, heaps, tails, weighted, edge]
FAR = np.array([1e12, 1e6, 300.0, 40.0, 12.0, 6.0])


def queries(rng, x, width):
    """Inside, between and on the points; just outside by widths; far outside."""
    low, high = x.min(), x.max()
    return np.r_[
        rng.uniform(low, high, 150),
        rng.choice(x, 20),
        low - width * rng.uniform(0, 12, 40),
        high + width * rng.uniform(0, 12, 40),
        high + width * FAR,
        low - width * FAR,
        (low + high) / 2,
    ]


def worst(x, columns, width, tol, q, kinds=KINDS, *, leave_out=False):
    """The largest error of any sum and of the ratio, in units of what is promised."""
    x, q, widths = x[:, None], q[:, None], np.array([width])
    plain = (columns[:, 0] == 1).all()  # then as if no weights had been given
    given = columns[:, 1:] if plain else columns
    got = GaussianLine(x, given, widths, tol, plain=plain).at(q, kinds, leave_out=leave_out)
    exact = Direct(x, columns, widths).at(q, kinds, leave_out=leave_out)
    assert list(got.sums) == list(exact.sums)
    counts = columns[:, 0] > 0
    size = np.abs(columns[counts] / columns[counts, :1]).max(0)
    first = exact.sums["k"][:, :1]
    # where each leaves itself out log_scale is that of another point's distance
    z = np.sqrt(np.maximum(-2 * exact.log_scale, 0))[:, None]
    same = np.exp(got.log_scale - exact.log_scale)[:, None]
    ratio = got.sums["k"] / got.sums["k"][:, :1] - exact.sums["k"] / first
    errors = [np.abs(ratio / size).max()]
    for kind in kinds:
        assert got.sums[kind].shape == exact.sums[kind].shape
        one = got.sums[kind].reshape(len(q), -1) * same - exact.sums[kind].reshape(len(q), -1)
        errors.append(np.abs(one / first / size / (1 + z ** POWER[kind])).max())
    assert np.isfinite(errors).all()
    return max(errors) / tol


@pytest.mark.parametrize("tol", TOLS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("data", DATA)
def test_keeps_the_tolerance(data, width, tol):
    rng = random()
    x, columns = data(rng)
    assert worst(x, columns, width, tol, queries(rng, x, width)) <= 1


@pytest.mark.parametrize("tol", TOLS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("data", DATA)
def test_keeps_the_tolerance_without_oneself(data, width, tol):
    x, columns = data(random(1))
    assert worst(x, columns, width, tol, x, leave_out=True) <= 1


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("data", DATA)
def test_keeps_the_tolerance_of_data_in_order(data, width):
    rng = random()
    x, columns = data(rng)
    by = np.argsort(x)
    assert worst(x[by], columns[by], width, 1e-9, queries(rng, x, width)) <= 1
    assert worst(x[by], columns[by], width, 1e-9, x[by], leave_out=True) <= 1


@pytest.mark.parametrize("width", [0.05, 0.4])
def test_ones_need_not_be_given(width):
    """Nor is anything else computed then."""
    x, columns = uniform(random())
    with_ones = GaussianLine(x[:, None], columns, np.array([width]), 1e-9)
    plain = GaussianLine(x[:, None], columns[:, 1:], np.array([width]), 1e-9, plain=True)
    for leave_out in (False, True):
        one, other = (a.at(x[:, None], KINDS, leave_out=leave_out) for a in (with_ones, plain))
        for kind in KINDS:
            np.testing.assert_array_equal(one.sums[kind], other.sums[kind])


@pytest.mark.parametrize("n", [N, 40_000])  # on one thread, and on several
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("data", [uniform, clusters, heaps, weighted])
def test_averages_in_one_pass(data, ordered, n):
    rng = random()
    x, columns = data(rng)
    by = np.argsort(x) if ordered else slice(None)
    x, columns = x[by][:, None], columns[by, :2]
    line = GaussianLine(x, columns, np.array([0.4]), 1e-9)
    assert line._boxes
    q = np.resize(queries(rng, x[:, 0], 0.4), n)[:, None]
    found = line.averages(q + 3.0, np.array([3.0]), np.array([100.0]))
    sums = line.at((q + 3.0) - 3.0).sums["k"]
    np.testing.assert_allclose(found[:, 0], 100 + sums[:, 1] / sums[:, 0], rtol=0, atol=1e-9)


def test_averages_are_for_one_output_and_boxes():
    x, columns = uniform(random())
    anywhere = x[:, None], np.zeros(1), np.zeros(2)
    assert GaussianLine(x[:, None], columns, np.array([0.4]), 1e-9).averages(*anywhere) is None
    narrow = GaussianLine(x[:, None], columns[:, :2], np.array([1e-6]), 1e-9)
    assert narrow.averages(*anywhere) is None


@pytest.mark.parametrize("copies", [1, 60])  # on one thread, and on several
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("data", [uniform, clusters, tails, edge, "weights"])
def test_errors_of_what_the_others_tell(data, width, copies):
    rng = random()
    x, columns = uniform(rng) if data == "weights" else data(rng)
    x = np.sort(np.concatenate([x + 1e-3 * i for i in range(copies)]))
    columns = np.tile(columns[:, [0, 1, 1]], (copies, 1))
    columns[:, 2] += rng.normal(size=len(x)) * columns[:, 0]
    if data == "weights":
        columns *= rng.uniform(0.1, 3, (len(x), 1))
    plain = (columns[:, 0] == 1).all()
    given, widths = columns[:, 1:] if plain else columns, np.array([width])
    line = GaussianLine(x[:, None], given, widths, 1e-9, plain=plain)
    got = line.left_out()
    exact = line.at(x[:, None], ("k", "udk"), leave_out=True)  # which is tested above

    def errors(found, which):
        k, udk = found.sums["k"], found.sums["udk"][:, :, 0]
        told = k[:, 1:] / k[:, :1]
        weight, miss = columns[which, :1], told - columns[which, 1:] / columns[which, :1]
        moved = told * udk[:, :1] / k[:, :1] - udk[:, 1:] / k[:, :1]
        return np.array([(weight * miss * miss).sum(), (weight * miss * moved).sum()])

    wanted = errors(exact, slice(None))
    found = np.array([got.squares, got.slope]) + errors(got.found, got.rest)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * wanted[0])
    if data is uniform and width == 0.4:  # so that both ways are tested
        assert len(got.rest) < len(x)
    assert line._boxes or len(got.rest) == len(x)


def test_errors_want_data_in_order():
    x, columns = uniform(random())
    assert GaussianLine(x[:, None], columns, np.array([0.4]), 1e-9).left_out() is None


def test_long_tails_get_no_boxes_where_that_is_cheaper():
    x = np.sort(random().standard_t(2, 100_000))
    line = GaussianLine(x[:, None], np.sin(x)[:, None], np.array([2e-3]), 1e-9, plain=True)
    assert 0 < line._boxes < 20_000  # 200,000 from end to end
    assert line._tails


@pytest.mark.parametrize("tol", [1e-9, 1e-13])
def test_both_ways_are_taken(tol):
    """So that the tests above test both: polynomials where data are dense, windows where not."""
    rng = random()
    x, columns = rng.uniform(0, 5, 2000), np.ones((2000, 2))
    dense = GaussianLine(x[:, None], columns, np.array([0.05]), tol)
    dense.at(rng.uniform(0, 5, (100, 1)))
    assert dense._boxes
    assert dense._sorted is None
    dense.at(np.array([[9.0]]))
    assert dense._sorted is not None
    assert not GaussianLine(x[:, None], columns, np.array([1e-6]), tol)._boxes


def test_the_finest_tolerance():
    rng = random()
    x, columns = uniform(rng)
    q = queries(rng, x, 0.4)
    for tol in (1e-13, 1e-16, 0.0):
        line = GaussianLine(x[:, None], columns, np.array([0.4]), tol)
        assert line._tol == 1e-13
    assert worst(x, columns, 0.4, 1e-13, q, ("k",)) <= 1


@pytest.mark.parametrize("leave_out", [False, True])
def test_boxes_in_the_middle_only(leave_out):
    """Dense there, and so long that they cannot be everywhere; the cut goes through dense data."""
    rng = random()
    x = np.r_[rng.uniform(0, 5, 10_000), 1e9 * rng.standard_cauchy(60)]
    columns = columns_of(rng, len(x))
    line = GaussianLine(x[:, None], columns, np.array([0.01]), 1e-9)
    assert 0 < line._boxes < 5000
    q = np.r_[rng.uniform(0, 0.2, 200), x[-60:]]
    if leave_out:
        got = line.at(x[:, None], KINDS, leave_out=True)
        assert np.isfinite(got.sums["k"]).all()
        keep = np.r_[rng.permutation(10_000)[:600], np.arange(10_000, 10_060)]
        x, columns = x[keep], columns[keep]
        q = x
    assert worst(x, columns, 0.01, 1e-9, q, leave_out=leave_out) <= 1


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("width", [1e-9, 1.0, 1e9])
def test_few_points(n, width):
    rng = random(n)
    x, columns = rng.normal(size=n), columns_of(rng, n)
    assert worst(x, columns, width, 1e-9, np.r_[x, queries(rng, x, width)]) <= 1
    if n > 1:
        assert worst(x, columns, width, 1e-9, x, leave_out=True) <= 1


@pytest.mark.parametrize("width", [1e-3, 1.0])
@pytest.mark.parametrize("weight", [1.0, 0.0])
def test_nobody_there(weight, width):
    """A point alone without itself, and points without weight."""
    x, columns = np.zeros((1, 1)), weight * np.ones((1, 2))
    found = GaussianLine(x, columns, np.array([width]), 1e-9).at(x, KINDS, leave_out=True)
    assert all((found.sums[kind] == 0).all() for kind in KINDS)
    assert found.log_scale.tolist() == [0.0]


def test_many_without_weight():
    x, q = random().uniform(0, 5, (N, 1)), np.array([[1.0], [99.0]])
    for width in (1e-4, 0.3):
        found = GaussianLine(x, np.zeros((N, 2)), np.array([width]), 1e-9).at(q, KINDS)
        assert all((found.sums[kind] == 0).all() for kind in KINDS)


@pytest.mark.parametrize("width", [1e-4, 0.3])
def test_no_queries(width):
    x, columns = uniform(random())
    line = GaussianLine(x[:, None], columns, np.array([width]), 1e-9)
    found = line.at(np.empty((0, 1)), ("k", "udk"))
    assert found.sums["k"].shape == (0, 3)
    assert found.sums["udk"].shape == (0, 3, 1)
    assert found.log_scale.shape == (0,)


@pytest.mark.parametrize("kinds", [("udk",), ("dk", "k"), ("uuk", "uk")])
def test_any_kinds_in_any_order(kinds):
    x, columns = uniform(random())
    widths, q = np.array([0.3]), np.array([[0.1], [17.0]])
    got = GaussianLine(x[:, None], columns, widths, 1e-9).at(q, kinds)
    exact = Direct(x[:, None], columns, widths).at(q, kinds)
    assert set(got.sums) == set(kinds)
    same = np.exp(exact.log_scale - got.log_scale)
    for kind in kinds:
        wanted = (exact.sums[kind].T * same).T
        assert got.sums[kind] == pytest.approx(wanted, rel=1e-6)


def test_in_the_middle_of_a_gap_both_sides_count():
    """Two points 2^14 widths from the query: by symmetry their mean, and exp(-2) a little aside."""
    x, columns = np.array([[-1.0], [1.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])
    width = np.array([2.0**-14])
    aside = width[0] ** 2  # so that u differs by 2 aside / width, and u^2 / 2 by 2
    q = np.r_[0.0, np.full(9, aside), -aside][:, None]  # nine at a time share a pass
    k = GaussianLine(x, columns, width, 1e-9).at(q).sums["k"]
    more = 1 / (1 + math.exp(-2))
    assert k[:, 1] / k[:, 0] == pytest.approx([0.5, *([more] * 9), 1 - more], rel=1e-9)


def test_many_queries_across_a_gap():
    """The first sees one point only, the last the other side only."""
    rng = random()
    x = np.r_[0.0, rng.uniform(30, 31, 50)]
    assert worst(x, columns_of(rng, 51), 1.0, 1e-9, np.linspace(10, 20, 300)) <= 1


def test_a_giant_among_neighbours_leaves_itself_out():
    """Summed together with its neighbours, it would leave only their rounding behind."""
    rng = random()
    x, columns = rng.uniform(0, 0.1, 10), columns_of(rng, 10)
    columns[3] *= 1e18
    assert worst(x, columns, 1.0, 1e-9, x, leave_out=True) <= 1


def test_near_twins_far_away():
    """At 1e12 widths a step of 1e-12 widths is worth exp(-1), for one query and for many."""
    x, columns = np.array([[0.0], [-1e-12]]), np.array([[1.0, 0.0], [1.0, 1.0]])
    q = 1e12 * (1 + 1e-6 * np.arange(20.0))[:, None]
    k = GaussianLine(x, columns, np.array([1.0]), 1e-9).at(q).sums["k"]
    share = 1 / (1 + np.exp(q[:, 0] * 1e-12))
    assert k[:, 1] / k[:, 0] == pytest.approx(share, rel=1e-9)


def test_an_isolated_point_hears_the_rest_without_itself():
    """Its own weight is 1e20 times all it hears: subtracting it would leave nothing right."""
    rng = random()
    x, columns = np.r_[rng.uniform(0, 1, 500), 2.0], columns_of(rng, 501)
    assert worst(x, columns, 0.1, 1e-9, x, ("k", "udk"), leave_out=True) <= 1


@pytest.mark.parametrize("width", [1e-3, 0.2])
def test_order_does_not_matter(width):
    rng = random()
    x, columns = rng.uniform(0, 5, (N, 1)), columns_of(rng, N)
    q = rng.uniform(-1, 6, (99, 1))
    by, of = np.argsort(x[:, 0]), rng.permutation(99)
    widths = np.array([width])
    a = GaussianLine(x, columns, widths, 1e-9).at(q)
    b = GaussianLine(x[by], columns[by], widths, 1e-9).at(q[of])
    ratios = [found.sums["k"] / found.sums["k"][:, :1] for found in (a, b)]
    assert ratios[1] == pytest.approx(ratios[0][of], rel=1e-9)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads(threads):
    """Above the size at which they are started; far queries among them."""
    rng = random()
    n = 1 << 15
    x, columns = rng.uniform(0, 5, (n, 1)), columns_of(rng, n)
    q = np.r_[rng.uniform(0, 5, (n - 200, 1)), rng.uniform(5, 50, (200, 1))]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        k = GaussianLine(x, columns, np.array([0.05]), 1e-9).at(q).sums["k"]
    finally:
        torch.set_num_threads(before)
    some = np.r_[0:100, n - 200 : n]
    exact = Direct(x, columns, np.array([0.05])).at(q[some]).sums["k"]
    assert k[some] / k[some, :1] == pytest.approx(exact / exact[:, :1], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("tol", [1e-3, 1e-9, 1e-13])
def test_bound_of_the_table_holds(tol, order):
    """Each polynomial against the function it stands for, over both boxes.

    In long numbers: the bound is attained in the corners, to four digits.
    """
    s = np.linspace(-1, 1, 31, dtype=np.longdouble)
    for r, degree in candidates(tol):
        power, error = table(r, degree, order)
        powers = s[:, None] ** np.arange(degree)
        for j in {0, 1, 2, round(1 / r), round(3 / r), round(7 / r)}:
            u = np.longdouble(r) * j + r / 2 * (s[:, None] - s)
            wrong = np.abs(powers @ power[j] @ powers.T - u**order * np.exp(-u * u / 2)).max()
            assert wrong <= error[j]
            assert error[j] <= 100 * wrong + 1e-13, (r, degree, j)  # and is not idle


def test_candidates_cover_all_tolerances():
    for tol in (1e-3, 1e-6, 1e-9, 1e-13):
        assert len(candidates(tol)) >= 2

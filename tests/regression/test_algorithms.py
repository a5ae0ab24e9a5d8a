"""Which algorithm sums, by kernel, number of points and features."""

import numpy as np
import pytest

from regard.errors import ImplError
from regard.regression.algorithms import FEW, plan
from regard.regression.kernels import KERNELS
from regard.regression.sums.direct import Direct
from tests.regression.data import COMPACT, NAMES

MANY = FEW + 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_what_is_chosen(name, d):
    wanted = "brute"
    if (name == "gaussian" and d <= 3) or (name in ("laplace", "matern32", "matern52") and d == 1):
        wanted = "fast"
    elif name in COMPACT and d == 1:
        wanted = "window"
    assert plan(KERNELS[name], MANY, d, 0, "auto", None).name == wanted
    assert plan(KERNELS[name], FEW, d, 0, "auto", None).name == "brute"
    assert plan(KERNELS[name], MANY, d, 0, "brute", None).name == "brute"
    assert plan(KERNELS[name], MANY, d, 0, "auto", "cuda").about.endswith("on cuda")


def test_lines_are_summed_fast_in_one_feature_only():
    assert plan(KERNELS["gaussian"], MANY, 1, 1, "auto", None).name == "fast"
    assert plan(KERNELS["gaussian"], MANY, 2, 1, "auto", None).name == "brute"


@pytest.mark.parametrize(("name", "wish"), [("gaussian", "window"), ("tricube", "fast")])
def test_a_wish_is_fulfilled_or_refused(name, wish):
    with pytest.raises(ImplError, match=f"algorithm='{wish}' cannot sum the {name} kernel"):
        plan(KERNELS[name], MANY, 1, 0, wish, None)
    with pytest.raises(ImplError, match="runs on the CPU"):
        plan(KERNELS[name], MANY, 1, 0, wish, "cuda")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_made_sums(name):
    rng = np.random.default_rng(0)
    x, y, width = rng.uniform(-2, 2, (MANY, 1)), rng.normal(size=(MANY, 1)), np.array([1.1])
    columns = np.column_stack((np.ones(MANY), y))
    chosen = plan(KERNELS[name], MANY, 1, 0, "auto", None)
    wanted = Direct(x, columns, width, kernel=KERNELS[name]).at(x)

    def ratio(found):
        return found.sums["k"][:, 1] / found.sums["k"][:, 0]

    made = chosen.make(x, columns, width, 1e-9).at(x)
    np.testing.assert_allclose(ratio(made), ratio(wanted), atol=1e-8)
    if chosen.make_plain:
        plain = chosen.make_plain(x, y, width, 1e-9).at(x)
        np.testing.assert_allclose(ratio(plain), ratio(wanted), atol=1e-8)
    assert (chosen.make_plain is not None) == (name == "gaussian")

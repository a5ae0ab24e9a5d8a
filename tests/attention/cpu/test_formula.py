"""The two loops that depend on the formula, alone."""

import numpy as np
import pytest
import torch

from regard import Gaussian
from regard.attention.cpu import build
from regard.scores.expression import derivative, evaluate, parse

RNG = np.random.default_rng(0)
PHIS = {"gaussian": Gaussian.PHI, "exp": build.EXP_SUM, "tanh": build.TANH_SUM, "dot": "q * k"}


def terms(phi, q, k, p0, by=None):
    formula = parse(phi) if by is None else derivative(parse(phi), by)
    given = {"q": q[:, None], "k": k.T[None], "p0": p0, "p1": p0}
    values = {name: torch.from_numpy(x) for name, x in given.items()}
    return evaluate(formula, values).expand(q.shape[0], k.shape[1], q.shape[1]).numpy()


@pytest.mark.parametrize(
    "size", [(1, 1, 0, 5), (4, 7, 3, 128), (3, 33, 0, 1), (2, 70, 9, 10)], ids=str
)
@pytest.mark.parametrize("name", PHIS)
def test_scores_and_slopes_of_a_tile(name, size):
    rows, h, a, b = size
    phi = PHIS[name]
    compiled = build._formula(phi, 64)
    q, kt = RNG.random((rows + 2, h)) * 0.9, RNG.random((h, 136)) * 0.9
    p0 = RNG.standard_normal(h)
    s, part = np.full((rows, 136), 7.0), np.empty((2, 136))
    build_and_call(compiled.score_tile, q, 1, rows, kt, a, b, p0, p0, 0.5, part, s)
    wanted = terms(phi, q[1 : rows + 1], kt[:, a:b], p0).sum(-1) * 0.5
    np.testing.assert_allclose(s[:, a:b], wanted, rtol=1e-12, atol=1e-12)
    assert (s[:, :a] == 7.0).all()
    assert (s[:, b:] == 7.0).all()

    ds = RNG.standard_normal((rows, 136))
    ds[0, a] = 0.0
    dq, gt = np.zeros((rows, h)), np.full((h, 136), 7.0)
    dp0, dp1 = np.zeros(h), np.zeros(h)
    build_and_call(compiled.pull_tile, ds, q, 1, rows, kt, a, b, p0, p0, dq, gt, dp0, dp1)
    weight = ds[:, a:b, None]
    slopes = {by: terms(phi, q[1 : rows + 1], kt[:, a:b], p0, by) for by in ("q", "k", "p0")}
    np.testing.assert_allclose(dq, (weight * slopes["q"]).sum(1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(gt[:, a:b], (weight * slopes["k"]).sum(0).T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(dp0, (weight * slopes["p0"]).sum((0, 1)), rtol=1e-9, atol=1e-12)
    assert not dp1.any()


def build_and_call(function, *args):
    """A compiled C function takes arrays from compiled code alone: run its Python instead."""
    from numba import njit

    njit(function._pyfunc, error_model="numpy")(*args)

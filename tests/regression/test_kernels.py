import math

import numpy as np
import pytest

from regard.regression.kernels import KERNELS

NAMES = sorted(KERNELS)
SMOOTH = [name for name in NAMES if KERNELS[name].support == math.inf]
COMPACT = [name for name in NAMES if KERNELS[name].support == 1]
FORMULAS = {  # one value each, from its definition
    "gaussian": (0.5, math.exp(-0.125)),
    "laplace": (-0.5, math.exp(-0.5)),
    "matern32": (-1.0, (1 + math.sqrt(3)) * math.exp(-math.sqrt(3))),
    "matern52": (1.0, (1 + math.sqrt(5) + 5 / 3) * math.exp(-math.sqrt(5))),
    "epanechnikov": (0.5, 0.75),
    "boxcar": (1.0, 1.0),
    "triangular": (-0.25, 0.75),
    "tricube": (0.5, 0.875**3),
    "biweight": (0.5, 0.75**2),
    "triweight": (-0.5, 0.75**3),
    "cosine": (0.5, math.cos(math.pi / 4)),
}


def integrals(kernel):
    """Of K, K^2 and u^2 K, by Gauss's rule on short pieces."""
    at, weight = np.polynomial.legendre.leggauss(40)
    ends = np.linspace(0, min(kernel.support, 50.0), 101)
    half = np.diff(ends)[:, None] / 2
    u = ends[:-1, None] + half * (1 + at)
    k = kernel.k(u)
    return [float(2 * (weight * half * f).sum()) for f in (k, k * k, u * u * k)]


@pytest.mark.parametrize("name", NAMES)
def test_value(name):
    u, value = FORMULAS[name]
    kernel = KERNELS[name]
    assert kernel.name == name
    assert kernel.k(np.array([u, 0.0])) == pytest.approx([value, 1.0], rel=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_slope_is_the_slope(name):
    kernel = KERNELS[name]
    u = np.array([-2.3, -0.9, -0.31, 0.2, 0.55, 0.98, 1.7])
    slope = (kernel.k(u + 1e-6) - kernel.k(u - 1e-6)) / 2e-6
    assert kernel.dk(u) == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_log(name):
    kernel = KERNELS[name]
    u = np.array([-1.4, -0.9, 0.0, 0.3, 0.99, 1.1])
    assert np.exp(kernel.log_k(u)) == pytest.approx(kernel.k(u), rel=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_constants(name):
    kernel = KERNELS[name]
    said = [kernel.integral, kernel.energy, kernel.spread]
    assert said == pytest.approx(integrals(kernel), rel=1e-12)


@pytest.mark.parametrize("name", COMPACT)
def test_edge(name):
    kernel = KERNELS[name]
    beyond = np.array([-1.0000001, 1.0000001, 1e300])
    assert (kernel.k(beyond) == 0).all()
    assert (kernel.dk(beyond) == 0).all()
    assert (kernel.log_k(beyond) == -np.inf).all()
    edge = kernel.k(np.array([-1.0, 1.0]))
    assert edge == pytest.approx(1.0 if name == "boxcar" else 0.0, abs=1e-16)


@pytest.mark.parametrize("name", SMOOTH)
def test_step_near_by_is_a_difference(name):
    kernel = KERNELS[name]
    u, step = np.array([-1.5, 0.0, 0.4, 2.0]), np.array([[-3.0], [-0.4], [0.7], [1e-9]])
    difference = kernel.log_k(u + step) - kernel.log_k(u)
    assert kernel.log_step(u, step) == pytest.approx(difference, abs=4e-15)


@pytest.mark.parametrize("name", SMOOTH)
def test_step_far_away_keeps_its_digits(name):
    kernel = KERNELS[name]
    u, step = np.array([1e12]), np.array([1e-11])
    exact = kernel.dlog_k(u) * step  # straight, over so short a step
    assert kernel.log_step(u, step) == pytest.approx(exact, rel=1e-9)
    assert kernel.log_step(-u, -step) == pytest.approx(exact, rel=1e-9)
    assert kernel.log_k(u + step) - kernel.log_k(u) != pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("name", SMOOTH)
def test_slope_of_log(name):
    kernel = KERNELS[name]
    u = np.array([-3.0, 0.2, 0.9])
    assert kernel.dlog_k(u) * kernel.k(u) == pytest.approx(kernel.dk(u), rel=1e-14)


def test_canonical_width_is_the_textbook_one():
    ratio = {name: KERNELS[name].canonical / KERNELS["gaussian"].canonical for name in NAMES}
    assert ratio["gaussian"] == 1
    assert ratio["epanechnikov"] == pytest.approx(2.2138, abs=1e-4)
    assert ratio["biweight"] == pytest.approx(2.6226, abs=1e-4)
    assert ratio["boxcar"] == pytest.approx(1.7400, abs=1e-3)

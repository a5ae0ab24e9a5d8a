"""Kernels made from others."""

import numpy as np
import pytest

from regard.errors import KindError, ValueRangeError
from regard.regression.derived import custom, kernel_of, squared
from regard.regression.kernels import KERNELS


@pytest.mark.parametrize("name", KERNELS)
def test_squares(name):
    kernel = KERNELS[name]
    square, narrower = squared(kernel)
    u = np.linspace(-2.5, 2.5, 501)
    np.testing.assert_allclose(square.k(u / narrower), np.square(kernel.k(u)), atol=1e-14)
    np.testing.assert_allclose(
        square.dk(u / narrower) / narrower, 2 * kernel.k(u) * kernel.dk(u), atol=1e-12
    )


def test_a_function_becomes_a_kernel():
    own, known = custom(lambda u: 5 * np.exp(-(u**2) / 2)), KERNELS["gaussian"]
    u = np.linspace(-3, 3, 101)
    np.testing.assert_allclose(own.k(u), known.k(u), rtol=1e-14)
    np.testing.assert_allclose(own.dk(u), known.dk(u), atol=1e-9)
    np.testing.assert_allclose(own.log_k(u), known.log_k(u), atol=1e-14)
    for name in ("integral", "energy", "spread", "canonical"):
        assert getattr(own, name) == pytest.approx(getattr(known, name), rel=1e-4), name


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (lambda u: u.shout(), KindError, "called with one it failed"),
        (lambda u: 1.0, ValueRangeError, "must give one number for each u"),
        (lambda u: u, ValueRangeError, "0 or more, and more than 0 at u = 0"),
        (np.abs, ValueRangeError, "more than 0 at u = 0"),
        ("round", ValueRangeError, "or a function of u; got 'round'"),
    ],
)
def test_what_is_no_kernel(given, error, message):
    with pytest.raises(error, match=message):
        kernel_of(given)

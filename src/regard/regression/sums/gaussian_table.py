"""How one box of points looks from another: polynomials for the Gaussian, and their error.

Boxes are r widths wide. For a query at s and a point at v, both from -1 to 1 across their boxes,
j boxes apart, K is a smooth function of s and v,

    G(j r + rho (s - v)) = sum over a, k of H[a, k] s^a v^k,      rho = r / 2,
    H[a, k] = (-1)^k binomial(a + k, a) g[a + k],                 g[n] = rho^n G^(n)(j r) / n!

with G = exp(-t^2 / 2). Its Taylor series is not cut off but first rewritten in Chebyshev
polynomials T_i(s) T_l(v), whose coefficients C[i, l] fall faster by 2 for each degree: only i and l
below P stay, and are written as powers again. Since |T| <= 1 what is left out is at most

    error[j] = sum of |C[i, l]| over i >= P or l >= P          at any s and v,

plus rounding. That bound holds term by term, so the sum over data is off by at most the sum over
boxes of error[j] times the weight of the box: a number that is known for every box of queries
(``gaussian_loops.translate``), and which every query compares with what it got.

u K and u^2 K are -G' and G'' + G. They get tables of their own from the same moments, so that
nothing is lost by differentiating a polynomial.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from regard.regression.sums.base import Array

__all__ = ["REACH", "Table", "candidates", "table"]

REACH = 10.5  # widths; exp(-10.5^2 / 2) is 1e-24: enough for 1e9 points to 1e-13
_TERMS = 32  # of the Taylor series; the next is below 1e-27 for boxes of one width
_ROUNDING = 16 * 2.0**-53  # moments, translation and evaluation, in units of all terms' sizes


class Table(NamedTuple):
    """The polynomials of one kind: from moments at distance j to a polynomial, j = 0, 1, ..."""

    power: Array  # [J, P, P]: how moment k of a box contributes to s^a of one j further up
    error: Array  # [J]


@lru_cache(maxsize=4)
def _rewriting() -> tuple[Array, Array]:
    """Powers as Chebyshev polynomials [i, a], and back [a, i]."""
    there = np.zeros((_TERMS, _TERMS))
    back = np.zeros((_TERMS, _TERMS))
    for i in range(_TERMS):
        one = np.zeros(i + 1)
        one[i] = 1.0
        there[: i + 1, i] = chebyshev.poly2cheb(one)
        back[: i + 1, i] = chebyshev.cheb2poly(one)
    return there, back


@lru_cache(maxsize=64)
def table(r: float, degree: int, order: int) -> Table:
    """For u^order K, boxes of r widths, and polynomials with ``degree`` powers."""
    rho, (there, back) = r / 2, _rewriting()
    t = r * np.arange(math.ceil(REACH / r) + 2)
    # g[n] by the recurrence of Hermite's functions: G^(n+1) = -t G^(n) - n G^(n-1)
    last = 2 * _TERMS + 2
    g = np.zeros((last, len(t)))
    g[0] = np.exp(-t * t / 2)
    g[1] = -t * rho * g[0]
    for n in range(1, last - 1):
        g[n + 1] = (-t * rho * g[n] - rho * rho * g[n - 1]) / (n + 1)
    up = np.arange(1, 2 * _TERMS + 1)[:, None]
    if order == 1:
        g = -g[1 : 2 * _TERMS + 1] * up / rho
    elif order == 2:  # noqa: PLR2004 - u^2
        g = g[2 : 2 * _TERMS + 2] * up * (up + 1) / rho**2 + g[: 2 * _TERMS]
    a, k = np.indices((_TERMS, _TERMS))
    choose = np.array([[math.comb(i + j, i) for j in range(_TERMS)] for i in range(_TERMS)], float)
    h = (choose * (-1.0) ** k)[:, :, None] * g[a + k]  # [a, k, J]
    c = there @ h.transpose(2, 0, 1) @ there.T
    kept = c[:, :degree, :degree]
    lost = np.abs(c[:, degree:]).sum((1, 2)) + np.abs(c[:, :degree, degree:]).sum((1, 2))
    power = back[:degree, :degree] @ kept @ back[:degree, :degree].T
    return Table(power, lost + _ROUNDING * np.abs(power).sum((1, 2)))


@lru_cache(maxsize=64)
def candidates(tol: float) -> tuple[tuple[float, int], ...]:
    """For each degree the widest boxes (r, P) that keep ``tol`` where data lie evenly.

    There the error relative to the sum of the kernels is about 6 (r/4)^P / sqrt(P!): the bound
    |G^(P)(t)| <= 1.09 sqrt(P!) exp(-t^2 / 4) in the first term that is left out, on both sides. A
    factor of 32 is kept for u^2 K, and for queries where there is less data than around them;
    whoever is past that finds out, and goes another way.
    """
    found = []
    for degree in (4, 8, 12, 16):
        for step in range(15):
            r = 2.0 ** (-step / 2)
            if 32 * 6 * (r / 4) ** degree / math.sqrt(math.factorial(degree)) <= tol:
                found.append((r, degree))
                break
    return tuple(found)

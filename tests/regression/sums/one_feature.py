"""Data of one feature chosen to hurt, and the sums over them by their definition."""

import numpy as np

from regard.regression.kernels import KERNELS

__all__ = ["DATA", "KINDS", "define", "sizes"]

KINDS = ("k", "uk", "uuk", "dk", "udk")
N = 150


def columns_of(rng, n):
    """Weights and, up to 1 in size and of both signs, values times weights."""
    weights = rng.uniform(0.1, 1, (n, 1))
    return weights * np.c_[np.ones(n), rng.uniform(-1, 1, n), np.sign(rng.normal(size=n))]


def uniform(rng):
    return rng.uniform(-2, 2, N), columns_of(rng, N)


def lattice(rng):
    """Many points a place, and places a width apart: points on the edge, and at the query."""
    return rng.integers(-3, 4, N) * 1.0, columns_of(rng, N)


def clusters(rng):
    """With nothing in between, and one point alone."""
    x = np.r_[rng.normal(-2, 1e-3, N // 2), rng.normal(2, 1e-6, N // 2 - 1), 0.3]
    return x, columns_of(rng, x.size)


def tails(rng):
    return rng.standard_cauchy(N), columns_of(rng, N)


def weightless(rng):
    """Half of the points have no weight, and the heaviest a million times that of the others."""
    columns = columns_of(rng, N)
    columns[rng.permutation(N)[: N // 2]] = 0
    columns[:3] *= 1e6
    return rng.uniform(-2, 2, N), columns


DATA = [uniform, lattice, clusters, tails, weightless]


def define(name, x, columns, width, q, log_scale=0.0, *, leave_out=False):
    """For each kind the sums, and the sums of sizes: of |F(u)| times the weights."""
    kernel = KERNELS[name]
    u = (q[:, None] - x) / width
    counts = np.ones(u.shape, bool)
    if leave_out:
        counts &= ~np.eye(len(q), dtype=bool)
    if kernel.support == 1:
        k, dk = kernel.k(u), kernel.dk(u)
    else:
        log_k = kernel.log_k(u) - np.reshape(log_scale, (-1, 1))
        k = np.exp(np.where(counts & (columns[:, 0] > 0), log_k, -np.inf))
        dk = kernel.dlog_k(u) * k
    k, dk = np.where(counts, k, 0.0), np.where(counts, dk, 0.0)
    terms = {"k": k, "uk": u * k, "uuk": u * u * k, "dk": dk, "udk": u * dk}
    return (
        {kind: f @ columns for kind, f in terms.items()},
        {kind: np.abs(f) @ columns[:, :1] for kind, f in terms.items()},
    )


def sizes(found, kind):
    """What was found of a kind, [m, c]."""
    assert found.sums[kind].ndim == (2 if kind == "k" else 3)
    return found.sums[kind] if kind == "k" else found.sums[kind][:, :, 0]

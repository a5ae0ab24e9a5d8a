"""What a step of the recurrence does between its products, on a GPU: looking, and the gates.

In torch's operations a step writes and reads query + keys, their tanh and more, each as large as
all the keys. Here they stay in registers: a block of threads takes one sequence, reads its keys and
values once, and writes weights and a context.

``row`` is the sequence, ``at`` the row of a [T * b, ...] array. Sums over features are made in
tiles of BA, sums over tokens in tiles of BN, where a thread has all tokens of its features. Up to
BM tokens are one tile; more go through memory, with a barrier between. Nothing is compiled for T,
b, t or m itself, only for the power of two above m.
"""

from __future__ import annotations

import triton
import triton.language as tl

from regard.layers.unrolled.kernels import tanh

__all__ = ["gate_back_kernel", "gate_kernel", "look_back_kernel", "look_kernel", "pairs_kernel"]

LENGTHS = ["T", "t", "b", "m"]


@triton.jit
def tile(x, i, n, m, N: tl.constexpr):
    """x[i, n] of x [m, N], 0 outside."""
    there = (i[:, None] < m) & (n[None, :] < N)
    return tl.load(x + i[:, None] * N + n[None, :], mask=there, other=0.0)


@triton.jit
def scores_of(i, query, keys, w_v, m, A: tl.constexpr, BA: tl.constexpr):
    """<w_v, tanh(query + key)> of the keys i."""
    acc = tl.zeros([i.shape[0], BA], tl.float32)
    for n0 in range(0, A, BA):
        n = n0 + tl.arange(0, BA)
        q = tl.load(query + n, mask=n < A, other=0.0)
        w = tl.load(w_v + n, mask=n < A, other=0.0)
        acc += tanh(q[None, :] + tile(keys, i, n, m, A)) * w[None, :]
    return tl.sum(acc, 1)


@triton.jit
def likes_of(i, d_context, values, m, V: tl.constexpr, BA: tl.constexpr):
    """<d_context, value> of the values i."""
    acc = tl.zeros([i.shape[0], BA], tl.float32)
    for n0 in range(0, V, BA):
        n = n0 + tl.arange(0, BA)
        d = tl.load(d_context + n, mask=n < V, other=0.0)
        acc += tile(values, i, n, m, V) * d[None, :]
    return tl.sum(acc, 1)


@triton.jit
def squares_of(i, n, query, keys, m, A: tl.constexpr):
    """tanh(query + key)^2 of the keys i, features n."""
    q = tl.load(query + n, mask=n < A, other=0.0)
    f = tanh(q[None, :] + tile(keys, i, n, m, A))
    return f * f


@triton.jit(do_not_specialize=LENGTHS)
def look_kernel(
    made, keys, values, allowed, w_v, keep_weights, queries, weights, contexts, t, b, m,
    W: tl.constexpr, A: tl.constexpr, V: tl.constexpr, MP: tl.constexpr,
    HAS_ALLOWED: tl.constexpr, HAS_KEEP: tl.constexpr, LEAST: tl.constexpr,
    BM: tl.constexpr, BA: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Weights and contexts of step t. A row of ``made`` has W numbers, first the query."""
    row = tl.program_id(0).to(tl.int64)
    at = row + t * b
    made += row * W
    keys += row * m * A
    values += row * m * V
    weights += at * m
    keep_weights += at * m
    for n0 in range(0, A, BN):  # kept for the way back
        n = n0 + tl.arange(0, BN)
        q = tl.load(made + n, mask=n < A, other=0.0)
        tl.store(queries + at * A + n, q, mask=n < A)
    j = tl.arange(0, MP)
    if MP <= BM:
        s = scores_of(j, made, keys, w_v, m, A, BA)
    else:
        for m0 in range(0, m, BM):
            i = m0 + tl.arange(0, BM)
            tl.store(weights + i, scores_of(i, made, keys, w_v, m, A, BA), mask=i < m)
        tl.debug_barrier()
        s = tl.load(weights + j, mask=j < m, other=0.0)
        tl.debug_barrier()  # nobody overwrites a score that another has still to read
    if HAS_ALLOWED:
        seen = tl.load(allowed + row * m + j, mask=j < m, other=0) != 0
        s = tl.where(seen, s, LEAST)
    s = tl.where(j < m, s, float("-inf"))
    e = tl.exp(s - tl.max(s, 0))
    e = e / tl.sum(e, 0)
    if HAS_ALLOWED:
        e = tl.where(seen, e, 0.0)
    tl.store(weights + j, e, mask=j < m)
    if MP <= BM:
        if HAS_KEEP:
            e *= tl.load(keep_weights + j, mask=j < m, other=0.0)
        for n0 in range(0, V, BN):
            n = n0 + tl.arange(0, BN)
            x = tl.sum(e[:, None] * tile(values, j, n, m, V), 0)
            tl.store(contexts + at * V + n, x, mask=n < V)
    else:
        tl.debug_barrier()
        for n0 in range(0, V, BN):
            n = n0 + tl.arange(0, BN)
            acc = tl.zeros([BM, BN], tl.float32)
            for m0 in range(0, m, BM):
                i = m0 + tl.arange(0, BM)
                w = tl.load(weights + i, mask=i < m, other=0.0)
                if HAS_KEEP:
                    w *= tl.load(keep_weights + i, mask=i < m, other=0.0)
                acc += w[:, None] * tile(values, i, n, m, V)
            tl.store(contexts + at * V + n, tl.sum(acc, 0), mask=n < V)


@triton.jit(do_not_specialize=LENGTHS)
def look_back_kernel(
    queries, keys, values, w_v, keep_weights, weights, d_contexts, d_scores, found, T, t, b, m,
    L: tl.constexpr, H: tl.constexpr, A: tl.constexpr, V: tl.constexpr, MP: tl.constexpr,
    HAS_KEEP: tl.constexpr, BM: tl.constexpr, BA: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """From the context of step t to its scores and its query, whose place is in ``found``."""
    row = tl.program_id(0).to(tl.int64)
    at = row + t * b
    queries += at * A
    keys += row * m * A
    values += row * m * V
    weights += at * m
    d_contexts += at * V
    d_scores += at * m
    d_query = found + (((L - 1) * T + t) * b + row) * (4 * H + A) + 4 * H
    j = tl.arange(0, MP)
    if MP <= BM:
        d = likes_of(j, d_contexts, values, m, V, BA)
    else:
        for m0 in range(0, m, BM):
            i = m0 + tl.arange(0, BM)
            tl.store(d_scores + i, likes_of(i, d_contexts, values, m, V, BA), mask=i < m)
        tl.debug_barrier()
        d = tl.load(d_scores + j, mask=j < m, other=0.0)
        tl.debug_barrier()  # as above
    weight = tl.load(weights + j, mask=j < m, other=0.0)
    if HAS_KEEP:
        d *= tl.load(keep_weights + at * m + j, mask=j < m, other=0.0)
    d = weight * (d - tl.sum(weight * d, 0))
    tl.store(d_scores + j, d, mask=j < m)
    # a row of d_scores sums to 0, so of tanh' = 1 - tanh^2 only the square remains
    if MP <= BM:
        for n0 in range(0, A, BN):
            n = n0 + tl.arange(0, BN)
            x = tl.sum(d[:, None] * squares_of(j, n, queries, keys, m, A), 0)
            x *= -tl.load(w_v + n, mask=n < A, other=0.0)
            tl.store(d_query + n, x, mask=n < A)
    else:
        tl.debug_barrier()
        for n0 in range(0, A, BN):
            n = n0 + tl.arange(0, BN)
            acc = tl.zeros([BM, BN], tl.float32)
            for m0 in range(0, m, BM):
                i = m0 + tl.arange(0, BM)
                d_score = tl.load(d_scores + i, mask=i < m, other=0.0)
                acc += d_score[:, None] * squares_of(i, n, queries, keys, m, A)
            x = -tl.sum(acc, 0) * tl.load(w_v + n, mask=n < A, other=0.0)
            tl.store(d_query + n, x, mask=n < A)


@triton.jit(do_not_specialize=LENGTHS)
def gate_kernel(
    gi, made, added, b_hh, keep_states, states, gates, fed, T, t, b,
    layer: tl.constexpr, L: tl.constexpr, H: tl.constexpr, W: tl.constexpr, FIRST: tl.constexpr,
    HAS_KEEP: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """A layer's gates and new state. gh is in the rows of ``made``, from FIRST on."""
    row = tl.program_id(0).to(tl.int64)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    here = n < H
    if layer == 0:  # the input's part, which is the sequence's own; above it is b_ih
        added += (t * b + row) * 3 * H
    gi += row * 3 * H + n
    gh = made + row * W + FIRST + n
    added += n
    b_hh += n
    r = tl.load(gi, mask=here, other=0.0) + tl.load(added, mask=here, other=0.0)
    r += tl.load(gh, mask=here, other=0.0) + tl.load(b_hh, mask=here, other=0.0)
    z = tl.load(gi + H, mask=here, other=0.0) + tl.load(added + H, mask=here, other=0.0)
    z += tl.load(gh + H, mask=here, other=0.0) + tl.load(b_hh + H, mask=here, other=0.0)
    c = tl.load(gi + 2 * H, mask=here, other=0.0) + tl.load(added + 2 * H, mask=here, other=0.0)
    gh_c = tl.load(gh + 2 * H, mask=here, other=0.0) + tl.load(b_hh + 2 * H, mask=here, other=0.0)
    r = tl.sigmoid(r)
    z = tl.sigmoid(z)
    c = tanh(c + r * gh_c)
    before = states + ((layer * (T + 1) + t) * b + row) * H + n
    state = c + z * (tl.load(before, mask=here, other=0.0) - c)
    tl.store(before + b * H, state, mask=here)
    out = gates + ((layer * T + t) * b + row) * 4 * H + n
    tl.store(out, r, mask=here)
    tl.store(out + H, z, mask=here)
    tl.store(out + 2 * H, c, mask=here)
    tl.store(out + 3 * H, gh_c, mask=here)
    if HAS_KEEP and layer < L - 1:
        keep = keep_states + ((t * (L - 1) + layer) * b + row) * H + n
        state *= tl.load(keep, mask=here, other=0.0)
        tl.store(fed + ((layer * T + t) * b + row) * H + n, state, mask=here)


@triton.jit(do_not_specialize=LENGTHS)
def gate_back_kernel(
    states, gates, keep_states, d_above, carried, found, T, t, b,
    layer: tl.constexpr, L: tl.constexpr, H: tl.constexpr, W: tl.constexpr,
    HAS_KEEP: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Through a layer's gates: to the sums c, r, z and gh_c, and straight to the old state.

    ``d_above`` is what comes from outside, at the top, or from what the next layer was fed.
    """
    row = tl.program_id(0).to(tl.int64)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    here = n < H
    if layer == L - 1:
        above = tl.load(d_above + (t * b + row) * H + n, mask=here, other=0.0)
    else:
        above = tl.load(d_above + row * H + n, mask=here, other=0.0)
        if HAS_KEEP:
            keep = keep_states + ((t * (L - 1) + layer) * b + row) * H + n
            above *= tl.load(keep, mask=here, other=0.0)
    mine = carried + (layer * b + row) * H + n
    d = tl.load(mine, mask=here, other=0.0) + above
    kept = gates + ((layer * T + t) * b + row) * 4 * H + n
    r = tl.load(kept, mask=here, other=0.0)
    z = tl.load(kept + H, mask=here, other=0.0)
    c = tl.load(kept + 2 * H, mask=here, other=0.0)
    gh_c = tl.load(kept + 3 * H, mask=here, other=0.0)
    old = tl.load(states + ((layer * (T + 1) + t) * b + row) * H + n, mask=here, other=0.0)
    of_c = d * (1 - z) * (1 - c * c)
    out = found + ((layer * T + t) * b + row) * W + n
    tl.store(out, of_c, mask=here)
    tl.store(out + H, of_c * gh_c * (r * (1 - r)), mask=here)
    tl.store(out + 2 * H, d * (old - c) * (z * (1 - z)), mask=here)
    tl.store(out + 3 * H, of_c * r, mask=here)
    tl.store(mine, d * z, mask=here)


@triton.jit(do_not_specialize=LENGTHS)
def pairs_kernel(
    queries, keys, w_v, d_scores, d_keys, d_w, T, b, m,
    A: tl.constexpr, BM: tl.constexpr, BA: tl.constexpr,
):  # fmt: skip
    """What is summed over all steps: d_keys, and each tile's part of d_w."""
    row = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(2) * BA + tl.arange(0, BA)
    k = tile(keys + row * m * A, i, n, m, A)
    acc = tl.zeros([BM, BA], tl.float32)
    of_w = tl.zeros([BM, BA], tl.float32)
    for t in range(T):
        at = row + t * b
        q = tl.load(queries + at * A + n, mask=n < A, other=0.0)
        d = tl.load(d_scores + at * m + i, mask=i < m, other=0.0)
        f = tanh(q[None, :] + k)
        pulled = f * d[:, None]
        of_w += pulled
        acc += d[:, None] - pulled * f
    acc *= tl.load(w_v + n, mask=n < A, other=0.0)[None, :]
    there = (i[:, None] < m) & (n[None, :] < A)
    tl.store(d_keys + row * m * A + i[:, None] * A + n[None, :], acc, mask=there)
    part = row * tl.num_programs(1) + tl.program_id(1)
    tl.store(d_w + part * A + n, tl.sum(of_w, 0), mask=n < A)

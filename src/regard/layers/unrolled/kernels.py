"""The recurrence on a GPU: one kernel forward, one backward, whatever the number of steps.

Sequences do not depend on each other, so each gets a block of threads that goes through all steps
on its own: nothing waits for the whole GPU, and nothing is launched between steps. What limits it
is reading the weights from the L2 cache once a step and sequence, about 64 bytes a clock; matrix
products over the batch would read them once a step, but pay a launch for each.

Products are sums in float32. Threads of a block hand vectors to each other through memory, with a
barrier between. ``row`` is the sequence, ``at`` the row of a [T * b, ...] array.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["backward_kernel", "forward_kernel"]


@triton.jit
def tanh(x):
    """To a few units in the last place: near 0 by the polynomial of the Cephes library."""
    size = tl.abs(x)
    z = x * x
    near = -5.70498872745e-3 * z + 2.06390887954e-2
    near = near * z - 5.37397155531e-2
    near = near * z + 1.33314422036e-1
    near = near * z - 3.33332819422e-1
    near = near * z * x + x
    far = 1.0 - 2.0 / (tl.exp(2.0 * size) + 1.0)
    return tl.where(size < 0.625, near, tl.where(x > 0, far, -far))


@triton.jit
def add_product(acc, x_ptr, w_ptr, n, N, K, W: tl.constexpr, BK: tl.constexpr):
    """acc[., n] + x[k] * w[k, n], where w has rows of W numbers; the caller sums over the BK."""
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        x = tl.load(x_ptr + k, mask=k < K, other=0.0)
        there = (k[:, None] < K) & (n[None, :] < N)
        w = tl.load(w_ptr + k[:, None] * W + n[None, :], mask=there, other=0.0)  # [BK, BN]
        acc += w * x[:, None]
    return acc


@triton.jit
def forward_kernel(
    inputs, states, keys, values, allowed, w_q, w_v, w_first, w_ih, w_hh, b_ih, b_hh,
    keep_weights, keep_states, gates, fed, contexts, weights, queries,
    T, b, m,
    L: tl.constexpr, H: tl.constexpr, A: tl.constexpr, V: tl.constexpr, MP: tl.constexpr,
    HAS_ALLOWED: tl.constexpr, HAS_KEEP: tl.constexpr, HAS_KEEP_STATES: tl.constexpr,
    LEAST: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr, BM: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    keys += row * m * A
    values += row * m * V
    allowed += row * m
    j = tl.arange(0, MP)
    for t in range(T):
        at = row + t * b
        # the query, from the top layer's state                                    # [A]
        top = states + (((L - 1) * (T + 1) + t) * b + row) * H
        for n0 in range(0, A, BN):
            n = n0 + tl.arange(0, BN)
            acc = add_product(tl.zeros([BK, BN], tl.float32), top, w_q, n, A, H, A, BK)
            tl.store(queries + at * A + n, tl.sum(acc, 0), mask=n < A)
        tl.debug_barrier()
        # scores                                                                   # [m]
        for m0 in range(0, m, BM):
            i = m0 + tl.arange(0, BM)
            acc = tl.zeros([BM, BN], tl.float32)
            for n0 in range(0, A, BN):
                n = n0 + tl.arange(0, BN)
                there = (i[:, None] < m) & (n[None, :] < A)
                k = tl.load(keys + i[:, None] * A + n[None, :], mask=there, other=0.0)
                q = tl.load(queries + at * A + n, mask=n < A, other=0.0)
                w = tl.load(w_v + n, mask=n < A, other=0.0)
                acc += w[None, :] * tanh(q[None, :] + k)
            tl.store(weights + at * m + i, tl.sum(acc, 1), mask=i < m)
        tl.debug_barrier()
        # weights                                                                  # [m]
        s = tl.load(weights + at * m + j, mask=j < m, other=-float("inf"))
        if HAS_ALLOWED:
            seen = tl.load(allowed + j, mask=j < m, other=0) != 0
            s = tl.where(seen | (j >= m), s, LEAST)
        e = tl.exp(s - tl.max(s, 0))
        e = e / tl.sum(e, 0)
        if HAS_ALLOWED:
            e = tl.where(seen, e, 0.0)
        tl.debug_barrier()
        tl.store(weights + at * m + j, e, mask=j < m)
        tl.debug_barrier()
        # the context                                                              # [V]
        for n0 in range(0, V, BN):
            n = n0 + tl.arange(0, BN)
            acc = tl.zeros([BM, BN], tl.float32)
            for m0 in range(0, m, BM):
                i = m0 + tl.arange(0, BM)
                w = tl.load(weights + at * m + i, mask=i < m, other=0.0)
                if HAS_KEEP:
                    w *= tl.load(keep_weights + at * m + i, mask=i < m, other=0.0)
                there = (i[:, None] < m) & (n[None, :] < V)
                v = tl.load(values + i[:, None] * V + n[None, :], mask=there, other=0.0)
                acc += w[:, None] * v
            tl.store(contexts + at * V + n, tl.sum(acc, 0), mask=n < V)
        tl.debug_barrier()
        for layer in tl.static_range(L):
            before = states + ((layer * (T + 1) + t) * b + row) * H
            after = before + b * H
            for n0 in range(0, H, BN):
                n = n0 + tl.arange(0, BN)
                here = n < H
                r = tl.zeros([BK, BN], tl.float32)
                z = tl.zeros([BK, BN], tl.float32)
                c = tl.zeros([BK, BN], tl.float32)
                d = tl.zeros([BK, BN], tl.float32)
                if layer == 0:
                    x = contexts + at * V
                    wide = V
                    w = w_first
                    r0 = tl.load(inputs + at * 3 * H + n, mask=here, other=0.0)
                    z0 = tl.load(inputs + at * 3 * H + H + n, mask=here, other=0.0)
                    c0 = tl.load(inputs + at * 3 * H + 2 * H + n, mask=here, other=0.0)
                else:
                    wide = H
                    w = w_ih + (layer - 1) * H * 3 * H
                    add = b_ih + (layer - 1) * 3 * H
                    r0 = tl.load(add + n, mask=here, other=0.0)
                    z0 = tl.load(add + H + n, mask=here, other=0.0)
                    c0 = tl.load(add + 2 * H + n, mask=here, other=0.0)
                    if HAS_KEEP_STATES:
                        x = fed + (((layer - 1) * T + t) * b + row) * H
                    else:
                        x = states + (((layer - 1) * (T + 1) + t + 1) * b + row) * H
                r = add_product(r, x, w, n, H, wide, 3 * H, BK)
                z = add_product(z, x, w + H, n, H, wide, 3 * H, BK)
                c = add_product(c, x, w + 2 * H, n, H, wide, 3 * H, BK)
                u = w_hh + layer * H * 3 * H
                r = add_product(r, before, u, n, H, H, 3 * H, BK)
                z = add_product(z, before, u + H, n, H, H, 3 * H, BK)
                d = add_product(d, before, u + 2 * H, n, H, H, 3 * H, BK)
                add = b_hh + layer * 3 * H
                r0 += tl.load(add + n, mask=here, other=0.0)
                z0 += tl.load(add + H + n, mask=here, other=0.0)
                gh_c = tl.sum(d, 0) + tl.load(add + 2 * H + n, mask=here, other=0.0)
                gate_r = tl.sigmoid(tl.sum(r, 0) + r0)
                gate_z = tl.sigmoid(tl.sum(z, 0) + z0)
                new = tanh(tl.sum(c, 0) + c0 + gate_r * gh_c)
                old = tl.load(before + n, mask=here, other=0.0)
                state = new + gate_z * (old - new)
                out = gates + ((layer * T + t) * b + row) * 4 * H + n
                tl.store(out, gate_r, mask=here)
                tl.store(out + H, gate_z, mask=here)
                tl.store(out + 2 * H, new, mask=here)
                tl.store(out + 3 * H, gh_c, mask=here)
                tl.store(after + n, state, mask=here)
                if HAS_KEEP_STATES and layer < L - 1:
                    kept = keep_states + ((t * (L - 1) + layer) * b + row) * H
                    keep = tl.load(kept + n, mask=here, other=0.0)
                    below = fed + ((layer * T + t) * b + row) * H
                    tl.store(below + n, state * keep, mask=here)
            tl.debug_barrier()


@triton.jit
def backward_kernel(
    states, keys, values, w_q, w_v, w_first, w_ih, w_hh,
    keep_weights, keep_states, gates, weights, queries, d_outputs,
    carried, passed, found, d_contexts, d_scores, d_queries,
    T, b, m,
    L: tl.constexpr, H: tl.constexpr, A: tl.constexpr, V: tl.constexpr, MP: tl.constexpr,
    HAS_KEEP: tl.constexpr, HAS_KEEP_STATES: tl.constexpr,
    BK: tl.constexpr, BN: tl.constexpr, BM: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    keys += row * m * A
    values += row * m * V
    j = tl.arange(0, MP)
    for back in range(T):
        t = T - 1 - back
        at = row + t * b
        for up in tl.static_range(L):
            layer = L - 1 - up
            mine = carried + (layer * b + row) * H
            grads = found + ((layer * T + t) * b + row) * 4 * H
            # through the gates: the gradients of the sums c, r, z, and of gh_c       # [4 H]
            for n0 in range(0, H, BN):
                n = n0 + tl.arange(0, BN)
                here = n < H
                if layer == L - 1:
                    d = tl.load(mine + n, mask=here, other=0.0)
                    d += tl.load(d_outputs + at * H + n, mask=here, other=0.0)
                else:
                    d = tl.load(passed + row * H + n, mask=here, other=0.0)
                kept = gates + ((layer * T + t) * b + row) * 4 * H + n
                r = tl.load(kept, mask=here, other=0.0)
                z = tl.load(kept + H, mask=here, other=0.0)
                c = tl.load(kept + 2 * H, mask=here, other=0.0)
                gh_c = tl.load(kept + 3 * H, mask=here, other=0.0)
                old = tl.load(
                    states + ((layer * (T + 1) + t) * b + row) * H + n, mask=here, other=0.0
                )
                of_c = d * (1 - z) * (1 - c * c)
                tl.store(grads + n, of_c, mask=here)
                tl.store(grads + H + n, of_c * gh_c * (r * (1 - r)), mask=here)
                tl.store(grads + 2 * H + n, d * (old - c) * (z * (1 - z)), mask=here)
                tl.store(grads + 3 * H + n, of_c * r, mask=here)
                tl.store(mine + n, d * z, mask=here)
            tl.debug_barrier()
            # to the layer's own state, and to what it was fed
            for n0 in range(0, H, BN):
                n = n0 + tl.arange(0, BN)
                acc = tl.zeros([BK, BN], tl.float32)
                u = w_hh + layer * 3 * H * H
                acc = add_product(acc, grads + H, u, n, H, 3 * H, H, BK)
                straight = tl.load(mine + n, mask=n < H, other=0.0)
                tl.store(mine + n, straight + tl.sum(acc, 0), mask=n < H)
                if layer > 0:
                    acc = tl.zeros([BK, BN], tl.float32)
                    w = w_ih + (layer - 1) * 3 * H * H
                    acc = add_product(acc, grads, w, n, H, 3 * H, H, BK)
                    below = tl.sum(acc, 0)
                    if HAS_KEEP_STATES:
                        below *= tl.load(
                            keep_states + ((t * (L - 1) + layer - 1) * b + row) * H + n,
                            mask=n < H,
                            other=0.0,
                        )
                    below += tl.load(
                        carried + ((layer - 1) * b + row) * H + n, mask=n < H, other=0.0
                    )
                    tl.store(passed + row * H + n, below, mask=n < H)
            if layer == 0:
                for n0 in range(0, V, BN):
                    n = n0 + tl.arange(0, BN)
                    acc = tl.zeros([BK, BN], tl.float32)
                    acc = add_product(acc, grads, w_first, n, V, 3 * H, V, BK)
                    tl.store(d_contexts + at * V + n, tl.sum(acc, 0), mask=n < V)
            tl.debug_barrier()
        # the weights                                                              # [m]
        for m0 in range(0, m, BM):
            i = m0 + tl.arange(0, BM)
            acc = tl.zeros([BM, BN], tl.float32)
            for n0 in range(0, V, BN):
                n = n0 + tl.arange(0, BN)
                there = (i[:, None] < m) & (n[None, :] < V)
                v = tl.load(values + i[:, None] * V + n[None, :], mask=there, other=0.0)
                d_context = tl.load(d_contexts + at * V + n, mask=n < V, other=0.0)
                acc += v * d_context[None, :]
            tl.store(d_scores + at * m + i, tl.sum(acc, 1), mask=i < m)
        tl.debug_barrier()
        d_weight = tl.load(d_scores + at * m + j, mask=j < m, other=0.0)
        weight = tl.load(weights + at * m + j, mask=j < m, other=0.0)
        if HAS_KEEP:
            d_weight *= tl.load(keep_weights + at * m + j, mask=j < m, other=0.0)
        d_score = weight * (d_weight - tl.sum(weight * d_weight, 0))
        tl.debug_barrier()
        tl.store(d_scores + at * m + j, d_score, mask=j < m)
        tl.debug_barrier()
        # the query: a row of d_scores sums to 0, so of tanh' only the square remains  # [A]
        for n0 in range(0, A, BN):
            n = n0 + tl.arange(0, BN)
            q = tl.load(queries + at * A + n, mask=n < A, other=0.0)
            acc = tl.zeros([BM, BN], tl.float32)
            for m0 in range(0, m, BM):
                i = m0 + tl.arange(0, BM)
                there = (i[:, None] < m) & (n[None, :] < A)
                k = tl.load(keys + i[:, None] * A + n[None, :], mask=there, other=0.0)
                pull = tl.load(d_scores + at * m + i, mask=i < m, other=0.0)
                f = tanh(q[None, :] + k)
                acc += pull[:, None] * (f * f)
            d_query = -tl.sum(acc, 0) * tl.load(w_v + n, mask=n < A, other=0.0)
            tl.store(d_queries + at * A + n, d_query, mask=n < A)
        tl.debug_barrier()
        mine = carried + ((L - 1) * b + row) * H
        for n0 in range(0, H, BN):
            n = n0 + tl.arange(0, BN)
            acc = tl.zeros([BK, BN], tl.float32)
            acc = add_product(acc, d_queries + at * A, w_q, n, H, A, H, BK)
            total = tl.load(mine + n, mask=n < H, other=0.0) + tl.sum(acc, 0)
            tl.store(mine + n, total, mask=n < H)
        tl.debug_barrier()

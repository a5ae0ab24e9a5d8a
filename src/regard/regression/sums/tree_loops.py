"""The loops of the tree: building it, the nearest point, the sums."""

from __future__ import annotations

import numpy as np
from numba import njit

from regard.attention.cpu.elementary import exp64

__all__ = ["LEAF", "TOGETHER", "build", "total"]

_options = {"nogil": True, "cache": True, "error_model": "numpy"}
_exact = {**_options, "fastmath": {"contract"}}
_loose = {**_options, "fastmath": {"contract", "reassoc"}}

LEAF = 64
TOGETHER = 16  # queries a thread takes at a time
# Squared distances beyond this have lost digits that matter in exp: the nearest point is found
# again, by differences.
FAR = 1e4


@njit(**_exact)
def _select(x, k, order, low, high, middle):
    """Put the point that is `middle`-th along axis k there, no larger one before it."""
    while high - low > 1:
        a, b, c = x[order[low], k], x[order[(low + high) // 2], k], x[order[high - 1], k]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high - 1
        while i <= j:
            while x[order[i], k] < pivot:
                i += 1
            while x[order[j], k] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j + 1
        elif middle >= i:
            low = i
        else:
            return


@njit(**_exact)
def build(x, inverse, order, start, stop, child, low, high):
    """Halve along the widest axis until a leaf's worth is left; the number of nodes."""
    d = x.shape[1]
    start[0], stop[0] = 0, x.shape[0]
    made, node = 1, 0
    while node < made:
        for k in range(d):
            low[node, k] = high[node, k] = x[order[start[node]], k]
        for s in range(start[node], stop[node]):
            for k in range(d):
                at = x[order[s], k]
                low[node, k] = min(low[node, k], at)
                high[node, k] = max(high[node, k], at)
        child[node] = -1
        if stop[node] - start[node] > LEAF:
            widest, size = 0, -1.0
            for k in range(d):
                wide = (high[node, k] - low[node, k]) * inverse[k]
                if wide > size:
                    widest, size = k, wide
            middle = (start[node] + stop[node]) // 2
            _select(x, widest, order, start[node], stop[node], middle)
            child[node] = made
            start[made], stop[made] = start[node], middle
            start[made + 1], stop[made + 1] = middle, stop[node]
            made += 2
        node += 1
    return made


@njit(**_exact)
def _apart(q, low, high, inverse):
    """The squared distance of a query from a node's bounds."""
    square = 0.0
    for k in range(q.size):
        u = max(low[k] - q[k], q[k] - high[k], 0.0) * inverse[k]
        square += u * u
    return square


@njit(**_exact)
def _nearest(q, skip, xt, inverse, start, stop, child, low, high, stack, bounds):
    """Position of the nearest point and its squared distance; -1 if there is none."""
    best, where = np.inf, -1
    stack[0], bounds[0], top = 0, _apart(q, low[0], high[0], inverse), 1
    while top:
        top -= 1
        node = stack[top]
        if bounds[top] > best or (bounds[top] == best and where >= 0):
            continue
        if child[node] < 0:
            for s in range(start[node], stop[node]):
                square = 0.0
                for k in range(q.size):
                    u = (q[k] - xt[k, s]) * inverse[k]
                    square += u * u
                if s != skip and (square < best or where < 0):
                    best, where = square, s
            continue
        a, b = child[node], child[node] + 1
        to_a, to_b = _apart(q, low[a], high[a], inverse), _apart(q, low[b], high[b], inverse)
        if to_a < to_b:  # the nearer on top
            a, b, to_a, to_b = b, a, to_b, to_a
        stack[top], bounds[top] = a, to_a
        stack[top + 1], bounds[top + 1] = b, to_b
        top += 2
    return where, best


@njit(**_exact)
def _exponents(q, near, begin, end, xt, inverse, out):
    """Half the squared distance of the near point less that of each, by their differences."""
    for s in range(end - begin):
        out[s] = 0.0
    for k in range(q.size):
        twice, own = 2.0 * (q[k] - xt[k, near]) * inverse[k], xt[k, near]
        for s in range(end - begin):
            apart = (own - xt[k, begin + s]) * inverse[k]
            out[s] -= 0.5 * apart * (twice + apart)


@njit(**_loose)
def _dot(a, b):
    found = 0.0
    for s in range(a.size):
        found += a[s] * b[s]
    return found


@njit(**_loose)
def _add(q, begin, end, xt, ct, inverse, weights, once, twice, k, uk, uuk):
    size = end - begin
    for col in range(ct.shape[0]):
        k[col] += _dot(weights[:size], ct[col, begin:end])
    if not (once or twice):
        return
    for a in range(q.size):
        for col in range(ct.shape[0]):
            one, two = 0.0, 0.0
            for s in range(size):
                u = (q[a] - xt[a, begin + s]) * inverse[a]
                part = u * weights[s] * ct[col, begin + s]
                one += part
                two += u * part
            if once:
                uk[col, a] += one
            if twice:
                uuk[col, a] += two


@njit(**_exact)
def total(
    first, step, which, q, skip, xt, ct, inverse, start, stop, child, low, high,
    lost, once, twice, k, uk, uuk, log_scale,
):  # fmt: skip
    stack, bounds = np.empty(256, np.int64), np.empty(256)
    weights = np.empty(LEAF)
    for s in range(first * TOGETHER, which.size, step * TOGETHER):
        for i in which[s : s + TOGETHER]:
            at = q[i]
            leave = skip[i] if skip.size else -1
            near, square = _nearest(
                at, leave, xt, inverse, start, stop, child, low, high, stack, bounds
            )
            if near < 0:
                continue
            # what the points right beside the nearest add up to, at least
            begin, end = max(near - LEAF // 2, 0), min(near + LEAF // 2, xt.shape[1])
            _exponents(at, near, begin, end, xt, inverse, weights)
            known = 0.0
            for j in range(end - begin):
                if begin + j != leave:
                    known += exp64(min(weights[j], 0.0)) * ct[0, begin + j]
            reach = square + 2.0 * (lost - np.log(known))
            reach = reach * (1.0 + 1e-14) + square * 1e-13
            if square > FAR:
                nearer, most = near, 0.0
                stack[0], top = 0, 1
                while top:
                    top -= 1
                    node = stack[top]
                    if _apart(at, low[node], high[node], inverse) > reach:
                        continue
                    if child[node] >= 0:
                        stack[top], stack[top + 1] = child[node], child[node] + 1
                        top += 2
                        continue
                    _exponents(at, near, start[node], stop[node], xt, inverse, weights)
                    for j in range(stop[node] - start[node]):
                        if weights[j] > most and start[node] + j != leave:
                            nearer, most = start[node] + j, weights[j]
                near, square = nearer, 0.0
                for a in range(at.size):
                    u = (at[a] - xt[a, near]) * inverse[a]
                    square += u * u
            log_scale[i] = -0.5 * square
            stack[0], top = 0, 1
            while top:
                top -= 1
                node = stack[top]
                if _apart(at, low[node], high[node], inverse) > reach:
                    continue
                if child[node] >= 0:
                    stack[top], stack[top + 1] = child[node], child[node] + 1
                    top += 2
                    continue
                begin, end = start[node], stop[node]
                _exponents(at, near, begin, end, xt, inverse, weights)
                for j in range(end - begin):
                    weights[j] = exp64(weights[j])
                if begin <= leave < end:
                    weights[leave - begin] = 0.0
                _add(at, begin, end, xt, ct, inverse, weights, once, twice, k[i], uk[i], uuk[i])

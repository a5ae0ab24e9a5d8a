"""Who looks where, told in words: for screen readers, terminals and browsers without scripts."""
# ruff: noqa: RUF001 - Chinese has commas and colons of its own

from __future__ import annotations

import math
from collections.abc import Sequence

from regard.viewing.heads import Head

__all__ = ["described", "named", "told"]

QUERIES = 40  # of a head that are told of
KEYS = 3  # of a query
SEEN = 0.005  # what rounds to 0 % is not worth telling
MOST = 5  # keys that got most

WORDS = {
    "en": {
        "self": "self-attention",
        "causal": "causal attention",
        "cross": "cross-attention",
        "size": "{n:,} queries, {m:,} keys, {shape}",
        "stats": "The average query: entropy {entropy:.2f} nats, looks {distance:.1f} keys far, "
        "{diagonality:.0f} % near its own place, {first:.0f} % on the first key.",
        "row": "{query} looks at {keys}",
        "nothing": "nothing",
        "more": "... and {count:,} more queries.",
        "most": "Most looked at, by the sum of weights: {keys}.",
        "comma": ", ",
    },
    "zh": {
        "self": "自注意力",
        "causal": "因果注意力",
        "cross": "交叉注意力",
        "size": "{n:,} 个查询，{m:,} 个键，{shape}",
        "stats": "平均每个查询：熵 {entropy:.2f} 奈特，距离 {distance:.1f} 个键，"
        "{diagonality:.0f} % 在自身附近，{first:.0f} % 在第一个键上。",
        "row": "{query} 关注 {keys}",
        "nothing": "无",
        "more": "…… 另有 {count:,} 个查询。",
        "most": "最受关注（权重之和）：{keys}。",
        "comma": "，",
    },
}


def named(tokens: Sequence[str] | None, place: int) -> str:
    """A token, or the number of a place that has none."""
    return str(place) if tokens is None else tokens[place]


def described(head: Head, layer: str, language: str | None) -> str:
    """One line: which head, how large, of what kind."""
    words = WORDS[language or "en"]
    size = words["size"].format(n=head.n, m=head.m, shape=words[head.shape])
    return f"{layer}: {size}" if layer else size


def told(
    head: Head, rows: Sequence[str] | None, cols: Sequence[str] | None, language: str | None = None
) -> list[str]:
    """A line a query with its strongest keys, then the keys that got most.

    >>> import torch
    >>> from regard.viewing.heads import heads_of
    >>> head, = heads_of(torch.tensor([[0.9, 0.1], [0.25, 0.75]]))
    >>> for line in told(head, ["Xi'an", "big"], ["西安", "很大"])[1:]:
    ...     print(line)
    Xi'an looks at 西安 90 %, 很大 10 %
    big looks at 很大 75 %, 西安 25 %
    Most looked at, by the sum of weights: 西安 1.15, 很大 0.85.
    """
    words = WORDS[language or "en"]
    found = head.survey(budget=BUDGET)
    lines = []
    if all(map(math.isfinite, found.stats.values())):
        percent = {name: 100 * found.stats[name] for name in ("diagonality", "first")}
        lines.append(words["stats"].format(**(found.stats | percent)))
    shown = min(head.n, QUERIES)
    top = head.top(min(KEYS, head.m), slice(0, shown))
    for i, (weights, keys) in enumerate(zip(top.weights.tolist(), top.keys.tolist(), strict=True)):
        seen = [
            f"{named(cols, key)} {100 * weight:.0f} %"
            for weight, key in zip(weights, keys, strict=True)
            if SEEN <= weight < math.inf
        ]
        keys_told = words["comma"].join(seen) or words["nothing"]
        lines.append(words["row"].format(query=named(rows, i), keys=keys_told))
    if head.n > shown:
        lines.append(words["more"].format(count=head.n - shown))
    got = found.received.nan_to_num(0.0, 0.0, 0.0).topk(min(MOST, head.m))
    keys_told = words["comma"].join(
        f"{named(cols, key)} {mass:.2f}"
        for mass, key in zip(got.values.tolist(), got.indices.tolist(), strict=True)
    )
    return [*lines, words["most"].format(keys=keys_told)]


BUDGET = 1 << 31  # of ``Head.work``, for the numbers in a text

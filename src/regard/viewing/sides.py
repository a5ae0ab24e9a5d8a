"""Which tokens stand along the sides of each map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from regard.errors import KindError, ShapeError
from regard.viewing.heads import Head
from regard.viewing.tokens import readable

__all__ = ["Tokens", "Words", "sides_of"]

Words: TypeAlias = Sequence[str]
Tokens: TypeAlias = (
    Words | tuple[Words, Words] | Sequence[Words] | Mapping[str, Words | tuple[Words, Words]] | None
)
_Sides: TypeAlias = tuple[Words | None, Words | None]
PAIR = 2
ASK = "regard.viewing.tokens.tokens_of(tokenizer, ids) has those of a text"


def sides_of(
    tokens: Tokens, heads: Sequence[Head]
) -> tuple[list[list[str]], list[tuple[int | None, int | None]]]:
    """The lists of tokens, each once and readable, and for each head which are its two.

    Args:
        tokens: one list for both sides; a tuple (queries, keys); a list of lists, which go where
            their length fits; or one of the first two for each layer, by the beginning of its name.
        heads: whose sides.

    Raises:
        ShapeError: a side has no list of its length, or several.
        KindError: these are no lists of tokens.

    >>> import torch
    >>> from regard.viewing.heads import heads_of
    >>> sides_of((["a", "b"], ["x", "y", "z"]), heads_of(torch.ones(2, 3)))
    ([['a', 'b'], ['x', 'y', 'z']], [(0, 1)])

    """
    found: list[list[str]] = []
    known: dict[tuple[str, ...], int] = {}

    def number(words: Words | None) -> int | None:
        if words is None:
            return None
        key = tuple(words)
        if key not in known:
            known[key] = len(found)
            found.append(readable(words))
        return known[key]

    _check_names(tokens, heads)
    places = []
    for head in heads:
        rows, cols = _chosen(_for_layer(tokens, head.layer), head)
        places.append((number(rows), number(cols)))
    return found, places


def _check_names(tokens: Any, heads: Sequence[Head]) -> None:  # noqa: ANN401 - looked at here
    if not isinstance(tokens, Mapping):
        return
    layers = list(dict.fromkeys(head.layer for head in heads))
    if not any(x.startswith(str(name)) for name in tokens for x in layers):
        got = ", ".join(map(repr, tokens)) or "none"
        msg = (
            f"a dict of tokens must have the beginnings of layers' names, as {layers[0]!r}, got "
            f"{got}; {ASK}"
        )
        raise KindError(msg)


def _for_layer(tokens: Any, layer: str) -> Any:  # noqa: ANN401 - looked at below
    if not isinstance(tokens, Mapping):
        return tokens
    names = [name for name in tokens if layer.startswith(str(name))]
    return tokens[max(names, key=len)] if names else None


def _chosen(tokens: Any, head: Head) -> _Sides:  # noqa: ANN401 - looked at here
    if tokens is None:
        return None, None
    if isinstance(tokens, str) or not isinstance(tokens, Sequence):
        msg = f"tokens must be a list of str, or lists of them, got {type(tokens).__name__}; {ASK}"
        raise KindError(msg)
    if len(tokens) and all(isinstance(token, int) for token in tokens):
        msg = f"tokens must be a list of str, got numbers; {ASK}"
        raise KindError(msg)
    if all(isinstance(token, str) for token in tokens):
        rows, cols = (tokens if len(tokens) == size else None for size in (head.n, head.m))
        if rows is None and cols is None:
            raise ShapeError(_wrong(head, f"one list of {len(tokens):,}"))
        return rows, cols
    lists = [list(words) for words in tokens if isinstance(words, Sequence)]
    if len(lists) < len(tokens) or any(isinstance(words, str) for words in tokens):
        msg = "tokens must be a list of str, or lists of them, got some of both or something else"
        raise KindError(msg)
    if isinstance(tokens, tuple) and len(lists) == PAIR:
        rows, cols = lists
        if (len(rows), len(cols)) == (head.n, head.m):
            return rows, cols
    return _of_length(lists, head.n, head), _of_length(lists, head.m, head)


def _of_length(lists: Sequence[list[str]], size: int, head: Head) -> list[str]:
    fitting = {tuple(words): words for words in lists if len(words) == size}
    if not fitting:
        raise ShapeError(_wrong(head, f"lists of {' and '.join(f'{len(x):,}' for x in lists)}"))
    if len(fitting) > 1:
        msg = (
            f"{len(fitting)} lists of tokens have the length {size:,}, so which of them belongs to "
            f"{_name(head)} cannot be told; give a dict by the names of layers"
        )
        raise ShapeError(msg)
    return next(iter(fitting.values()))


def _name(head: Head) -> str:
    return f"the layer {head.layer!r}" if head.layer else "the map"


def _wrong(head: Head, got: str) -> str:
    return (
        f"tokens must be as many as there are queries and keys: {_name(head)} has n={head.n:,} "
        f"queries and m={head.m:,} keys, got {got}"
    )

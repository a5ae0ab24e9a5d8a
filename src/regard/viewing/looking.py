"""One line to look at attention, whatever it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from regard.errors import KindError, ShapeError, StateError, ValueRangeError
from regard.viewing.captured import Captures
from regard.viewing.document import LIMIT, Drawn
from regard.viewing.heads import DenseHead, Head, heads_of
from regard.viewing.kernel import Kernel, data_of, is_regression, kernel_of
from regard.viewing.sides import Tokens, sides_of
from regard.viewing.steps import joined
from regard.viewing.view import View

__all__ = ["look"]

LANGUAGES = ("en", "zh")
DATA = 2  # x and y
MATRIX, HEADS, BATCHES = 2, 3, 4  # axes of weights


def look(
    source: Any,  # noqa: ANN401 - see below
    tokens: Tokens = None,
    *,
    title: str | None = None,
    entry: int = 0,
    limit: int = LIMIT,
    language: str | None = None,
    backdrop: dict[str, Any] | None = None,
    kernel: str | None = None,
    width: float | None = None,
) -> View:
    """Look at attention: what a notebook shows, what ``save`` writes, what ``show`` draws.

    Args:
        source: what ``regard.capture`` recorded, or one call of it; the steps of a generation are
            one map; weights [..., n, m], a tensor or an array, or a list of them, one a layer, as
            [b, heads, n, m] or [heads, n, m]; a dict of such things by name, to compare models; a
            fitted NadarayaWatson of one feature; or data (x, y), as a tuple.
        tokens: one list for queries and keys alike; a tuple (queries, keys); a list of lists, each
            put where its length fits; or a dict of such by the beginnings of layers' names. As the
            tokenizer writes them; ``regard.viewing.tokens.tokens_of`` asks it. None: places are
            counted.
        title: above it all.
        entry: which entry of the batch; of a regression which output.
        limit: bytes that a page's numbers take at most, in base64; what is more is pooled.
        language: "en" or "zh"; None: the reader's.
        backdrop: the picture whose patches are the keys, by ``regard.viewing.backdrop``.
        kernel: of data (x, y): a name, as "gaussian".
        width: of that kernel; None: a rule of thumb.

    >>> import torch
    >>> from regard import look
    >>> view = look(torch.tensor([[0.9, 0.1], [0.25, 0.75]]), ["▁Hello", "▁world"])
    >>> view.show(width=60)
    2 queries, 2 keys, self-attention
           Hello world
    Hello  █████ ░░░░░
    world  ▒▒▒▒▒ █████

    """
    _check(limit, language, title)
    how: dict[str, Any] = {"title": title or "", "limit": limit, "language": language}
    data: Kernel | None = None
    if is_regression(source):
        data = kernel_of(source, entry)
    elif isinstance(source, tuple) and len(source) == DATA and _axes(source[1]) == 1:
        data = data_of(source[0], source[1], kernel, width)
    elif kernel is not None or width is not None:
        msg = "kernel and width belong to data (x, y), and source is none"
        raise KindError(msg)
    if data is not None:
        if tokens is not None:
            msg = "tokens belong to attention weights; of a regression leave them out"
            raise KindError(msg)
        return View(kernel=data, **how)
    models: Mapping[str, Any] = source if isinstance(source, Mapping) else {"": source}
    pairs: list[tuple[str, Head]] = [
        (str(name), head) for name, one in models.items() for head in _heads(one, entry)
    ]
    if not pairs:
        msg = (
            "there is nothing to look at: no attention was captured; run the model inside "
            "`with regard.capture(model) as seen:`"
        )
        raise StateError(msg)
    if any(isinstance(head, DenseHead) and bool((head.weights < 0).any()) for _, head in pairs):
        msg = "weights must not be below 0; are these scores? Take their softmax over the keys"
        raise ValueRangeError(msg)
    empty = next((head for _, head in pairs if not (head.n and head.m)), None)
    if empty is not None:
        msg = f"weights to look at must not be empty, got n={empty.n} queries and m={empty.m} keys"
        raise ShapeError(msg)
    words, places = sides_of(tokens, [head for _, head in pairs])
    drawn = [
        Drawn(head, rows, cols, model)
        for (model, head), (rows, cols) in zip(pairs, places, strict=True)
    ]
    return View(drawn, words, backdrop=backdrop, **how)


def _axes(x: object) -> int:
    return int(getattr(x, "ndim", 1))  # a list of numbers has one


def _heads(source: Any, entry: int) -> list[Head]:  # noqa: ANN401 - as look has it
    """The heads of one model; a list of weights has a layer for each that is not None."""
    if isinstance(source, torch.nn.Module):
        msg = (
            f"a model is looked at while it runs: with regard.capture(model) as seen: model(...), "
            f"then look(seen), got {type(source).__name__}"
        )
        raise KindError(msg)
    if isinstance(source, Captures):
        return heads_of(joined(source), entry)
    if not isinstance(source, (list, tuple)) or not all(
        x is None or _axes(x) >= MATRIX for x in source
    ):
        return heads_of(source, entry)
    found: list[Head] = []
    for i, weights in enumerate(source):
        if weights is None:
            continue
        if _axes(weights) == BATCHES and not 0 <= entry < len(weights):
            msg = (
                f"entry must be one of the {len(weights)} entries of the batch, from 0 on, got "
                f"{entry!r}"
            )
            raise ValueRangeError(msg)
        one = torch.as_tensor(weights[entry] if _axes(weights) == BATCHES else weights)
        if one.ndim > HEADS:
            msg = f"weights of a layer must be [b, heads, n, m], got {list(one.shape)}"
            raise ShapeError(msg)
        heads = one if one.ndim == HEADS else one[None]
        found += [DenseHead(head, str(i), number) for number, head in enumerate(heads)]
    return found


def _check(limit: int, language: str | None, title: str | None) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        msg = f"limit must be a number of bytes, at least 1, got {limit!r}"
        raise ValueRangeError(msg)
    if language is not None and language not in LANGUAGES:
        msg = f"language must be 'en', 'zh' or None, got {language!r}"
        raise ValueRangeError(msg)
    if title is not None and not isinstance(title, str):
        msg = f"title must be a str, got {type(title).__name__}"
        raise KindError(msg)

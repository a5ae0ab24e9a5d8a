"""Many sentences searched at once, in batches of about one length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import torch

from regard.tasks.translation.search import Found, Scorer, search
from regard.tasks.vocabulary import PAD

__all__ = ["search_in_batches"]

TOGETHER = 4096  # tokens of a batch, in all hypotheses


def search_in_batches(
    model: Scorer,
    sources: Sequence[Sequence[int]],
    limits: Sequence[int],
    *,
    turn: AbstractContextManager[object],
    device: torch.device,
    beam: int,
    n_best: int,
    length_penalty: float,
    tell: Callable[[float], None],
) -> list[list[Found]]:
    """What ``search`` finds for each of the sources, in their order.

    Args:
        model: see ``Scorer``.
        sources: token numbers, none of them empty.
        limits: the most tokens of each translation.
        turn: held while the model works; between two batches others may have theirs.
        device: where the model is.
        beam: see ``search``.
        n_best: likewise.
        length_penalty: likewise.
        tell: called with the part that is done, from 0 to 1.

    """
    found: list[list[Found]] = [[] for _ in sources]
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    done = 0
    while done < len(order):
        longest = len(sources[order[done]])
        rows = order[done : done + max(TOGETHER // (longest * beam), 1)]
        source = torch.full((len(rows), longest), PAD)
        for row, i in enumerate(rows):
            source[row, : len(sources[i])] = torch.tensor(sources[i])
        lengths = torch.tensor([len(sources[i]) for i in rows])
        with turn, torch.inference_mode():
            best = search(
                model,
                source.to(device),
                lengths.to(device),
                beam=beam,
                n_best=n_best,
                length_penalty=length_penalty,
                max_len=[limits[i] for i in rows],
            )
        for i, ways in zip(rows, best, strict=True):
            found[i] = ways
        done += len(rows)
        tell(done / len(order))
    return found

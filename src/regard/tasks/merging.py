"""Other ways to cut words into subwords of merged pairs: BPE-dropout, drawn anew for each seed.

A word begins as its characters. Of all neighbours that make a piece together, the earliest learned
is merged, again and again. With dropout each merge, when its turn comes, is left out by chance.
sentencepiece has it too, but its chances cannot be repeated in another process.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regard.tasks.ragged import Ragged
from regard.tasks.sampling import units_of

__all__ = ["Merger"]

WAYS = 8  # in which one word is cut in one draw, however often it occurs


class Merger:
    """Segmentations of fixed lines, with a share of the merges left out.

    Args:
        lines: normalised texts.
        pieces: the id of each piece.
        scores: by id; the greater, the earlier a piece is merged.
        spell: ids of the bytes, for characters no piece has.
        share: of the merges that are left out.

    """

    def __init__(
        self,
        lines: Sequence[str],
        pieces: Mapping[str, int],
        scores: NDArray[np.float64],
        spell: Sequence[int],
        share: float,
    ) -> None:
        self._units, self._used, self._starts = units_of(lines, pieces)
        self._ranks = {piece: -float(scores[i]) for piece, i in pieces.items()}
        self._pieces, self._spell, self._share = pieces, spell, share

    def draw(self, seed: int | Sequence[int]) -> Ragged:
        """A segmentation of every line; the same seed gives the same."""
        rng = np.random.default_rng(seed)
        chance = random.Random(int(rng.integers(1 << 62))).random  # noqa: S311 - no secret
        counts = np.bincount(self._used, minlength=len(self._units))
        ways = np.minimum(counts, WAYS)
        rows = [
            self._merged(unit, chance)
            for unit, count in zip(self._units, ways.tolist(), strict=True)
            for _ in range(count)
        ]
        first = np.concatenate([np.zeros(1, np.int64), np.cumsum(ways)])
        which = (rng.random(len(self._used)) * ways[self._used]).astype(np.int64)
        found = Ragged.of(rows).take(first[self._used] + which)
        return Ragged(found.flat, found.starts[self._starts])

    def _merged(self, unit: str, chance: Callable[[], float]) -> list[int]:
        ranks, share = self._ranks, self._share
        parts = list(unit)
        after = [*range(1, len(parts)), -1]
        before = [*range(-1, len(parts) - 1)]
        waiting = [
            (ranks[a + b], i, a + b) for i, (a, b) in enumerate(pairwise(parts)) if a + b in ranks
        ]
        heapify(waiting)
        while waiting:
            _, i, piece = heappop(waiting)
            j = after[i]
            # neighbours that have merged with others since are no longer what they were
            if j < 0 or not parts[i] or parts[i] + parts[j] != piece:
                continue
            if share and chance() < share:
                continue
            parts[i], parts[j] = piece, ""
            after[i] = k = after[j]
            if k >= 0:
                before[k] = i
                if (longer := piece + parts[k]) in ranks:
                    heappush(waiting, (ranks[longer], i, longer))
            h = before[i]
            if h >= 0 and (longer := parts[h] + piece) in ranks:
                heappush(waiting, (ranks[longer], h, longer))
        ids: list[int] = []
        for part in parts:
            if part in self._pieces:
                ids.append(self._pieces[part])
            else:
                ids += [self._spell[byte] for byte in part.encode()]
        return ids

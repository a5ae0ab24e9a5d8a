"""Other ways to cut words into subwords, drawn anew for each seed.

A unigram vocabulary gives each piece a probability, and a text's segmentations the product of
theirs. Subword regularisation draws one by p^alpha. All segmentations of a text are the paths of a
lattice: its nodes are the places between characters, its edges the pieces that fit. Sums over all
paths to a node (forward) make a distribution over the edges that end there; drawing edges from the
end back to the start (backward) draws a path with its exact probability.

Nothing of the first part depends on the seed, so it is done once; an epoch costs one draw for each
token. Equal words share their lattice. The numbers come from numpy's generator: sentencepiece's own
reads its seed only once in the life of a thread, and could not be repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regard.tasks.ragged import Ragged

__all__ = ["SPACE", "Sampler", "units_of"]

SPACE = "▁"  # how pieces write a space
UNKNOWN = 10.0  # sentencepiece: a character without a piece is this much below the worst piece
BITS = 21  # of a Unicode character


def units_of(
    lines: Sequence[str], pieces: Iterable[str]
) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """What lines are made of and can be cut by itself: words, each once, or whole lines.

    Returns:
        The units; the number of each one's unit where they occur; for each line where its first
        occurrence stands among them, and where the last line ends.

    """
    # pieces that begin with a space and have no other let words be cut one by one
    by_word = not any(SPACE in piece[1:] for piece in pieces)
    units: dict[str, int] = {}
    lengths = np.zeros(len(lines) + 1, np.int64)
    used: list[int] = []
    for i, line in enumerate(lines, start=1):
        if line:
            words = line.split(" ") if by_word else [line.replace(" ", SPACE)]
            used += [units.setdefault(SPACE + word, len(units)) for word in words]
            lengths[i] = len(words)
    return list(units), np.array(used, np.int64), np.cumsum(lengths)


class Sampler:
    """Segmentations of fixed lines, drawn by p^alpha.

    Args:
        lines: normalised texts.
        pieces: the id of each piece.
        scores: log p by id.
        spell: ids of the bytes, for characters no piece has.
        alpha: 1 draws as the vocabulary says, towards 0 all segmentations become alike.

    """

    def __init__(
        self,
        lines: Sequence[str],
        pieces: Mapping[str, int],
        scores: NDArray[np.float64],
        spell: Sequence[int],
        alpha: float,
    ) -> None:
        units, self._used, self._starts = units_of(lines, pieces)
        self._lattice(units, pieces, scores, spell, alpha)

    def _lattice(
        self,
        units: list[str],
        pieces: Mapping[str, int],
        scores: NDArray[np.float64],
        spell: Sequence[int],
        alpha: float,
    ) -> None:
        text = "".join(f"{unit}\0" for unit in units)
        letters = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.int64)
        ends = np.flatnonzero(letters == 0)
        begins = np.concatenate([np.zeros(1, np.int64), ends + 1])[: len(ends)]
        begin, end, code, rows = _edges(letters, pieces, spell, len(scores))
        worst = min((scores[i] for i in pieces.values()), default=0.0) - UNKNOWN
        score = np.concatenate([scores, np.full(len(rows) - len(scores), worst)])[code] * alpha
        depths = np.arange(len(letters)) - np.repeat(begins, ends + 1 - begins)
        order = np.lexsort((end, depths[end]))
        begin, end, code, score = begin[order], end[order], code[order], score[order]
        self._table, self._unit_ends = Ragged.of(rows), ends
        self._begin, self._code, self._inside = begin, code, depths > 0
        self._first = np.zeros(len(letters), np.int64)
        self._cumulative = np.empty(len(end))
        total = np.zeros(len(letters))  # log of the sum over all paths to a node
        cuts = np.flatnonzero(np.diff(depths[end], prepend=0, append=0))
        for low, high in pairwise(cuts):  # one depth after the other
            here = end[low:high]
            firsts = np.flatnonzero(np.diff(here, prepend=-1))
            counts = np.diff(firsts, append=high - low)
            paths = total[begin[low:high]] + score[low:high]
            top = np.maximum.reduceat(paths, firsts)
            chances = np.exp(paths - np.repeat(top, counts))
            sums = np.add.reduceat(chances, firsts)
            total[here[firsts]] = top + np.log(sums)
            self._first[here[firsts]] = firsts + low
            running = np.cumsum(chances / np.repeat(sums, counts))
            before = np.concatenate([np.zeros(1), running])[firsts]
            running -= np.repeat(before, counts)
            running[firsts + counts - 1] = 2.0  # rounding must not lead past the last edge
            self._cumulative[low:high] = running

    def draw(self, seed: int | Sequence[int]) -> Ragged:
        """A segmentation of every line; the same seed gives the same."""
        rng = np.random.default_rng(seed)
        walking = np.arange(len(self._used))
        nodes = self._unit_ends[self._used]
        walked, taken = [], []
        while walking.size:
            chance = rng.random(walking.size)
            edges = self._first[nodes]
            on = np.flatnonzero(chance >= self._cumulative[edges])
            while on.size:
                edges[on] += 1
                on = on[chance[on] >= self._cumulative[edges[on]]]
            walked.append(walking)
            taken.append(self._code[edges])
            nodes = self._begin[edges]
            inside = self._inside[nodes]
            walking, nodes = walking[inside], nodes[inside]
        return self._in_order(walked, taken)

    def _in_order(self, walked: list[NDArray[np.int64]], taken: list[NDArray[np.int64]]) -> Ragged:
        """The codes taken at each step by those still walking, as the rows they belong to."""
        counts = np.zeros(len(self._used), np.int64)
        for who in walked:
            counts[who] += 1
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        codes = np.empty(starts[-1], np.int64)
        for step, (who, code) in enumerate(zip(walked, taken, strict=True), start=1):
            codes[starts[who + 1] - step] = code  # they walk from the end to the start
        found = self._table.take(codes)
        return Ragged(found.flat, found.starts[starts[self._starts]])


def _edges(
    letters: NDArray[np.int64], pieces: Mapping[str, int], spell: Sequence[int], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], list[list[int]]]:
    """Where each fitting piece begins and ends, its code, and the ids a code stands for.

    All places walk down the tree of the pieces together, a letter at a time.
    """
    keys, below, ids = _tree(pieces)
    begins, ends, codes = [], [], []
    places = np.flatnonzero(letters)
    at = np.zeros(len(places), np.int64)
    known = letters == 0
    length = 0
    while places.size:
        wanted = at << BITS | letters[places + length]
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        hit = keys[found] == wanted
        places, at = places[hit], below[found[hit]]
        length += 1
        piece = ids[at] >= 0
        begins.append(places[piece])
        ends.append(places[piece] + length)
        codes.append(ids[at[piece]])
        if length == 1:
            known[places[piece]] = True
    strange = np.flatnonzero(~known)
    values, which = np.unique(letters[strange], return_inverse=True)
    rows = [[i] for i in range(size)]
    rows += [[spell[byte] for byte in chr(value).encode()] for value in values]
    begins.append(strange)
    ends.append(strange + 1)
    codes.append(which.reshape(-1) + size)
    return np.concatenate(begins), np.concatenate(ends), np.concatenate(codes), rows


def _tree(
    pieces: Mapping[str, int],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The pieces as a tree: (node, letter) sorted, the node below each, the id at each node."""
    below: dict[int, int] = {-1: 0}  # a step nobody takes, so that there is one
    ids = [-1]
    for piece, number in pieces.items():
        node = 0
        for letter in piece:
            key = node << BITS | ord(letter)
            if key not in below:
                below[key] = len(ids)
                ids.append(-1)
            node = below[key]
        ids[node] = number
    keys = np.fromiter(below, np.int64, len(below))
    nodes = np.fromiter(below.values(), np.int64, len(below))
    order = np.argsort(keys)
    return keys[order], nodes[order], np.array(ids, np.int64)

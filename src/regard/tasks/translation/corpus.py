"""The pairs of a training: those it learns from, those it is judged by."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regard.errors import FileError, ValueRangeError
from regard.tasks.pairs import Pair, read_pairs
from regard.tasks.translation.names import names_in, swapped, unstopped

__all__ = ["Corpus", "held_out", "read_corpus"]

HELD_OUT, MOST = 0.02, 1000  # of the pairs, when nobody gave pairs to validate with


@dataclass(frozen=True)
class Corpus:
    """Pairs to learn from, a list a file, and pairs to be judged by.

    Args:
        files: the pairs of each data file.
        repeats: how often an epoch sees each of them.
        valid: pairs the training never learns from.
        report: what was kept and dropped, in lines for a reader.
        made: pairs made from those of the files, for an epoch to see beside them.

    """

    files: tuple[tuple[Pair, ...], ...]
    repeats: tuple[int, ...]
    valid: tuple[Pair, ...]
    report: tuple[str, ...] = ()
    made: tuple[Pair, ...] = ()

    @property
    def pairs(self) -> list[Pair]:
        """All to learn from, each once."""
        return [pair for pairs in self.files for pair in pairs]

    def epoch(self) -> list[Pair]:
        """What an epoch sees, before it is shuffled."""
        again = zip(self.files, self.repeats, strict=True)
        seen = [pair for pairs, times in again for _ in range(times) for pair in pairs]
        return [*seen, *self.made]

    def with_made(self, copies: int, part: float, seed: int, file: int = 0) -> Corpus:
        """Beside these pairs some made of them: see ``regard.tasks.translation.names``.

        Names that are put into sentences are those of one file, counted from 1; 0: of all.

        Raises:
            ValueRangeError: there is no such file.

        """
        if file > len(self.files):
            there = (
                "is 1 data file" if len(self.files) == 1 else f"are {len(self.files)} data files"
            )
            msg = f"swap_from must be from 0 to {len(self.files)}, as there {there}; got {file}"
            raise ValueRangeError(msg)
        pairs = self.pairs
        chosen = None
        if file:  # and without a last letter, which ``names_in`` may have left out
            own = [pair.source for pair in self.files[file - 1]]
            chosen = {*own, *(name[:-1] for name in own)}
        more = swapped(pairs, names_in(pairs), copies, seed, chosen) if copies else []
        more += unstopped([*pairs, *more], part, seed)
        line = f"{len(more):,} pairs are made of these, with other names or without a full stop"
        return replace(self, made=tuple(more), report=(*self.report, line) if more else self.report)

    @property
    def sha256(self) -> str:
        """A fingerprint: a run goes on with the data it began with, or not at all."""
        digest = hashlib.sha256(repr(self.repeats).encode())
        for pairs in (*self.files, self.valid):
            digest.update(f"{len(pairs)}\n".encode())
            for pair in pairs:
                digest.update(f"{pair.source}\t{pair.target}\n".encode())
        return digest.hexdigest()


def read_corpus(data: Sequence[Path], valid: Path | None, repeats: Sequence[int]) -> Corpus:
    """Read the files; without ``valid`` some pairs are held out.

    Raises:
        FileError: a file has no pair that can be used, or there are too few to hold some out.

    """
    read = [read_pairs(path) for path in data]
    report = [line for pairs in read for line in pairs.report()]
    files = tuple(tuple(pairs.pairs) for pairs in read)
    if valid is not None:
        judged = read_pairs(valid)
        return Corpus(files, tuple(repeats), tuple(judged.pairs), (*report, *judged.report()))
    sources = held_out(pair.source for pairs in files for pair in pairs)
    kept = tuple(tuple(p for p in pairs if p.source not in sources) for pairs in files)
    apart = [p for pairs in files for p in pairs if p.source in sources]
    if not apart or not any(kept):
        names = ", ".join(map(str, data))
        msg = (
            f"{names}: pairs of at least 2 different sources are needed, to learn from some and "
            "be judged by others; give more data, or --valid with a file of its own"
        )
        raise FileError(msg)
    are = "pair is" if len(apart) == 1 else "pairs are"
    report.append(f"{len(apart):,} {are} held out for validation")
    return Corpus(kept, tuple(repeats), tuple(apart), tuple(report))


def held_out(sources: Iterable[str]) -> set[str]:
    """Sources of about 2 % of the pairs, at most 1,000 pairs, chosen by their hash.

    All pairs of a source go together: what is judged was never learned. The choice depends on the
    sentences alone, not on their order, and hardly changes when pairs are added.

    >>> len(held_out(f"sentence {i}" for i in range(500)))
    10
    """
    counts = Counter(sources)
    wanted = min(MOST, max(1, round(HELD_OUT * counts.total())))
    chosen: set[str] = set()
    taken = 0
    if len(counts) > 1:
        for source in sorted(counts, key=_hash):
            if taken and taken + counts[source] > wanted:
                break
            chosen.add(source)
            taken += counts[source]
    return chosen


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

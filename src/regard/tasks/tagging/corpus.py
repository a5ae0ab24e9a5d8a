"""The sentences of a training: those it learns from, those it is judged by."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.errors import FileError
from regard.tasks.findings import counted
from regard.tasks.labels import labels_to_learn, never_seen
from regard.tasks.tagged import Sentence, read_tagged
from regard.tasks.tagging.settings import TaggingSettings

__all__ = ["Corpus", "held_out", "read_corpus"]

HELD_OUT, MOST = 0.05, 2000  # of the sentences, when nobody gave any to validate with


@dataclass(frozen=True)
class Corpus:
    """Sentences to learn from, and sentences to be judged by.

    Args:
        train: to learn from.
        valid: the training never learns from them.
        where: the files, for messages.
        report: what was kept and dropped, in lines for a reader.

    """

    train: tuple[Sentence, ...]
    valid: tuple[Sentence, ...]
    where: str
    report: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """A fingerprint: a run goes on with the data it began with, or not at all."""
        digest = hashlib.sha256()
        for sentences in (self.train, self.valid):
            digest.update(f"{len(sentences)}\n".encode())
            for x in sentences:
                digest.update(repr((x.words, x.labels, x.also)).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def read_corpus(data: Sequence[Path], valid: Path | None, settings: TaggingSettings) -> Corpus:
    """Read the files; without ``valid`` some sentences are held out.

    Raises:
        FileError: no sentence can be used, all labels are the same, or there are too few sentences
            to hold some out.

    """
    columns = {"column": settings.column, "also": settings.auxiliary}
    read = read_tagged(*data, **columns)
    report, train = read.report(), read.sentences
    where = ", ".join(map(str, data))
    labels = labels_to_learn((label for x in train for label in x.labels), where)
    if settings.auxiliary and not any(label for x in train for label in x.also):
        report.append(f"{where}: no {settings.auxiliary} is there, so it is not learned beside")
    if valid is not None:
        judged = read_tagged(valid, **columns)
        report += judged.report()
        of_valid = (label for x in judged for label in x.labels)
        report += never_seen(of_valid, labels, str(valid))
        return Corpus(train, judged.sentences, where, tuple(report))
    chosen = held_out(train)
    kept = tuple(x for x in train if x.words not in chosen)
    apart = tuple(x for x in train if x.words in chosen)
    if not kept or not apart:
        msg = (
            f"{where}: at least 2 different sentences are needed, to learn from some and be judged "
            "by others; give more data, or --valid with a file of its own"
        )
        raise FileError(msg)
    report.append(f"{counted(len(apart), 'sentence')} held out for validation")
    return Corpus(kept, apart, where, tuple(report))


def held_out(sentences: Sequence[Sentence]) -> set[tuple[str, ...]]:
    """Words of about 5 % of the sentences, at most 2,000, chosen by their hash.

    Equal sentences go together: what is judged was never learned. The choice depends on the
    sentences alone, not on their order, and hardly changes when some are added.
    """
    counts = Counter(x.words for x in sentences)
    wanted = min(MOST, max(1, round(HELD_OUT * len(sentences))))
    chosen: set[tuple[str, ...]] = set()
    taken = 0
    if len(counts) > 1:
        for words in sorted(counts, key=_hash):
            if taken and taken + counts[words] > wanted:
                break
            chosen.add(words)
            taken += counts[words]
    return chosen


def _hash(words: tuple[str, ...]) -> bytes:
    return hashlib.sha256(repr(words).encode("utf-8", "surrogatepass")).digest()

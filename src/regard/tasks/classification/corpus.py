"""The examples of a training: those it learns from, those it is judged by."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.errors import FileError
from regard.tasks.classification.examples import Example, read_examples
from regard.tasks.classification.settings import ClassificationSettings
from regard.tasks.findings import counted
from regard.tasks.labels import labels_to_learn, never_seen

__all__ = ["Corpus", "held_out", "read_corpus"]

HELD_OUT, MOST = 0.1, 5000  # of the examples, when nobody gave any to validate with


@dataclass(frozen=True)
class Corpus:
    """Examples to learn from, and examples to be judged by.

    Args:
        kind: "text", "sound" or "images".
        train: to learn from.
        valid: the training never learns from them.
        labels: the different labels of ``train``.
        report: what was kept and dropped, in lines for a reader.

    """

    kind: str
    train: tuple[Example, ...]
    valid: tuple[Example, ...]
    labels: tuple[str, ...]
    report: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """A fingerprint: a run goes on with the data it began with, or not at all."""
        digest = hashlib.sha256(self.kind.encode())
        for examples in (self.train, self.valid):
            digest.update(f"{len(examples)}\n".encode())
            for example in examples:
                digest.update(example.digest + f"{example.label}\n".encode())
        return digest.hexdigest()


def read_corpus(
    data: Sequence[Path], valid: Path | None, settings: ClassificationSettings
) -> Corpus:
    """Read the data; without ``valid`` a tenth of each label is held out.

    Raises:
        FileError: data of several kinds, of one label, or too few to hold some out.

    """
    read = [read_examples(path, settings, settings.input) for path in data]
    kind = read[0].kind
    judged = None if valid is None else read_examples(valid, settings, settings.input)
    for path, examples in zip(
        [*data, *([] if valid is None else [valid])],
        [*read, *([] if judged is None else [judged])],
        strict=True,
    ):
        if examples.kind != kind:
            msg = (
                f"{path}: holds {examples.kind}, and {data[0]} holds {kind}; a classifier takes "
                "one kind, give --input if this is a mistake"
            )
            raise FileError(msg)
    report = [line for examples in read for line in examples.report]
    train = tuple(example for examples in read for example in examples.all)
    names = ", ".join(map(str, data))
    labels = labels_to_learn((example.label for example in train), names)
    if judged is not None:
        report += judged.report
        report += never_seen((x.label for x in judged.all), labels, str(valid))
        return Corpus(kind, train, judged.all, labels, tuple(report))
    apart = held_out(train)
    if not apart:
        msg = (
            f"{names}: a label with at least 2 different examples is needed, to learn from some "
            "and be judged by others; give more data, or --valid with examples of its own"
        )
        raise FileError(msg)
    report.append(
        f"{counted(len(apart), 'example')} held out for validation, of each label "
        f"{_share(len(train)):.3g} %"
    )
    kept = tuple(x for i, x in enumerate(train) if i not in apart)
    return Corpus(kind, kept, tuple(train[i] for i in sorted(apart)), labels, tuple(report))


def _share(count: int) -> float:
    """Per cents to hold out of so many."""
    return 100 * min(HELD_OUT, MOST / max(count, 1))


def held_out(examples: Sequence[Example]) -> set[int]:
    """Which to hold out: of each label a tenth, of all together some 5,000 at most.

    They are chosen by their content, and equal ones go together: what is judged was never learned.
    Of each label something is left to learn from, and if it can be something to be judged by.
    """
    of_label: dict[str, dict[bytes, list[int]]] = defaultdict(lambda: defaultdict(list))
    where: dict[bytes, set[str]] = defaultdict(set)
    for i, example in enumerate(examples):
        of_label[example.label][example.digest].append(i)
        where[example.digest].add(example.label)
    part = _share(len(examples)) / 100
    chosen: set[int] = set()
    for found in of_label.values():
        # one content under two labels: held out under one it would be learned under the other
        alone = sorted(digest for digest in found if len(where[digest]) == 1)
        wanted = max(1, round(part * sum(map(len, found.values()))))
        taken = 0
        for digest in alone[: len(found) - 1]:
            if taken and taken + len(found[digest]) > wanted:
                break
            chosen.update(found[digest])
            taken += len(found[digest])
    return chosen

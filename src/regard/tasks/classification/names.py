"""The labels of a classifier, as a run keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from regard.errors import FileError

__all__ = ["names_from", "names_to"]


def names_to(labels: Sequence[str]) -> bytes:
    r"""A JSON list.

    >>> names_to(["cat", "dog"])
    b'["cat", "dog"]\n'
    """
    return (json.dumps(list(labels)) + "\n").encode()


def names_from(learned: Mapping[str, bytes], where: str) -> tuple[str, ...]:
    """The labels a run keeps.

    Raises:
        FileError: they are damaged, or something else; ``where`` is how messages name it.

    """
    try:
        labels = json.loads(learned["labels"])
        good = isinstance(labels, list) and len(labels) > 1
        good = good and all(isinstance(label, str) and label for label in labels)
        good = good and len(set(labels)) == len(labels)
    except (KeyError, ValueError, RecursionError):
        good = False
    if not good:
        msg = f"{where}: labels.model is not what `regard train classification` writes"
        raise FileError(msg)
    return tuple(labels)

"""Examples that are ready to be learned from: numbers when asked for, and the label's number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from regard.errors import FileError
from regard.tasks.classification.examples import Example
from regard.tasks.classification.forms import Form

__all__ = ["NONE", "Ready", "ready"]

Numbers: TypeAlias = NDArray[Any]

NONE = -1  # the number of a label that is none of the known


class Ready(NamedTuple):
    """An example in numbers.

    Args:
        shape: of the prepared numbers, see ``regard.tasks.classification.forms``.
        load: gives them.
        label: its number, or ``NONE``.

    """

    shape: tuple[int, ...]
    load: Callable[[], Numbers]
    label: int


def ready(examples: Sequence[Example], form: Form, labels: Sequence[str]) -> list[Ready]:
    """The examples in numbers; texts are cut into subwords here, once."""
    numbers = {label: i for i, label in enumerate(labels)}
    found = []
    for example in examples:
        label = numbers.get(example.label, NONE)
        if form.kind == "text":
            ids = form.prepared(example.load())
            found.append(Ready(ids.shape, partial(_this, ids), label))
        else:
            shape = form.shape(example.shape)
            found.append(Ready(shape, partial(_loaded, example, form, shape), label))
    return found


def _this(numbers: Numbers) -> Numbers:
    return numbers


def _loaded(example: Example, form: Form, shape: tuple[int, ...]) -> Numbers:
    numbers = form.prepared(example.load())
    if numbers.shape != shape:
        msg = f"{example.name}: was changed since the training began; put it back, or begin anew"
        raise FileError(msg)
    return numbers

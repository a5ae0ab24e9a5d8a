"""The form of examples that a run keeps, read again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from regard.errors import FileError
from regard.tasks.classification.forms import Form, Images, Sounds, Texts
from regard.tasks.mel import Mel
from regard.tasks.vocabulary import Vocabulary

__all__ = ["form_from"]

MOST = 1 << 16  # features of a frame, or channels


def form_from(learned: Mapping[str, bytes], where: str) -> Form:
    """The form a run keeps.

    Raises:
        FileError: it is damaged, or of something else; ``where`` is how messages name it.

    """
    try:
        return _form(json.loads(learned["input"]), learned, where)
    except FileError:
        raise
    except (KeyError, TypeError, ValueError, RecursionError) as cause:
        msg = f"{where}: input.model is not what `regard train classification` writes"
        raise FileError(msg) from cause


def _form(told: dict[str, Any], learned: Mapping[str, bytes], where: str) -> Form:
    """The form that JSON tells of; what is wrong raises any error of a wrong value."""
    kind = told["kind"]
    if kind == "text":
        return Texts(Vocabulary(learned["words"], name=f"{where}: words.model"))
    mean, deviation = _numbers(told["mean"]), _numbers(told["deviation"])
    if len(mean) == len(deviation) and min(deviation) > 0:
        if kind == "sound" and told["features"] == len(mean):
            rate, features = _whole(told["rate"]), _whole(told["features"])
            mel = Mel(rate=rate, features=features, hop=told["hop"], window=told["window"])
            return Sounds(mel, mean, deviation)
        if kind == "images" and len(mean) in {1, 3}:
            return Images(_whole(told["patch"]), mean, deviation)
    raise ValueError


def _numbers(values: object) -> list[float]:
    if not isinstance(values, list) or not 1 <= len(values) <= MOST:
        raise ValueError
    if not all(isinstance(x, float) and math.isfinite(x) for x in values):
        raise ValueError
    return values


def _whole(value: object) -> int:
    if type(value) is not int or not 1 <= value <= MOST * MOST:
        raise ValueError
    return value

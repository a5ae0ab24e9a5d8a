"""What a page calls its maps where they are neither layers nor heads."""
# ruff: noqa: RUF001, RUF002 - Chinese has commas of its own

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from regard.viewing.notes import Note

__all__ = ["Called", "looks", "sentence", "translations"]


class Called(NamedTuple):
    """Words for the reader, in each language.

    Args:
        heads: what stands above all of them; None: heads they are.
        head: one of them, before its number.
        layers: what a layer is called, by its name; those that are missing keep it.

    """

    heads: Note | None
    head: Note | None
    layers: Mapping[str, Note]


def translations(count: int) -> Called:
    """Ways to say so many sentences: layers are sentences, heads are translations."""
    of_one = {"translation": {"en": "", "zh": ""}}  # there is nothing to tell it from
    return Called(
        {"en": "Translations", "zh": "译文"},
        {"en": "translation", "zh": "译文"},
        of_one if count == 1 else dict(sentence(i) for i in range(1, count + 1)),
    )


def sentence(number: int, layer: int | None = None) -> tuple[str, Note]:
    """The name of a sentence, or of a layer that reads it, and what the page calls it.

    >>> sentence(2, 1)
    ('sentence 2, layer 1', {'en': 'sentence 2, layer 1', 'zh': '第 2 句，层 1'})

    """
    name, named = f"sentence {number}", f"第 {number} 句"
    if layer is not None:
        name, named = f"{name}, layer {layer}", f"{named}，层 {layer}"
    return name, {"en": name, "zh": named}


def looks() -> Called:
    """The looks of a classifier at what it was given."""
    return Called(None, None, {"attention": {"en": "where it looked", "zh": "看向何处"}})

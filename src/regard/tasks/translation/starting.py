"""A translator to begin with, instead of fresh weights: its sizes, vocabularies and numbers."""

from __future__ import annotations

from dataclasses import fields, replace

from regard.errors import ValueRangeError
from regard.tasks.translation.settings import TranslationSettings
from regard.tasks.translation.translator import Translator

__all__ = ["TAKEN", "like", "start_of"]

# what its weights and vocabularies decide
TAKEN = (
    *("model", "width", "hidden", "encoder_layers", "decoder_layers", "heads", "positions", "tied"),
    *("vocab_size", "subwords", "shared_vocab"),
)


def start_of(settings: TranslationSettings) -> Translator | None:
    """The translator that a training begins with; None: with fresh weights."""
    return Translator.load(settings.start_from) if settings.start_from else None


def like(settings: TranslationSettings, start: Translator) -> TranslationSettings:
    """The settings with the sizes of another translator.

    Raises:
        ValueRangeError: one of them was asked for, and is another.

    """
    usual = {field.name: field.default for field in fields(TranslationSettings)}
    for name in TAKEN:
        asked, has = getattr(settings, name), getattr(start.settings, name)
        if asked not in (has, usual[name]):
            msg = f"{name} is {has!r} in {settings.start_from}, got {asked!r}; leave it out"
            raise ValueRangeError(msg)
    return replace(settings, **{name: getattr(start.settings, name) for name in TAKEN})

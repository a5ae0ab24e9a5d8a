"""Translation: train a translator on pairs of sentences, use it, and look at its alignments."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.tasks.translation.settings import TranslationSettings
    from regard.tasks.translation.translated import Translation
    from regard.tasks.translation.translator import Translator

__all__ = ["Translation", "TranslationSettings", "Translator"]

# imported when first asked for: torch takes seconds, and `regard train --help` does without
_HOME = {
    "Translation": "regard.tasks.translation.translated",
    "TranslationSettings": "regard.tasks.translation.settings",
    "Translator": "regard.tasks.translation.translator",
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        value = globals()[name] = getattr(import_module(_HOME[name]), name)
        return value
    msg = f"module 'regard.tasks.translation' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return __all__

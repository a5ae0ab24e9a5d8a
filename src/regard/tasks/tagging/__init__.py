"""Tagging: a sentence's words in, a label for each out, and which words each looked at."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.tasks.tagging.settings import TaggingSettings
    from regard.tasks.tagging.tagged_words import Tagged
    from regard.tasks.tagging.tagger import Tagger

__all__ = ["Tagged", "Tagger", "TaggingSettings"]

# imported when first asked for: torch takes seconds, and `regard train --help` does without
_HOME = {
    "Tagged": "regard.tasks.tagging.tagged_words",
    "Tagger": "regard.tasks.tagging.tagger",
    "TaggingSettings": "regard.tasks.tagging.settings",
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        value = globals()[name] = getattr(import_module(_HOME[name]), name)
        return value
    msg = f"module 'regard.tasks.tagging' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return __all__

"""Classification: a text, a sound or an image in, one label out, and where the model looked."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.tasks.classification.classified import Classified
    from regard.tasks.classification.classifier import Classifier
    from regard.tasks.classification.settings import ClassificationSettings

__all__ = ["ClassificationSettings", "Classified", "Classifier"]

# imported when first asked for: torch takes seconds, and `regard train --help` does without
_HOME = {
    "ClassificationSettings": "regard.tasks.classification.settings",
    "Classified": "regard.tasks.classification.classified",
    "Classifier": "regard.tasks.classification.classifier",
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        value = globals()[name] = getattr(import_module(_HOME[name]), name)
        return value
    msg = f"module 'regard.tasks.classification' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return __all__

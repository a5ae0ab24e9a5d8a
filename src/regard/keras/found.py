"""Keras, or a word about what is missing: itself, or what it runs on."""

from __future__ import annotations

import os

from regard.errors import MissingError
from regard.optional import has, need

__all__ = ["keras", "ops"]

if not has("keras"):
    need("keras", extra="keras", why="regard.keras")
try:
    import keras
    from keras import ops
except ImportError as cause:
    runs_on = os.environ.get("KERAS_BACKEND") or "what ~/.keras/keras.json names, or tensorflow"
    msg = (
        f"Keras is installed, but not what it should run on: {runs_on} ({cause}); install that, "
        "or set KERAS_BACKEND=torch in the environment: torch comes with regard"
    )
    raise MissingError(msg) from cause

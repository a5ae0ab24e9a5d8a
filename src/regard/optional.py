"""Packages only some users need: imported when first used, missed with a remedy."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from regard.errors import MissingError

__all__ = ["has", "need"]


def need(module: str, *, extra: str, why: str) -> Any:  # noqa: ANN401 - any module at all
    """Import ``module``, or say what it is needed for and how to get it.

    >>> need("math", extra="view", why="a heatmap").sqrt(4.0)
    2.0
    """
    try:
        return import_module(module)
    except ImportError as cause:
        package = module.partition(".")[0]
        msg = f"{why} needs {package}, which is not installed; pip install 'regard[{extra}]'"
        raise MissingError(msg) from cause


def has(module: str) -> bool:
    """Whether ``module`` could be imported, found without importing it."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # a blocked or half-removed package
        return False

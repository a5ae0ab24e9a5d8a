"""Every error regard raises on purpose.

::

    RegardError
    ├── ShapeError (ValueError)    axes, dtypes or devices do not fit together
    ├── ValueRangeError (ValueError)  a number outside what is allowed
    ├── KindError (TypeError)      an argument of the wrong type
    ├── ImplError (RuntimeError)   a named implementation cannot run this call
    ├── StateError (RuntimeError)  something has to be done first
    ├── FileError (ValueError)     a file is not what it should be
    └── MissingError (ImportError) an optional package is not installed

Each is also the builtin its reader would expect, so ``except ValueError`` works without regard.
"""

from __future__ import annotations

__all__ = [
    "FileError",
    "ImplError",
    "KindError",
    "MissingError",
    "RegardError",
    "ShapeError",
    "StateError",
    "ValueRangeError",
]


class RegardError(Exception):
    """The base of every error raised on purpose."""


class ShapeError(RegardError, ValueError):
    """Axes, dtypes or devices do not fit together."""


class ValueRangeError(RegardError, ValueError):
    """A number outside what is allowed."""


class KindError(RegardError, TypeError):
    """An argument of the wrong type."""


class ImplError(RegardError, RuntimeError):
    """A named implementation cannot run this call."""


class StateError(RegardError, RuntimeError):
    """Something has to be done first."""


class FileError(RegardError, ValueError):
    """A file is not what it should be."""


class MissingError(RegardError, ImportError):
    """An optional package is not installed."""

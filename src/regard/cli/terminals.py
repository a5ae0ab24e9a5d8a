"""What a terminal can show."""

from __future__ import annotations

import os
from typing import TextIO

__all__ = ["has_colors", "has_shades"]

SHADES = " ░▒▓█▁…中"


def has_colors(stream: TextIO) -> bool:
    """Whether it shows 24-bit colours, and is wanted to."""
    told = os.environ.get("COLORTERM", "") in {"truecolor", "24bit"}
    return told and stream.isatty() and "NO_COLOR" not in os.environ


def has_shades(stream: TextIO) -> bool:
    """Whether it shows more than ASCII."""
    try:
        SHADES.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True

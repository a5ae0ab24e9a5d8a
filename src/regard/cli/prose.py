"""Sentences on the terminal, in lines one likes to read."""

from __future__ import annotations

import shutil
import sys
import textwrap

__all__ = ["say"]


def say(text: str) -> None:
    """Print a paragraph, as wide as the terminal but no wider than 100 columns."""
    columns = min(shutil.get_terminal_size().columns, 100)  # longer lines are hard to read
    sys.stdout.write(textwrap.fill(text, columns, break_on_hyphens=False) + "\n")

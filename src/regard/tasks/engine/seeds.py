"""Seeds made of other numbers, so that nothing drawn depends on what was drawn before."""

from __future__ import annotations

import hashlib

__all__ = ["drawn_from"]


def drawn_from(*parts: int) -> int:
    """A seed from several numbers, such as the seed of a training and the step.

    >>> drawn_from(1, 2) == drawn_from(1, 2), drawn_from(1, 2) == drawn_from(2, 1)
    (True, False)
    """
    digest = hashlib.sha256(",".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1  # torch's seeds are signed

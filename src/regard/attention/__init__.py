"""Values averaged by score under a mask."""

from regard.attention.api import attend, explain

__all__ = ["attend", "explain"]
